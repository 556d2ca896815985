import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { lookUp } from './read-thread';

/** A run's history as the server gives it. */
type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/**
 * Fetches the histories of a thread's runs, as far as the server keeps them: all of them, or that of one.
 *
 * @throws {ThreadError} `THREAD_UNKNOWN`.
 */
export async function readHistories(client: Client, threadId: string, runId?: string): Promise<readonly History[]> {
  const newest = await lookUp(client, threadId, runId);
  if (runId !== undefined) return [await client.workflow.getHandle(threadId, newest.runId).fetchHistory()];
  // The server's list lags, so the runs that rolled over are also found by what each says of the one before.
  const open = [newest.runId];
  for await (const run of client.workflow.list({ query: `WorkflowId = ${quoted(threadId)}` })) open.push(run.runId);
  const histories = new Map<string, History | undefined>();
  for (let run = open.shift(); run !== undefined; run = open.shift()) {
    if (histories.has(run)) continue;
    const history = await fetchIfKept(client, threadId, run);
    histories.set(run, history);
    const before = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (before) open.push(before);
  }
  return [...histories.values()].filter((history) => history !== undefined);
}

async function fetchIfKept(client: Client, threadId: string, runId: string): Promise<History | undefined> {
  try {
    return await client.workflow.getHandle(threadId, runId).fetchHistory();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
