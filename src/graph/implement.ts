import type { Command, END } from './commands';
import type { AnyGraph, CompiledGraph } from './compiled-graph';
import { GraphDefinitionError } from './errors';
import type { NodeMap } from './state-graph';
import type { Fields, StateOf, UpdateOf } from './state-schema';

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
type OnlyKnown<F extends Fields, U> = { readonly [K in Exclude<keyof U, keyof F>]: never };
type KnownGoto<N extends NodeMap, R> =
  R extends Command<any, infer G>
    ? string extends G
      ? unknown
      : Exclude<G, keyof N | typeof END> extends never
        ? unknown
        : never
    : unknown;

/** What a body may return: an update, a command, or a list of them, with no key the state does not have. */
type Checked<F extends Fields, N extends NodeMap, R> =
  Awaited<R> extends Command<infer U, any>
    ? KnownGoto<N, Awaited<R>> & (unknown extends U ? unknown : Command<UpdateOf<F> & OnlyKnown<F, U>, any>)
    : Awaited<R> extends readonly unknown[]
      ? unknown
      : UpdateOf<F> & OnlyKnown<F, Awaited<R>>;

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
      ? (state: Pick<StateOf<F>, N[K]['reads'] & keyof F>) => MaybePromise<R[K] & Checked<F, N, R[K]>>
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
