import { AsyncLocalStorage } from '@temporalio/workflow';
import type { CompiledGraph } from '../graph/compiled-graph';
import { provideNodeRunStorage, type NodeRun } from '../graph/node-run';
import type { NodeMap } from '../graph/state-graph';
import type { Channels, Fields, UpdateOf } from '../graph/state-schema';
import { openDoors } from './doors';
import type { Carry } from './carry';
import { GraphRun } from './graph-run';
import { GRAPH_OF_WORKFLOW } from './graph-of-workflow';
import { checkWorkflowOptions, type GraphWorkflowOptions } from './workflow-options';

/**
 * Turns a compiled graph into the workflow that runs it. Export it under the graph's own name.
 *
 * The workflow takes the input and, from a thread's second run on, what the earlier run left; it returns the plain
 * values. Each node runs as an activity and its result is the checkpoint; at a question the run waits, and carries on
 * with a signal `approve`, `deny`, `edit`, `respond` or `resume`, or an update `decide` or `resume`. It survives restarts
 * of workers and server at any point.
 *
 * A run whose history grows long goes on as the thread's next run (continue-as-new), while it runs as well as while it
 * waits, and nothing is lost: state, questions, decisions, ids. What it takes over must fit 1.8 MB, or external storage
 * be configured; else it goes on up to 40 MB or 45,000 events and then fails with `HISTORY_TOO_LARGE`.
 *
 * @throws {GraphDefinitionError} `INVALID_OPTION`.
 *
 * Fails with `GRAPH_NAME_MISMATCH` when the export has another name, and with the codes of `GraphRunError` and
 * `StateError` when the graph does.
 *
 * @example
 * // workflows.ts, which the worker bundles
 * import * as graphs from './graph';
 * export const order = graphWorkflow(graphs.order);
 */
export function graphWorkflow<Name extends string, F extends Fields, N extends NodeMap>(
  graph: CompiledGraph<Name, F, N>,
  options: GraphWorkflowOptions = {},
): (input?: UpdateOf<F>, carry?: Carry) => Promise<Channels> {
  checkWorkflowOptions(graph.name, options);
  const workflow = (input?: UpdateOf<F>, carry?: Carry): Promise<Channels> => {
    provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());
    const run = new GraphRun(graph, options);
    openDoors(run);
    return run.execute(input, carry ?? undefined);
  };
  return Object.assign(workflow, { [GRAPH_OF_WORKFLOW]: graph.name });
}
