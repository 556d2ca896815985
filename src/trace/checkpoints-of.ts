import { Checkpoints } from '../graph/checkpoints';
import type { AnyGraph } from '../graph/compiled-graph';
import { foldRun } from './fold-run';
import type { HistoryInput } from './history-event';
import { runEventsOf } from './run-events';

/** The checkpoints of a thread, from the histories of its runs, in any order. Those of another graph have none. */
export function checkpointsOf(graph: AnyGraph, histories: readonly HistoryInput[]): Checkpoints {
  const checkpoints = new Checkpoints();
  const runs = histories.map(runEventsOf).filter((run) => run !== undefined);
  for (const run of [...runs].sort((a, b) => a.first.at.ms - b.first.at.ms)) {
    if (run.graph === graph.name) foldRun(graph, run, checkpoints);
  }
  return checkpoints;
}
