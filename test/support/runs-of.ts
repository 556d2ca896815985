import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** One run of a thread. */
export interface RunOfThread {
  readonly runId: string;
  readonly events: readonly HistoryEvent[];
}

/** The runs of a thread that rolled over one into the other, oldest first. */
export async function runsOf(client: Client, threadId: string): Promise<readonly RunOfThread[]> {
  const runs: RunOfThread[] = [];
  let next: string | undefined | null = (await client.workflow.getHandle(threadId).describe()).runId;
  while (next) {
    const { events } = await client.workflow.getHandle(threadId, next).fetchHistory();
    runs.unshift({ runId: next, events: events ?? [] });
    next = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  }
  return runs;
}
