import { z } from 'zod';
import { END, inWorkflow, ReducedValue, Send, START, StateGraph, StateSchema } from 'abeyance';

const lines = new ReducedValue(z.array(z.string()).default([]), {
  inputSchema: z.string(),
  reducer: (all: string[], line: string) => [...all, line],
});
const retry = { initialInterval: 1 };
// The SDK keeps the timer of a failed attempt, and complains of it should its worker stop before that fires.
const startToCloseTimeout = '500 ms';

/** Short steps only: not one of them is an activity of its own. */
export const local_chain = new StateGraph(new StateSchema({ lines, count: z.number().default(0) }))
  .addNode('one', { run: 'local' })
  .addNode('two', { run: 'local', reads: ['count'] })
  .addNode(
    'here',
    inWorkflow(() => ({ lines: 'here' })),
  )
  .addNode('three', { run: 'local' })
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', 'here')
  .addEdge('here', 'three')
  .addEdge('three', END)
  .compile({ name: 'local_chain' });

/** Prepares a thing once, asks, and tells; then an activity sends it. */
export const local_ask = new StateGraph(new StateSchema({ lines, topic: z.string().default('rain') }))
  .addNode('ask', { run: 'local' })
  .addNode('send')
  .addNode('file', { run: 'local' })
  .addEdge(START, 'ask')
  .addEdge('ask', 'send')
  .addEdge('send', 'file')
  .addEdge('file', END)
  .compile({ name: 'local_ask' });

const How = new StateSchema({ lines, how: z.string() });

/** Fails as it is told to. */
export const local_flaky = new StateGraph(How)
  .addNode('act', { run: 'local', activity: { startToCloseTimeout, retry } })
  .addNode('after', { run: 'local' })
  .addEdge(START, 'act')
  .addEdge('act', 'after')
  .addEdge('after', END)
  .compile({ name: 'local_flaky' });

/** Fails, and goes on all the same. */
export const local_mended = new StateGraph(How)
  .addNode('act', {
    run: 'local',
    activity: { startToCloseTimeout, retry: { maximumAttempts: 2, ...retry } },
    onError: ({ code, message }) => ({ lines: `${code}: ${message}` }),
  })
  .addNode('after', { run: 'local' })
  .addEdge(START, 'act')
  .addEdge('act', 'after')
  .addEdge('after', END)
  .compile({ name: 'local_mended' });

/** Tries again only after a while that the server has to wait for. */
export const local_patient = new StateGraph(How)
  .addNode('act', { run: 'local', activity: { startToCloseTimeout, retry: { initialInterval: '61 seconds' } } })
  .addEdge(START, 'act')
  .addEdge('act', END)
  .compile({ name: 'local_patient' });

/** Hangs in its first attempt until its worker is gone. */
export const local_hang = new StateGraph(new StateSchema({ lines }))
  .addNode('before', { run: 'local' })
  .addNode('hang', { run: 'local', activity: { startToCloseTimeout: '1 minute' } })
  .addEdge(START, 'before')
  .addEdge('before', 'hang')
  .addEdge('hang', END)
  .compile({ name: 'local_hang' });

/** The same, and nothing before. */
export const local_slow = new StateGraph(new StateSchema({ lines }))
  .addNode('hang', { run: 'local', activity: { startToCloseTimeout: '1 minute' } })
  .addEdge(START, 'hang')
  .addEdge('hang', END)
  .compile({ name: 'local_slow' });

/** More at once than one workflow task can carry. */
export const local_crowd = new StateGraph(new StateSchema({ lines, tasks: z.number() }))
  .addNode('carry', { run: 'local' })
  .addNode('count', { run: 'local', reads: [] })
  .addConditionalEdges(
    START,
    ({ tasks }) => Array.from({ length: tasks }, (_, n) => new Send('carry', { n, text: 'x'.repeat(70_000) })),
    ['carry'],
  )
  .addEdge('carry', 'count')
  .addEdge('count', END)
  .compile({ name: 'local_crowd' });

/** The same beside an activity that takes its time. */
export const local_beside = new StateGraph(new StateSchema({ lines, tasks: z.number() }))
  .addNode('carry', { run: 'local' })
  .addNode('wait')
  .addConditionalEdges(
    START,
    ({ tasks }) => [
      'wait',
      ...Array.from({ length: tasks }, (_, n) => new Send('carry', { n, text: 'x'.repeat(70_000) })),
    ],
    ['carry', 'wait'],
  )
  .compile({ name: 'local_beside' });

/** Local or not by what it reads. */
export const local_heavy = new StateGraph(new StateSchema({ text: z.string(), lines }))
  .addNode('act', { run: 'local' })
  .addEdge(START, 'act')
  .addEdge('act', END)
  .compile({ name: 'local_heavy' });

const Pair = new StateSchema({ lines });
const pairOf = (name: string) =>
  new StateGraph(Pair)
    .addNode('first', { run: 'local' })
    .addNode('second', { run: 'local' })
    .addNode('third')
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', 'third')
    .addEdge('third', END)
    .compile({ name });

export const local_left = pairOf('local_left');
export const local_right = pairOf('local_right');

/** Two subgraphs abreast, whose local nodes ask and end in any order. */
export const local_abreast = new StateGraph(Pair)
  .addNode('left', local_left)
  .addNode('right', local_right)
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .compile({ name: 'local_abreast' });
