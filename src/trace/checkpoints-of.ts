import { Checkpoints } from '../graph/checkpoints';
import type { AnyGraph } from '../graph/compiled-graph';
import { ThreadError } from '../graph/errors';
import { foldRun } from './fold-run';
import type { HistoryInput } from './history-event';
import { runEventsOf } from './run-events';

/**
 * The checkpoints of a thread, from the histories of its runs, in any order. Those of another graph have none.
 *
 * @throws {ThreadError} `HISTORY_UNREADABLE` where a history does not fit the graph: what comes after would be missing.
 */
export function checkpointsOf(graph: AnyGraph, histories: readonly HistoryInput[]): Checkpoints {
  const checkpoints = new Checkpoints();
  const runs = histories.map(runEventsOf).filter((run) => run !== undefined);
  for (const run of [...runs].sort((a, b) => a.first.at.ms - b.first.at.ms)) {
    if (run.graph !== graph.name) continue;
    const { broken } = foldRun(graph, run, checkpoints);
    if (broken !== undefined) throw unreadable(run.workflowId ?? '', broken);
  }
  return checkpoints;
}

function unreadable(threadId: string, why: string): ThreadError {
  const message = `The history of thread "${threadId}" cannot be followed with this graph: ${why}. Use the graph as it was when the run went.`;
  return new ThreadError('HISTORY_UNREADABLE', message, threadId);
}
