import { z } from 'zod';
import { END, inWorkflow, ReducedValue, START, StateGraph, StateSchema } from 'abeyance';

const FailingState = new StateSchema({
  how: z.string().default('not at all'),
  value: z.any(),
  count: z.number().default(0),
  log: new ReducedValue(z.array(z.string()).default([]), {
    inputSchema: z.string(),
    reducer: (lines, line) => {
      if (line === 'bad') throw new TypeError('this line cannot be added');
      return [...lines, line];
    },
  }),
});

const QUICKLY = { retry: { initialInterval: 1, backoffCoefficient: 1 } } as const;

/** Fails in the way its input asks for: in the activity `act`, in the router behind it, or in workflow code, in `think`. */
export const failing = new StateGraph(FailingState)
  .addNode('act')
  .addNode(
    'think',
    inWorkflow(({ how }: { readonly how: string }) => {
      if (how === 'think throws') throw new TypeError('thinking is hard');
      if (how === 'think throws a string') throw 'thinking is hard';
      if (how === 'think writes a Date') return { value: new Date(0) };
      return {};
    }),
  )
  .addEdge(START, 'act')
  .addConditionalEdges('act', ({ how }) => {
    if (how === 'router throws') throw new TypeError('left or right?');
    if (how === 'router is lost') return 'nowhere' as never;
    if (how === 'router is silent') return undefined as never;
    return how === 'endless' ? 'act' : 'think';
  })
  .addEdge('think', END)
  .compile({ name: 'failing', activity: QUICKLY });

/** Two nodes that write one value in one superstep. */
export const two_writers = new StateGraph(new StateSchema({ value: z.number().default(0) }))
  .addNode('a')
  .addNode('b')
  .addEdge(START, 'a')
  .addEdge(START, 'b')
  .compile({ name: 'two_writers', activity: QUICKLY });

/** A graph that fails on some inputs before any node has run. */
export const picky = new StateGraph(FailingState)
  .addNode('ask')
  .addConditionalEdges(START, ({ how }) => {
    if (how === 'start router throws') throw new TypeError('where to begin?');
    return 'ask';
  })
  .addEdge('ask', END)
  .compile({ name: 'picky', activity: QUICKLY });
