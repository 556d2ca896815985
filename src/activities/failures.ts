import { ApplicationFailure, CancelledFailure, type Context } from '@temporalio/activity';
import { AbeyanceError, StateError, messageOf } from '../graph/errors';
import type { Exchange } from '../graph/exchange';
import { ModelError } from './model-error';

/** What Temporal calls an activity that no worker has; the workflow reads a failure of this type so, and never retries. */
const MISSING_ACTIVITY = 'NotFoundError';

/**
 * Maps whatever a node threw to what Temporal records and retries.
 *
 * Errors of ours are never retried, for the same state would fail the same way; they carry a mark by which the workflow
 * knows them. A model's say themselves whether and when they are. Anything else follows the node's retry policy.
 */
export function toActivityFailure(
  thrown: unknown,
  node: string,
  context: Context,
  exchanges: readonly Exchange[] = [],
): unknown {
  if (context.cancellationSignal.aborted) return new CancelledFailure(`"${node}" was cancelled`);
  if (thrown instanceof ModelError) return modelFailure(thrown, node, context, exchanges);
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

function modelFailure(
  { code, message, retryable, retryAfterMs, status }: ModelError,
  node: string,
  { info: { attempt, retryPolicy } }: Context,
  exchanges: readonly Exchange[],
): ApplicationFailure {
  const isLast = !retryable || attempt === retryPolicy?.maximumAttempts;
  const details = [{ abeyance: true, node, ...(status !== undefined && { status }) }, { exchanges }];
  return ApplicationFailure.create({
    type: code,
    message,
    nonRetryable: !retryable,
    ...(retryable && retryAfterMs !== undefined && { nextRetryDelay: retryAfterMs }),
    // An attempt that is retried hands its exchanges on by heartbeat; a failure of a few kB would lose its details.
    details: isLast && exchanges.length > 0 ? details : details.slice(0, 1),
  });
}

function typeOf(error: Error): string | null | undefined {
  return error instanceof ApplicationFailure ? error.type : error.name;
}

function renamed(error: Error): ApplicationFailure {
  const nonRetryable = error instanceof ApplicationFailure && error.nonRetryable === true;
  return ApplicationFailure.create({ type: 'NodeError', message: error.message, nonRetryable, cause: error });
}
