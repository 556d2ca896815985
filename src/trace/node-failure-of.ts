import { nodePathOf } from '../graph/task';
import type { NodeFailure } from '../graph/node-definition';
import { jsonOf } from './payload';
import { failureOf, nearestCause } from './read-failure';
import { objectOf } from './untrusted';

/** How the run that recorded an activity's failure told it to the node's `onError`. */
export function nodeFailureOf(task: string, failure: unknown): NodeFailure {
  const node = nodePathOf(task).split('/').at(-1) ?? task;
  const cause = nearestCause(failureOf(failure));
  const { code, message = 'it failed', details = [] } = cause ?? {};
  if (code === 'NotFoundError') return { node, code: 'NODE_NOT_REGISTERED', message };
  if (code !== undefined && 'abeyance' in objectOf(jsonOf(details[0]))) return { node, code, message };
  return { node, code: 'NODE_FAILED', message: `Node "${node}" failed: ${message}` };
}
