import type { Command, END, NoCommand } from './commands';
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
type Nothing = void | undefined | null;
type KeysOfEach<U> = U extends unknown ? keyof U : never;
type OnlyKnown<F extends Fields, U> = { readonly [K in Exclude<KeysOfEach<U>, keyof F | keyof NoCommand>]: never };

type CheckedUpdate<F extends Fields, U> = [U] extends [never] ? never : UpdateOf<F> & OnlyKnown<F, U> & NoCommand;

type KnownGoto<N extends NodeMap, G> = string extends G
  ? unknown
  : Exclude<G, keyof N | typeof END> extends never
    ? unknown
    : never;

// A command without an update has one of any keys, by default.
type CheckedCommand<F extends Fields, N extends NodeMap, C> =
  C extends Command<infer U, infer G>
    ? KnownGoto<N, G> & (string extends keyof U ? Command<any, any> : Command<UpdateOf<F> & OnlyKnown<F, U>, any>)
    : never;

type CheckedList<F extends Fields, N extends NodeMap, L> = L extends readonly (infer I)[]
  ? readonly Checked<F, N, I>[]
  : never;

// While a body's own type is not known yet, this is what its literals are read against.
type Expected<F extends Fields, N extends NodeMap> = UpdateOf<F> | Command<UpdateOf<F>, keyof N & string>;

/** What a body is given: the input of its Send where the node takes one, else the state keys it reads. */
type SeenBy<F extends Fields, D extends NodeMap[string]> = [D['input']] extends [never]
  ? Pick<StateOf<F>, D['reads'] & keyof F>
  : D['input'];

/** What a body may return: an update, a command, or a list of them, with no key the state does not have. */
type Checked<F extends Fields, N extends NodeMap, R> = unknown extends R
  ? Expected<F, N> | readonly Expected<F, N>[]
  : | Extract<R, Nothing>
    | CheckedCommand<F, N, Extract<R, Command<any, any>>>
    | CheckedList<F, N, Extract<R, readonly unknown[]>>
    | CheckedUpdate<F, Exclude<R, Nothing | Command<any, any> | readonly unknown[]>>;

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
