import { z } from 'zod';
import { END, ReducedValue, START, StateGraph, StateSchema } from 'abeyance';

const Log = new ReducedValue(z.array(z.string()).default([]), {
  inputSchema: z.string(),
  reducer: (lines, line) => [...lines, line],
});

// A killed worker's node is tried again as soon as it is missed, and as often as it takes.
const PATIENT = {
  heartbeatTimeout: 600,
  startToCloseTimeout: '30 seconds',
  retry: { maximumAttempts: 100, initialInterval: 20, backoffCoefficient: 1 },
} as const;

/** Does something, asks with an effect before the question, and does two things more; its workers are killed meanwhile. */
export const ordeal = new StateGraph(new StateSchema({ log: Log }))
  .addNode('pack')
  .addNode('ask')
  .addNode('ship')
  .addEdge(START, 'pack')
  .addEdge('pack', 'ask')
  .addEdge('ask', 'ship')
  .addEdge('ship', END)
  .compile({ name: 'ordeal', activity: PATIENT });
