import { z } from 'zod';
import { ReducedValue, START, StateGraph, StateSchema, type NodeFailure } from 'abeyance';

const Log = new ReducedValue(z.array(z.string()).default([]), {
  inputSchema: z.string(),
  reducer: (lines, line) => [...lines, line],
});
const onError = ({ node, code, message }: NodeFailure): object => ({ log: `${node}: ${code}: ${message}` });

/** Three nodes that fail as only a server lets them, each handled: one fails again and again, one hangs, one has no worker. */
export const handled = new StateGraph(new StateSchema({ log: Log }))
  .addNode('fails', { onError, activity: { retry: { maximumAttempts: 3, initialInterval: 1, backoffCoefficient: 1 } } })
  .addNode('hangs', {
    onError,
    activity: { startToCloseTimeout: 300, retry: { maximumAttempts: 2, initialInterval: 1 } },
  })
  .addNode('unserved', { onError, activity: { taskQueue: 'nobody-serves-this', scheduleToStartTimeout: 300 } })
  .addNode('after')
  .addEdge(START, 'fails')
  .addEdge(START, 'hangs')
  .addEdge(START, 'unserved')
  .addEdge(['fails', 'hangs', 'unserved'], 'after')
  .compile({ name: 'handled' });
