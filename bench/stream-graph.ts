import { z } from 'zod';
import { END, implement, nodeContext, ReducedValue, START, StateGraph, StateSchema } from 'abeyance';

const STEPS = 40;
const TICKS = 100;
const BETWEEN_TICKS = 20;

/** Steps that say when they ended, then one that says a hundred times what time it is. */
export const clock = new StateGraph(
  new StateSchema({
    ended: new ReducedValue(z.array(z.number()).default([]), {
      inputSchema: z.number(),
      reducer: (all, one) => [...all, one],
    }),
  }),
)
  .addNode('step', { reads: [] })
  .addNode('tick', { reads: [] })
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ ended }) => (ended.length < STEPS ? 'step' : 'tick'), ['step', 'tick'])
  .addEdge('tick', END)
  .compile({ name: 'clock', recursionLimit: 100 });

export const clockNodes = implement(clock, {
  step: async () => ({ ended: Date.now() }),
  tick: async () => {
    for (let n = 0; n < TICKS; n++) {
      nodeContext().write(Date.now());
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_TICKS));
    }
    return { ended: Date.now() };
  },
});
