import type { Client } from '@temporalio/client';
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { recordHistory, replayHistories } from 'abeyance/testing';

/** What became of each replay of one history: `replayed`, or the error's message. */
export interface Replays {
  /** As the client fetched it. */
  readonly fetched: string;
  /** Through the JSON that the SDK writes and reads. */
  readonly sdkJson: string;
  /** Through the JSON that `abeyance/testing` writes and reads. */
  readonly recordedJson: string;
}

/** Replays a thread's history as it was fetched, and through JSON. */
export async function replayInEveryForm(client: Client, workflowId: string, workflowsPath: string): Promise<Replays> {
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  const options: ReplayWorkerOptions = { workflowBundle };
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  return {
    fetched: await outcomeOf(() => Worker.runReplayHistory(options, history, workflowId)),
    sdkJson: await outcomeOf(() => {
      const parsed = JSON.parse(historyToJSON(history)) as History;
      return Worker.runReplayHistory(options, parsed, workflowId);
    }),
    recordedJson: await outcomeOf(async () => {
      const recorded = await recordHistory(client, workflowId);
      const [result] = await replayHistories([recorded], options);
      if (result?.error) throw result.error;
    }),
  };
}

async function outcomeOf(replay: () => Promise<void>): Promise<string> {
  try {
    await replay();
    return 'replayed';
  } catch (error) {
    return String(error);
  }
}
