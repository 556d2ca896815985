import { isGrpcServiceError, ServiceError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  DecisionRefusedError,
  GraphRunError,
  StateError,
  ThreadError,
  type ErrorCode,
  type OpenQuestion,
} from '../graph/errors';

const THREAD_CODES: readonly string[] = ['THREAD_BUSY', 'THREAD_FINISHED', 'THREAD_OF_OTHER_GRAPH'];

// The server's own failure for an update whose run is over before it could reply.
const ENDED_MEANWHILE = 'AcceptedUpdateCompletedWorkflow';

const FAILED_PRECONDITION = 9;

/** A refused update as the error a caller can act on; anything else as it is. */
export function fromUpdateError(error: unknown, threadId: string): unknown {
  if (!(error instanceof WorkflowUpdateFailedError)) return error;
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) return error;
  if (cause.type === ENDED_MEANWHILE) return finished(threadId, cause);
  const code = cause.type as ErrorCode;
  if (THREAD_CODES.includes(code)) return new ThreadError(code, cause.message, threadId, { cause });
  const { open, node, key } = (cause.details?.[0] ?? {}) as RefusalDetail;
  if (open) return new DecisionRefusedError(code, cause.message, open, { cause });
  if (node !== undefined && (code.startsWith('STATE_') || code === 'UNKNOWN_NODE'))
    return new StateError(code, cause.message, node, key, { cause });
  return code ? toRunError(cause) : error;
}

interface RefusalDetail {
  readonly open?: readonly OpenQuestion[];
  readonly node?: string;
  readonly key?: string;
}

/** The failure of a run as the error a caller can act on. */
export function toRunError(cause: unknown): GraphRunError {
  if (!(cause instanceof ApplicationFailure)) {
    return new GraphRunError('RUN_FAILED', `The run failed: ${String(cause)}`, undefined, { cause });
  }
  const detail = cause.details?.[0] as { readonly node?: string } | undefined;
  return new GraphRunError((cause.type ?? 'RUN_FAILED') as ErrorCode, cause.message, detail?.node, { cause });
}

/** The error of a thread id that nothing was ever started under, as far as the server remembers. */
export function unknownThread(threadId: string, cause?: unknown): ThreadError {
  const message = `There is no thread "${threadId}" in this namespace, or its retention is over. Check the id and the namespace, or start it.`;
  return new ThreadError('THREAD_UNKNOWN', message, threadId, { cause });
}

/** The error of a thread whose run has ended. */
export function finished(threadId: string, cause?: unknown): ThreadError {
  const message = `The run of thread "${threadId}" has ended; there is nothing to decide. Read it with getState, or start a new run with invoke.`;
  return new ThreadError('THREAD_FINISHED', message, threadId, { cause });
}

/** True where a run was ended from outside, terminated say, while the caller waited for its stop. */
export function endedMeanwhile(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateFailedError &&
    error.cause instanceof ApplicationFailure &&
    error.cause.type === ENDED_MEANWHILE
  );
}

/**
 * True where the server took an update back before it had any effect: the workflow task that saw it is done again.
 *
 * So it happens to updates that meet another message just when the run ends or rolls over.
 */
export function isTakenBack(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  if (!isGrpcServiceError(cause) || Number(cause.code) !== FAILED_PRECONDITION) return false;
  return cause.details.includes('workflow task failure');
}

/** True where the server knows no running workflow of this id: it never was, or it has closed. */
export function isNotRunning(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError;
}
