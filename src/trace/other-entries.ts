import type { Entry } from './decision-entry';
import { eventIdOf, type HistoryEvent } from './history-event';
import type { Child } from './item';
import { durationOf, spanOf } from './moment';
import { firstPayload, payloadsOf } from './payload';
import { failureOf } from './read-failure';
import { defined, objectOf, textOf } from './untrusted';

/** What of a run is neither activity nor message, by the id of the event that began it. */
export interface OtherEntries {
  readonly entries: ReadonlyMap<string, Entry>;
  /** Events that need no item of their own. */
  readonly known: ReadonlySet<string>;
}

const TIMER_ENDS: Readonly<Record<string, 'fired' | 'cancelled'>> = { timerFired: 'fired', timerCanceled: 'cancelled' };

const CHILD_ENDS: Readonly<Record<string, Child['status']>> = {
  startChildWorkflowExecutionFailed: 'failed',
  childWorkflowExecutionCompleted: 'completed',
  childWorkflowExecutionFailed: 'failed',
  childWorkflowExecutionCanceled: 'cancelled',
  childWorkflowExecutionTimedOut: 'timed-out',
  childWorkflowExecutionTerminated: 'terminated',
};

const KNOWN = new Set([
  ...Object.keys(TIMER_ENDS),
  ...Object.keys(CHILD_ENDS),
  'childWorkflowExecutionStarted',
  'signalExternalWorkflowExecutionInitiated',
  'signalExternalWorkflowExecutionFailed',
  'externalWorkflowExecutionSignaled',
  'requestCancelExternalWorkflowExecutionInitiated',
  'requestCancelExternalWorkflowExecutionFailed',
  'externalWorkflowExecutionCancelRequested',
  'workflowExecutionStarted',
  'workflowTaskStarted',
  'workflowTaskTimedOut',
  'workflowTaskFailed',
  'activityTaskStarted',
  'activityTaskCancelRequested',
  'upsertWorkflowSearchAttributes',
  'workflowExecutionUpdateCompleted',
  'workflowExecutionUpdateAdmitted',
  'workflowExecutionUpdateRejected',
  'workflowExecutionOptionsUpdated',
  'markerRecorded',
]);

/** Reads timers, child workflows and requests to cancel. */
export function otherEntriesOf(events: readonly HistoryEvent[]): OtherEntries {
  const entries = new Map<string, Entry>();
  const timerEnds = ending(events, TIMER_ENDS, 'startedEventId');
  const childEnds = ending(events, CHILD_ENDS, 'initiatedEventId');
  const childStarts = ending(events, { childWorkflowExecutionStarted: 'running' }, 'initiatedEventId');
  for (const event of events) {
    if (event.kind === 'timerStarted') entries.set(event.id, timerEntry(event, timerEnds.get(event.id)));
    else if (event.kind === 'startChildWorkflowExecutionInitiated')
      entries.set(event.id, childEntry(event, childStarts.get(event.id), childEnds.get(event.id)));
    else if (event.kind === 'workflowExecutionCancelRequested') entries.set(event.id, cancelEntry(event));
  }
  return { entries, known: KNOWN };
}

function ending(
  events: readonly HistoryEvent[],
  kinds: Readonly<Record<string, unknown>>,
  of: string,
): ReadonlyMap<string, HistoryEvent> {
  return new Map(
    events.filter(({ kind }) => kind in kinds).map((event) => [eventIdOf(event.attributes[of]), event] as const),
  );
}

function timerEntry({ at, attributes, summary }: HistoryEvent, end: HistoryEvent | undefined): Entry {
  const ms = durationOf(attributes.startToFireTimeout);
  const item = {
    kind: 'timer' as const,
    id: textOf(attributes.timerId) ?? '',
    summary,
    askedMs: ms,
    status: end ? (TIMER_ENDS[end.kind] ?? 'fired') : ('running' as const),
  };
  return { build: (clock) => defined({ ...item, span: spanOf(clock, at, end?.at) }) };
}

function childEntry(initiated: HistoryEvent, started: HistoryEvent | undefined, end: HistoryEvent | undefined): Entry {
  const { workflowId, workflowType, input } = initiated.attributes;
  const execution = objectOf((started ?? end)?.attributes.workflowExecution);
  const item = {
    kind: 'child' as const,
    workflowId: textOf(workflowId) ?? '',
    runId: textOf(execution.runId),
    type: textOf(objectOf(workflowType).name) ?? 'unknown',
    status: end ? (CHILD_ENDS[end.kind] ?? 'completed') : started ? ('running' as const) : ('scheduled' as const),
    input: payloadsOf(input),
    result: firstPayload(end?.attributes.result),
    failure: failureOf(end?.attributes.failure),
  };
  return { build: (clock) => defined({ ...item, span: spanOf(clock, initiated.at, end?.at) }) };
}

function cancelEntry({ at, attributes }: HistoryEvent): Entry {
  const { cause, identity } = attributes;
  return {
    build: (clock) =>
      defined({
        kind: 'message' as const,
        via: 'cancel' as const,
        name: textOf(cause) ?? 'cancel requested',
        span: spanOf(clock, at, at),
        args: [],
        identity: textOf(identity),
      }),
  };
}
