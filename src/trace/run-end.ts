import type { EndEvent } from '../graph/stream-event';
import type { HistoryEvent } from './history-event';
import { jsonOf } from './payload';
import { failureOf, nearestCause } from './read-failure';
import { objectOf, textOf } from './untrusted';

/** How an event ended its run, if it did: for good, or by handing over to the thread's next run. */
export type RunEnd =
  | { readonly kind: 'ended'; readonly told: Pick<EndEvent, 'status' | 'error'> }
  | { readonly kind: 'rolled'; readonly nextRun: string };

/** How an event ended its run; undefined where it did not. */
export function endOfRun({ kind, attributes }: HistoryEvent): RunEnd | undefined {
  switch (kind) {
    case 'workflowExecutionContinuedAsNew':
      return { kind: 'rolled', nextRun: textOf(attributes.newExecutionRunId) ?? '' };
    case 'workflowExecutionCompleted':
      return { kind: 'ended', told: { status: 'done' } };
    case 'workflowExecutionFailed':
      return { kind: 'ended', told: { status: 'failed', error: errorOf(attributes.failure) } };
    case 'workflowExecutionCanceled':
      return because('cancelled', 'RUN_CANCELLED', 'The run was cancelled.');
    case 'workflowExecutionTerminated':
      return because('terminated', 'RUN_TERMINATED', `The run was terminated: ${textOf(attributes.reason) ?? ''}`);
    case 'workflowExecutionTimedOut':
      return because('timed-out', 'RUN_TERMINATED', 'The run timed out.');
    default:
      return undefined;
  }
}

function because(status: EndEvent['status'], code: string, message: string): RunEnd {
  return { kind: 'ended', told: { status, error: { code, message } } };
}

function errorOf(failure: unknown): NonNullable<EndEvent['error']> {
  const { code = 'RUN_FAILED', message = 'The run failed.', details = [] } = nearestCause(failureOf(failure)) ?? {};
  const node = textOf(objectOf(jsonOf(details[0])).node);
  return { code, message, ...(node !== undefined && { node }) };
}
