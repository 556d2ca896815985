import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type EventAttributes = Extract<keyof HistoryEvent, `${string}EventAttributes`>;

/** The events of a thread's newest run that carry these attributes, for instance `activityTaskScheduledEventAttributes`. */
export async function eventsOf(client: Client, threadId: string, kind: EventAttributes): Promise<HistoryEvent[]> {
  const { events } = await client.workflow.getHandle(threadId).fetchHistory();
  return (events ?? []).filter((event) => event[kind]);
}

/** How often the run's workflow tasks failed: more than never means a task that is retried for ever. */
export async function workflowTaskFailures(client: Client, threadId: string): Promise<number> {
  return (await eventsOf(client, threadId, 'workflowTaskFailedEventAttributes')).length;
}
