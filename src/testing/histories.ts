import type { Client } from '@temporalio/client';
import type { ReplayWorkerOptions } from '@temporalio/worker';
import { historyFromJson, historyToJson } from './history-json';

/** A run's history as JSON text: what the Temporal UI and CLI export too. */
export interface RecordedHistory {
  readonly workflowId: string;
  readonly runId?: string;
  readonly json: string;
}

/**
 * Records the history of a thread's newest run, to be kept beside the tests and replayed by `replayHistories`.
 *
 * A run that has rolled over is one of several: `recordThread` records them all.
 *
 * @example writeFileSync('histories/order.json', (await recordHistory(client, 'order-42')).json);
 */
export async function recordHistory(client: Client, workflowId: string): Promise<RecordedHistory> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  return { workflowId, json: historyToJson(history) };
}

/** What was recorded of a thread. */
export interface RecordedThread {
  /** One for each run, oldest first. */
  readonly histories: readonly RecordedHistory[];
  /** Ids of earlier runs that the server no longer has: their retention is over. */
  readonly missing: readonly string[];
}

/**
 * Records the histories of all runs that a thread's newest one goes on from: those that rolled over one into the other.
 *
 * @example
 * const { histories } = await recordThread(client, 'order-42');
 * for (const { runId, json } of histories) writeFileSync(`histories/order-42.${runId}.json`, json);
 */
export async function recordThread(client: Client, workflowId: string): Promise<RecordedThread> {
  const histories: RecordedHistory[] = [];
  let runId: string | null | undefined = (await client.workflow.getHandle(workflowId).describe()).runId;
  try {
    while (runId) {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      histories.unshift({ workflowId, runId, json: historyToJson(history) });
      runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    }
  } catch (error) {
    const isGone = error instanceof Error && error.name === 'WorkflowNotFoundError';
    if (!isGone || histories.length === 0) throw error;
  }
  return { histories, missing: runId ? [runId] : [] };
}

/** How one history replayed. */
export interface ReplayResult {
  readonly workflowId: string;
  /** Why it does not replay; undefined where it does. */
  readonly error?: Error;
}

/**
 * Replays recorded histories against today's workflows, without a server.
 *
 * A history that no longer fits means: a run that waits now would break when this code is deployed. Results come in the
 * order of the histories.
 *
 * @example
 * const results = await replayHistories([{ workflowId: 'order-42', json }], { workflowsPath: require.resolve('./workflows') });
 * expect(results.filter(({ error }) => error)).toEqual([]);
 */
export async function replayHistories(
  histories: readonly RecordedHistory[],
  options: ReplayWorkerOptions,
): Promise<readonly ReplayResult[]> {
  // Loaded when it is needed: the SDK's native part is heavy, and runs in memory do without.
  const { Worker } = await import('@temporalio/worker');
  const parsed = histories.map(({ workflowId, json }) => {
    const history = historyFromJson(json);
    // Whatever name it goes by here, its child workflows were named after its own id.
    const own = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
    return { workflowId: own || workflowId, history };
  });
  const results: ReplayResult[] = [];
  for await (const { error } of Worker.runReplayHistories(options, parsed)) {
    const { workflowId } = histories[results.length] as RecordedHistory;
    results.push({ workflowId, ...(error && { error }) });
  }
  return results;
}
