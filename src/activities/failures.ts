import { ApplicationFailure, CancelledFailure, type Context } from '@temporalio/activity';
import { AbeyanceError, StateError, messageOf } from '../graph/errors';

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
  if (thrown instanceof Error) return thrown;
  return ApplicationFailure.create({ type: 'NonError', message: messageOf(thrown) });
}
