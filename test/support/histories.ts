import type { Client } from '@temporalio/client';
import * as proto from '@temporalio/proto';
import type { temporal } from '@temporalio/proto';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type EventAttributes = Extract<keyof HistoryEvent, `${string}EventAttributes`>;

/** The events of a thread's newest run that carry these attributes, for instance `activityTaskScheduledEventAttributes`. */
export async function eventsOf(client: Client, threadId: string, kind: EventAttributes): Promise<HistoryEvent[]> {
  const { events } = await client.workflow.getHandle(threadId).fetchHistory();
  return (events ?? []).filter((event) => event[kind]);
}

// The server's own housekeeping: events came in while the task was under way, and it is simply done again.
const HOUSEKEEPING: readonly unknown[] = [
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
];

/** How often the run's workflow tasks failed: more than never means a task that is retried for ever. */
export async function workflowTaskFailures(client: Client, threadId: string): Promise<number> {
  const failed = await eventsOf(client, threadId, 'workflowTaskFailedEventAttributes');
  return failed.filter((event) => !HOUSEKEEPING.includes(event.workflowTaskFailedEventAttributes?.cause)).length;
}
