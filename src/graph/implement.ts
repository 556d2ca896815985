import type { Checked } from './checked-return';
import type { AnyGraph, CompiledGraph } from './compiled-graph';
import { GraphDefinitionError } from './errors';
import type { NodeMap } from './state-graph';
import type { Fields, StateOf } from './state-schema';

/** The body of an activity node. */
export type NodeBody = (state: any) => unknown;

/** The bodies of a graph's activity nodes, for the worker's plugin or for a run in memory. */
export interface NodeSet {
  readonly graph: AnyGraph;
  readonly bodies: ReadonlyMap<string, NodeBody>;
}

type ActivityNames<N extends NodeMap> = {
  [K in keyof N & string]: N[K]['kind'] extends 'activity' ? K : never;
}[keyof N & string];
type MaybePromise<T> = T | Promise<T>;

/** What a body is given: the input of its Send where the node takes one, else the state keys it reads. */
type SeenBy<F extends Fields, D extends NodeMap[string]> = [D['input']] extends [never]
  ? Pick<StateOf<F>, D['reads'] & keyof F>
  : D['input'];

/**
 * Gives the activity nodes of a graph their bodies.
 *
 * A missing, extra or mistyped node, an update with a wrong key and a goto to an unknown node do not compile;
 * for callers without types the first two are checked here too.
 *
 * @throws {GraphDefinitionError} `MISSING_IMPLEMENTATION`, `EXTRA_IMPLEMENTATION`.
 * @example
 * export const orderNodes = implement(order, {
 *   check: async (state) => ({ order_total: await priceOf(state.item) }),
 *   place_order: async (state) => ({ approved: interrupt({ question: 'approve?', total: state.order_total }) }),
 * });
 */
export function implement<
  Name extends string,
  F extends Fields,
  N extends NodeMap,
  R extends { readonly [K in ActivityNames<N>]: unknown },
>(
  graph: CompiledGraph<Name, F, N>,
  nodes: {
    readonly [K in keyof R]: K extends ActivityNames<N>
      ? (state: SeenBy<F, N[K]>) => MaybePromise<R[K] & Checked<F, N, Awaited<R[K]>>>
      : never;
  },
): NodeSet {
  const bodies = new Map(Object.entries(nodes) as [string, NodeBody][]);
  const wanted = activityNodesOf(graph);
  const missing = wanted.filter((name) => typeof bodies.get(name) !== 'function');
  if (missing.length > 0) {
    const message = `Graph "${graph.name}" has no implementation of ${quoted(missing)}. Add each to implement(${graph.name}, { … }).`;
    throw new GraphDefinitionError('MISSING_IMPLEMENTATION', message);
  }
  const extra = [...bodies.keys()].filter((name) => !wanted.includes(name));
  if (extra.length > 0) {
    const message = `implement(${graph.name}, …) was given ${quoted(extra)}, which the graph does not run as activities. Its activity nodes are: ${quoted(wanted) || 'none'}.`;
    throw new GraphDefinitionError('EXTRA_IMPLEMENTATION', message);
  }
  return { graph, bodies };
}

/** The names of the nodes that `implement` must fill. */
export function activityNodesOf(graph: AnyGraph): string[] {
  return [...graph.shape.nodes].filter(([, { kind }]) => kind === 'activity').map(([name]) => name);
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
