import { z } from 'zod';
import { createAgent, END, interrupt, inWorkflow, START, StateGraph, StateSchema, tool } from 'abeyance';

export const sendMail = tool({
  name: 'send_mail',
  description: 'Sends a mail.',
  schema: z.object({ to: z.string() }),
});

export const readFile = tool({
  name: 'read_file',
  description: 'Reads a file.',
  schema: z.object({ path: z.string() }),
});

/** An agent with a tool that needs a person, who may do anything about it, and one that needs none. */
export const clerk = createAgent({
  name: 'clerk',
  model: 'planner',
  tools: [sendMail, readFile],
  interruptOn: { send_mail: { allow: ['approve', 'deny', 'edit', 'respond'] } },
});

/** The same, but nobody is waited for longer than a moment. */
export const hasty_clerk = createAgent({
  name: 'hasty_clerk',
  model: 'planner',
  tools: [sendMail, readFile],
  interruptOn: { send_mail: { deadline: 300 } },
});

const Answer = z.any().default('unanswered');

/** Two questions of one node in turn: the first is waited for a moment, the second for ever. */
export const impatient = new StateGraph(new StateSchema({ first: Answer, second: Answer }))
  .addNode('ask')
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'impatient' });

/** Asks in workflow code and in an activity at the same time, with different deadlines, for an hour and a moment. */
export const two_deadlines = new StateGraph(new StateSchema({ hour: Answer, moment: Answer }))
  .addNode('hour')
  .addNode(
    'moment',
    inWorkflow(() => ({ moment: interrupt('now?', { approval: true, deadline: 300 }) })),
  )
  .addEdge(START, 'hour')
  .addEdge(START, 'moment')
  .compile({ name: 'two_deadlines' });

/** Asks once, and nobody need answer: then it fails. */
export const strict_deadline = new StateGraph(new StateSchema({ answer: Answer }))
  .addNode('ask')
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'strict_deadline' });
