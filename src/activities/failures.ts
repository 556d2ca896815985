import { ApplicationFailure, CancelledFailure, type Context } from '@temporalio/activity';
import { AbeyanceError, StateError, messageOf } from '../graph/errors';

/** What Temporal calls an activity that no worker has; the workflow reads a failure of this type so, and never retries. */
const MISSING_ACTIVITY = 'NotFoundError';

/**
 * Maps whatever a node threw to what Temporal records and retries.
 *
 * Errors of ours are never retried, for the same state would fail the same way; they carry a mark by which the workflow
 * knows them. Anything else follows the node's retry policy.
 */
export function toActivityFailure(thrown: unknown, node: string, { cancellationSignal }: Context): unknown {
  if (cancellationSignal.aborted) return new CancelledFailure(`"${node}" was cancelled`);
  if (thrown instanceof AbeyanceError) {
    const key = thrown instanceof StateError ? thrown.key : undefined;
    return ApplicationFailure.create({
      type: thrown.code,
      message: thrown.message,
      nonRetryable: true,
      details: [{ abeyance: true, node, ...(key !== undefined && { key }) }],
    });
  }
  if (thrown instanceof Error) return typeOf(thrown) === MISSING_ACTIVITY ? renamed(thrown) : thrown;
  return ApplicationFailure.create({ type: 'NonError', message: messageOf(thrown) });
}

function typeOf(error: Error): string | null | undefined {
  return error instanceof ApplicationFailure ? error.type : error.name;
}

function renamed(error: Error): ApplicationFailure {
  const nonRetryable = error instanceof ApplicationFailure && error.nonRetryable === true;
  return ApplicationFailure.create({ type: 'NodeError', message: error.message, nonRetryable, cause: error });
}
