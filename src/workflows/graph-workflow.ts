import { AsyncLocalStorage } from '@temporalio/workflow';
import type { CompiledGraph } from '../graph/compiled-graph';
import { provideNodeRunStorage, type NodeRun } from '../graph/node-run';
import type { NodeMap } from '../graph/state-graph';
import type { Channels, Fields, UpdateOf } from '../graph/state-schema';
import { openDoors } from './doors';
import { GraphRun, type Carry } from './graph-run';
import { GRAPH_OF_WORKFLOW } from './graph-of-workflow';

/**
 * Turns a compiled graph into the workflow that runs it. Export it under the graph's own name.
 *
 * The workflow takes the input and, from a thread's second run on, what the earlier run left; it returns the plain
 * values. Each node runs as an activity and its result is the checkpoint; at a question the run waits, and carries on
 * with a signal `approve`, `deny`, `edit`, `respond` or `resume`, or an update `decide` or `resume`. It survives restarts
 * of workers and server at any point.
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
): (input?: UpdateOf<F>, carry?: Carry) => Promise<Channels> {
  const workflow = (input?: UpdateOf<F>, carry?: Carry): Promise<Channels> => {
    provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());
    const run = new GraphRun(graph);
    openDoors(run);
    return run.execute(input, carry ?? undefined);
  };
  return Object.assign(workflow, { [GRAPH_OF_WORKFLOW]: graph.name });
}
