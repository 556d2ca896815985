import { z } from 'zod';
import { END, inWorkflow, interrupt, MessagesValue, ReducedValue, START, StateGraph, StateSchema } from 'abeyance';

const Answer = z.any().default('unanswered');

/** One node that asks one plain question. */
export const ask = new StateGraph(new StateSchema({ answer: Answer }))
  .addNode('ask')
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'ask' });

/** One that asks, in workflow code, and does not wait long. */
export const ask_briefly = new StateGraph(new StateSchema({ answer: Answer }))
  .addNode(
    'ask',
    inWorkflow(() => ({ answer: interrupt('now?', { deadline: 300, otherwise: false }) })),
  )
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'ask_briefly' });

/** One node that asks two questions, one after the other. */
export const ask_twice = new StateGraph(new StateSchema({ first: Answer, second: Answer }))
  .addNode('ask')
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'ask_twice' });

/** A node that takes its time, and one that asks for an approval, in workflow code. */
export const gate = new StateGraph(new StateSchema({ decision: Answer }))
  .addNode('prepare')
  .addNode(
    'gate',
    inWorkflow(() => ({ decision: interrupt({ question: 'go ahead?' }, { approval: true }) })),
  )
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'gate')
  .addEdge('gate', END)
  .compile({ name: 'gate' });

/** Two nodes that ask at the same time. */
export const two_gates = new StateGraph(new StateSchema({ left: Answer, right: Answer }))
  .addNode('left')
  .addNode('right')
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .compile({ name: 'two_gates' });

/** An approval beside a node that takes its time, and a node after both. */
export const slow_sibling = new StateGraph(new StateSchema({ decision: Answer, slow: Answer, after: Answer }))
  .addNode(
    'gate',
    inWorkflow(() => ({ decision: interrupt({ question: 'go ahead?' }, { approval: true }) })),
  )
  .addNode('slow')
  .addNode(
    'after',
    inWorkflow(() => ({ after: 'ran' })),
  )
  .addEdge(START, 'gate')
  .addEdge(START, 'slow')
  .addEdge(['gate', 'slow'], 'after')
  .addEdge('after', END)
  .compile({ name: 'slow_sibling' });

/** Remembers from run to run, and ends by itself. */
export const diary = new StateGraph(
  new StateSchema({
    messages: MessagesValue,
    pages: z.number().default(1),
    lines: new ReducedValue(z.array(z.string()).default([]), {
      inputSchema: z.string(),
      reducer: (lines, line) => [...lines, line],
    }),
  }),
)
  .addNode('write')
  .addEdge(START, 'write')
  .addConditionalEdges('write', ({ lines, pages }) => (lines.length < pages ? 'write' : END))
  .compile({ name: 'diary' });

/** Does two things once each, then hangs in its first attempt until its worker is gone. */
export const errand = new StateGraph(new StateSchema({ done: Answer }))
  .addNode('run', { activity: { heartbeatTimeout: '2s', retry: { initialInterval: 1 } } })
  .addEdge(START, 'run')
  .addEdge('run', END)
  .compile({ name: 'errand' });

/** Leaves a branch behind that calls `interrupt` when the body has long settled. */
export const careless = new StateGraph(new StateSchema({ what: z.string().default('interrupt') }))
  .addNode('leave')
  .addEdge(START, 'leave')
  .addEdge('leave', END)
  .compile({ name: 'careless' });
