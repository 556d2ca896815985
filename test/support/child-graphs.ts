import { z } from 'zod';
import {
  Command,
  END,
  inWorkflow,
  interrupt,
  MessagesValue,
  ReducedValue,
  START,
  StateGraph,
  StateSchema,
  subgraph,
} from 'abeyance';

const lines = () =>
  new ReducedValue(z.array(z.string()).default([]), { inputSchema: z.string(), reducer: (all, one) => [...all, one] });

const Inner = new StateSchema({ log: lines(), verdict: z.string().optional(), secret: z.string().default('') });
const Outer = new StateSchema({ log: lines(), verdict: z.string().optional(), draft: z.string().default('') });

/** Does a step, which may take its time, then asks. */
export const inquiry = new StateGraph(Inner)
  .addNode('step')
  .addNode('ask')
  .addEdge(START, 'step')
  .addEdge('step', 'ask')
  .addEdge('ask', END)
  .compile({ name: 'inquiry' });

/** An inquiry as a child workflow, between two nodes. */
export const case_file = new StateGraph(Outer)
  .addNode(
    'before',
    inWorkflow(() => ({ log: 'before' })),
  )
  .addNode('review', subgraph(inquiry, { run: 'child' }))
  .addNode(
    'after',
    inWorkflow(({ verdict }: { verdict?: string }) => ({ log: `after ${verdict}` })),
  )
  .addEdge(START, 'before')
  .addEdge('before', 'review')
  .addEdge('review', 'after')
  .addEdge('after', END)
  .compile({ name: 'case_file' });

/** A case file as a child workflow: its inquiry is a child of the child. */
export const archive = new StateGraph(Outer)
  .addNode('file', subgraph(case_file, { run: 'child' }))
  .addEdge(START, 'file')
  .addEdge('file', END)
  .compile({ name: 'archive' });

/** Two inquiries at once, each a child workflow, beside a gate in workflow code. */
export const hearing = new StateGraph(Outer)
  .addNode('left', subgraph(inquiry, { run: 'child', output: ({ verdict }) => ({ log: `left ${verdict}` }) }))
  .addNode('right', subgraph(inquiry, { run: 'child', output: ({ verdict }) => ({ log: `right ${verdict}` }) }))
  .addNode(
    'gate',
    inWorkflow(() => ({ log: `gate ${interrupt('open?')}` })),
  )
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .addEdge(START, 'gate')
  .compile({ name: 'hearing' });

/** Asks for an approval in workflow code, for a moment, then for an answer for ever; says each time what came. */
export const counter = new StateGraph(new StateSchema({ log: lines() }))
  .addNode(
    'moment',
    inWorkflow(() => ({ log: interrupt<{ type: string }>('now?', { approval: true, deadline: 300 } as never).type })),
  )
  .addNode(
    'ever',
    inWorkflow(() => ({ log: String(interrupt('at last?')) })),
  )
  .addEdge(START, 'moment')
  .addEdge('moment', 'ever')
  .compile({ name: 'counter' });

/** A counter as a child workflow. */
export const shop = new StateGraph(new StateSchema({ log: lines() }))
  .addNode('counter', subgraph(counter, { run: 'child' }))
  .addEdge(START, 'counter')
  .compile({ name: 'shop' });

const Talk = new StateSchema({ messages: MessagesValue });

const say = (content: string) => inWorkflow(() => ({ messages: [{ role: 'ai' as const, content }] }));

/** Says one thing, then leaves for the graph around it. */
export const speaker = new StateGraph(Talk)
  .addNode('say', say('hello'))
  .addNode(
    'leave',
    inWorkflow(
      () =>
        new Command({
          graph: Command.PARENT,
          update: { messages: [{ role: 'ai' as const, content: 'bye' }] },
          goto: 'close',
        }) as never,
    ),
  )
  .addEdge(START, 'say')
  .addEdge('say', 'leave')
  .compile({ name: 'speaker' });

/** Two speakers one after the other, each a child workflow. */
export const debate = new StateGraph(Talk)
  .addNode('open', say('welcome'))
  .addNode('one', subgraph(speaker, { run: 'child', ends: ['close'] }))
  .addNode('two', subgraph(speaker, { run: 'child', ends: ['close'] }))
  .addNode('close', say('the end'))
  .addEdge(START, 'open')
  .addEdge('open', 'one')
  .addEdge('one', 'two')
  .compile({ name: 'debate' });

/** Fails in its node while told to. */
export const shaky = new StateGraph(Inner)
  .addNode('act', { activity: { retry: { maximumAttempts: 1 } } })
  .addEdge(START, 'act')
  .compile({ name: 'shaky' });

/** A shaky graph as a child workflow, with nobody to handle its failure. */
export const reckless = new StateGraph(Outer)
  .addNode('work', subgraph(shaky, { run: 'child' }))
  .addEdge(START, 'work')
  .compile({ name: 'reckless' });

/** The same, with a handler. */
export const cautious = new StateGraph(Outer)
  .addNode(
    'work',
    subgraph(shaky, { run: 'child', onError: ({ code, node }: any) => ({ log: `${node}: ${code}` }) } as never),
  )
  .addEdge(START, 'work')
  .compile({ name: 'cautious' });

/** Does not know where to go. */
export const lost = new StateGraph(Inner)
  .addNode(
    'look',
    inWorkflow(() => ({ log: 'look' })),
  )
  .addEdge(START, 'look')
  .addConditionalEdges('look', (): typeof END => {
    throw new Error('left or right?');
  })
  .compile({ name: 'lost' });

/** A lost graph as a child workflow, with a handler. */
export const guided = new StateGraph(Outer)
  .addNode('walk', subgraph(lost, { run: 'child', onError: ({ code }: any) => ({ log: code }) } as never))
  .addEdge(START, 'walk')
  .compile({ name: 'guided' });

/** An inquiry beside a node that fails when its latch opens. */
export const doomed = new StateGraph(Outer)
  .addNode('review', subgraph(inquiry, { run: 'child' }))
  .addNode('act', { activity: { retry: { maximumAttempts: 1 } } })
  .addEdge(START, 'review')
  .addEdge(START, 'act')
  .compile({ name: 'doomed' });

/** A doomed graph as a child workflow, whose failure is handled; then an activity, and a gate of its own. */
export const guarded = new StateGraph(Outer)
  .addNode('work', subgraph(doomed, { run: 'child', onError: ({ code }: any) => ({ log: `work: ${code}` }) } as never))
  .addNode('file')
  .addNode(
    'gate',
    inWorkflow(() => ({ log: `gate ${interrupt('and now?')}` })),
  )
  .addEdge(START, 'work')
  .addEdge('work', 'file')
  .addEdge('file', 'gate')
  .compile({ name: 'guarded' });

/** Counts to twelve in an activity each time, asking at seven; rolls over on the way. */
export const climb = new StateGraph(new StateSchema({ log: lines() }))
  .addNode('up')
  .addNode(
    'rest',
    inWorkflow(() => ({ log: `rested: ${interrupt('go on?')}` })),
  )
  .addEdge(START, 'up')
  .addConditionalEdges('up', ({ log }) => (log.length === 7 ? 'rest' : log.length < 12 ? 'up' : END))
  .addEdge('rest', 'up')
  .compile({ name: 'climb' });

/** A climb as a child workflow. */
export const expedition = new StateGraph(new StateSchema({ log: lines() }))
  .addNode('climb', subgraph(climb, { run: 'child' }))
  .addEdge(START, 'climb')
  .compile({ name: 'expedition' });

/** Takes twelve steps, each an activity. */
export const walk = new StateGraph(new StateSchema({ log: lines() }))
  .addNode('step')
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ log }) => (log.length < 12 ? 'step' : END))
  .compile({ name: 'walk' });

/** A walk within the run, beside an inquiry that is a child workflow; is to roll over before the walk is done. */
export const vigil = new StateGraph(Outer)
  .addNode('review', subgraph(inquiry, { run: 'child', output: ({ verdict }) => ({ verdict }) }))
  .addNode('walk', subgraph(walk))
  .addNode(
    'after',
    inWorkflow(() => ({ draft: 'after' })),
  )
  .addEdge(START, 'review')
  .addEdge(START, 'walk')
  .addEdge(['review', 'walk'], 'after')
  .compile({ name: 'vigil' });
