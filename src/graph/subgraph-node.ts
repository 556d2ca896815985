import type { OnlyKnown } from './checked-return';
import type { CompiledGraph } from './compiled-graph';
import type { GraphNode, NodeOptions } from './node-definition';
import type { NodeMap } from './state-graph';
import type { Fields, StateOf, UpdateOf } from './state-schema';

/** How a graph runs as a node of another. */
export interface SubgraphOptions<F extends Fields, S, I, U> extends Omit<NodeOptions, 'activity' | 'cache' | 'input'> {
  /**
   * Where it runs on a server: `inline` within the run around it, the default; `child` as a workflow of its own, with
   * its own history and thread, `<thread id>/<task id>`. In memory it is inline either way.
   */
  readonly run?: 'inline' | 'child';
  /** What the subgraph starts on, of the state around it. Default: the keys that both states have. Pure and synchronous. */
  readonly input?: (state: S) => I & UpdateOf<F> & OnlyKnown<F, I>;
  /** What its end means to the state around it. Default: its writes to the keys that both states have. Pure and synchronous. */
  readonly output?: (state: StateOf<F>) => U;
}

/**
 * Makes a compiled graph a node of another graph.
 *
 * Its nodes run, ask and are recorded one by one, so a pause deep inside reruns nothing but the node that asked. Its
 * questions and tasks carry the path of nodes, `review/ask`. Updates of keys that both graphs fold arrive outside as they
 * were written inside, none twice. A compiled graph given to `addNode` as it is does the same with the defaults.
 *
 * With `run: 'child'` it is on a server a child workflow on the same task queue; ids, paths and results stay the same.
 * Questions are answered on either thread, and the first answer counts. Cancelling the run around cancels it; its failure
 * is the node's. It survives its own continue-as-new, but the run around cannot roll over before it has ended. A retry of
 * the run around starts it anew.
 *
 * @example .addNode('review', subgraph(review, { input: (state) => ({ text: state.draft }), output: ({ verdict }) => ({ verdict }) }))
 */
export function subgraph<Name extends string, F extends Fields, N extends NodeMap, S = any, I = object, U = any>(
  graph: CompiledGraph<Name, F, N>,
  options: SubgraphOptions<F, S, I, U> = {},
): { kind: 'graph'; fn?: (state: S) => U; Returns?: U } {
  const node: GraphNode = { ...options, kind: 'graph', graph };
  return node;
}
