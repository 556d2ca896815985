import { ActivityFailure, ApplicationFailure, isCancellation, TemporalFailure } from '@temporalio/workflow';
import { AbeyanceError, DecisionRefusedError, GraphRunError, StateError, messageOf } from '../graph/errors';
import type { Stop } from '../graph/run-view';

/** The one boundary: whatever was thrown, a failure that ends the run instead of retrying its task for ever. */
export function toRunFailure(thrown: unknown): TemporalFailure {
  if (thrown instanceof AbeyanceError) return toFailure(thrown);
  if (thrown instanceof TemporalFailure) return thrown;
  return ApplicationFailure.create({
    type: 'RUN_FAILED',
    message: `The run failed: ${messageOf(thrown)}`,
    nonRetryable: true,
    cause: thrown instanceof Error ? thrown : undefined,
  });
}

/** A typed error of ours as the failure that carries it to a client: the code is its type. */
export function toFailure(error: AbeyanceError): ApplicationFailure {
  const details = detailsOf(error);
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable: true,
    ...(details && { details: [details] }),
  });
}

function detailsOf(error: AbeyanceError): Record<string, unknown> | undefined {
  if (error instanceof DecisionRefusedError) return { open: error.open };
  if (error instanceof StateError) return { node: error.node, key: error.key };
  if (error instanceof GraphRunError && error.node) return { node: error.node };
  return undefined;
}

/** The failure of a run whose node failed: names the node, keeps the cause, and its code where it has one of ours. */
export function toNodeFailure(node: string, thrown: unknown): TemporalFailure {
  if (isCancellation(thrown)) return thrown as TemporalFailure;
  const cause = thrown instanceof ActivityFailure ? (thrown.cause ?? thrown) : thrown;
  if (cause instanceof AbeyanceError) return toFailure(cause);
  const details = [{ node }];
  const known = cause instanceof ApplicationFailure ? cause : undefined;
  if (known?.type === 'NotFoundError') {
    const message = `No worker on this task queue has node "${node}": ${known.message}. Add it to the plugin's nodes and restart the worker.`;
    return ApplicationFailure.create({ type: 'NODE_NOT_REGISTERED', message, nonRetryable: true, details });
  }
  if (known?.details?.[0] !== undefined && isOurs(known.details[0])) {
    return ApplicationFailure.create({
      type: known.type ?? 'NODE_FAILED',
      message: known.message,
      nonRetryable: true,
      details,
    });
  }
  const message = `Node "${node}" failed: ${messageOf(cause)}`;
  return ApplicationFailure.create({
    type: 'NODE_FAILED',
    message,
    nonRetryable: true,
    details,
    cause: cause instanceof Error ? cause : undefined,
  });
}

/** The mark by which a failure of ours is known once it has crossed an activity's edge. */
function isOurs(detail: unknown): boolean {
  return typeof detail === 'object' && detail !== null && 'abeyance' in detail;
}

/** How a run stopped that this ends. */
export function stopOfFailure(failure: Error): Stop {
  if (isCancellation(failure)) return { kind: 'failed', code: 'RUN_CANCELLED', message: 'The run was cancelled.' };
  const { type, details } = failure as { type?: string | null; details?: readonly unknown[] | null };
  const node = (details?.[0] as { node?: string } | undefined)?.node;
  return {
    kind: 'failed',
    code: type ?? 'RUN_FAILED',
    message: messageOf(failure),
    ...(node !== undefined && { node }),
  };
}
