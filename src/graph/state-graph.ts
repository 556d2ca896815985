import type { z } from 'zod';
import type { CheckedNode, GotoOf, LostOf, Named, NodeResult, Result, SendTo } from './checked-return';
import type { END, Goto, START } from './commands';
import { CompiledGraph } from './compiled-graph';
import { checkGraph, checkNodeName } from './check-graph';
import { GraphDefinitionError } from './errors';
import type {
  ActivityNode,
  NodeActivityOptions,
  NodeDefinition,
  NodeFailure,
  NodeKind,
  NodeOptions,
} from './node-definition';
import { subgraph } from './subgraph-node';
import type { Fields, StateOf, StateSchema } from './state-schema';

/** The nodes of a graph, as types: what kind each is, which state keys it reads, what a Send carries to it, where it goes. */
export type NodeMap = Readonly<
  Record<string, { readonly kind: NodeKind; readonly reads: string; readonly input?: unknown; readonly goto?: unknown }>
>;

type SubgraphOf<N extends NodeMap> = { [K in keyof N & string]: N[K]['kind'] extends 'graph' ? K : never }[keyof N &
  string];

/** `at`: the names of a graph's nodes, and paths to those of its subgraphs. A property, as where a router may go. */
export interface NodePath<N extends NodeMap> {
  readonly at: (keyof N & string) | `${SubgraphOf<N>}/${string}`;
}

/** The shape of a graph while it is built, and once it is compiled. */
export interface GraphShape {
  readonly nodes: ReadonlyMap<string, NodeDefinition>;
  readonly edges: readonly Edge[];
  readonly joins: readonly Join[];
  readonly branches: readonly Branch[];
}

/** From one node to the next. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Several nodes that must all have run before the next does. */
export interface Join {
  readonly from: readonly string[];
  readonly to: string;
}

/** A router behind a node; `ends` names where it may go, when that is declared. */
export interface Branch {
  readonly from: string;
  readonly router: (state: any) => Goto;
  readonly ends?: readonly string[];
}

/** How a graph is compiled. */
export interface CompileOptions<Name extends string, B extends string = string> {
  /** The workflow type: a name that JavaScript can export, the same as the export of its `graphWorkflow`. */
  readonly name: Name;
  /** The most supersteps one run may take; default 25, as in LangGraph.js. */
  readonly recursionLimit?: number;
  /** Activity options of every node that does not set its own. */
  readonly activity?: NodeActivityOptions;
  /** Stop each run before these nodes, `*` for all, until somebody lets it go on; no work of theirs is done by then. */
  readonly interruptBefore?: readonly B[] | '*';
  /** Stop each run after these nodes, `*` for all, unless nothing comes after. */
  readonly interruptAfter?: readonly B[] | '*';
}

// Known by its shape, for instanceof fails where a module was loaded twice.
// What callers without types try, and what would be found out only when the node is to run.
function refuseBareNode(name: string, node: unknown): void {
  if (typeof node === 'function') {
    const message = `Node "${name}" is given a function. Add it without, and give its body to implement(graph, { ${name} }), or to inWorkflow(…) if it is to run in workflow code.`;
    throw new GraphDefinitionError('INVALID_OPTION', message);
  }
  if (node instanceof StateGraph) {
    const message = `Node "${name}" is given a graph that is not compiled. Give it what compile({ name: '…' }) returns.`;
    throw new GraphDefinitionError('INVALID_OPTION', message);
  }
}

function isCompiledGraph(node: object | undefined): node is CompiledGraph<string, any, any> {
  return node !== undefined && 'shape' in node && 'schema' in node;
}

type LostGotos<N extends NodeMap> = LostOf<N, { [K in keyof N]: N[K]['goto'] }[keyof N]>;

type KnownGotos<N extends NodeMap> = string extends keyof N
  ? unknown
  : [LostGotos<N>] extends [never]
    ? unknown
    : { readonly 'A node goes to one that the graph does not have': LostGotos<N> };

// Where a router may go. A property, so that an error names the nodes; a type of its own would be named with all of the graph.
interface Routes<N extends NodeMap, K extends string> {
  readonly to: K | typeof END | SendTo<N, K> | readonly (K | typeof END | SendTo<N, K>)[];
}

/** A node that is no plain activity: of another kind, made by a function of its own. */
type OtherNode<F extends Fields, K extends NodeKind, U, E extends string> = {
  readonly kind: K;
  readonly fn?: (state: StateOf<F>) => NodeResult<F>;
  /** Type only: what `fn` returns, from which alone it is inferred; `fn` says what its literals are read against. */
  readonly Returns?: U;
  readonly ends?: readonly E[];
} & CheckedNode<F, U>;

type ActivityOptions<F extends Fields, R extends string, I extends z.ZodType, E extends string> = Omit<
  NodeOptions,
  'reads' | 'input' | 'ends' | 'onError'
> & {
  readonly kind?: undefined;
  readonly run?: ActivityNode['run'];
  readonly reads?: readonly R[];
  readonly input?: I;
  readonly ends?: readonly E[];
  readonly onError?: (failure: NodeFailure, state: any) => Result<F>;
};

// No interface: the types of exported graphs are written out, and it could not be named there.
type NodeEntry<K, R, I, U, E> = {
  readonly kind: K;
  readonly reads: R;
  readonly input: [I] extends [never] ? never : z.output<I>;
  readonly goto: GotoOf<Awaited<U>> | Named<E>;
};

/**
 * Builds a graph: nodes, the edges between them, and the state they share.
 *
 * Declare nodes before the edges that name them; every call returns the graph with what it learned in its type.
 *
 * @example
 * export const order = new StateGraph(OrderState)
 *   .addNode('check')
 *   .addNode('place_order', { activity: { startToCloseTimeout: '1 minute' } })
 *   .addEdge(START, 'check')
 *   .addEdge('check', 'place_order')
 *   .addEdge('place_order', END)
 *   .compile({ name: 'order' });
 */
export class StateGraph<F extends Fields, N extends NodeMap = Record<never, never>> {
  private readonly nodes = new Map<string, NodeDefinition>();
  private readonly edges: Edge[] = [];
  private readonly joins: Join[] = [];
  private readonly branches: Branch[] = [];

  constructor(private readonly schema: StateSchema<F>) {}

  /**
   * Adds a node; without a kind it is an activity that the worker implements.
   *
   * @throws {GraphDefinitionError} `DUPLICATE_NODE`, `INVALID_NAME`, `INVALID_OPTION`.
   */
  addNode<
    const Nm extends string,
    const K extends NodeKind = 'activity',
    const R extends keyof F & string = keyof F & string,
    I extends z.ZodType = never,
    U = never,
    const E extends string = never,
  >(
    name: Nm,
    node?: OtherNode<F, K, U, E> | ActivityOptions<F, R, I, E>,
  ): StateGraph<F, N & { readonly [X in Nm]: NodeEntry<K, R, I, U, E> }> {
    checkNodeName(name);
    if (this.nodes.has(name)) {
      throw new GraphDefinitionError(
        'DUPLICATE_NODE',
        `The graph already has a node "${name}". Give this one another name.`,
      );
    }
    refuseBareNode(name, node);
    const definition = isCompiledGraph(node) ? subgraph(node) : node;
    this.nodes.set(name, { ...definition, kind: node?.kind ?? 'activity' } as NodeDefinition);
    return this as never;
  }

  /** Runs `to` after `from`; with several in `from`, once after all of them. */
  addEdge(
    from: (keyof N & string) | typeof START | readonly (keyof N & string)[],
    to: (keyof N & string) | typeof END,
  ): this {
    if (typeof from === 'string') this.edges.push({ from, to });
    else this.joins.push({ from: [...new Set(from as readonly string[])], to });
    return this;
  }

  /**
   * Lets a router choose what runs after `from`; `ends` narrows where it may go.
   *
   * The router is pure and synchronous: it runs in workflow code. It sees the state with its own node's writes.
   */
  addConditionalEdges(
    from: (keyof N & string) | typeof START,
    router: (state: StateOf<F>) => Routes<N, keyof N & string>['to'],
  ): this;
  addConditionalEdges<const E extends (keyof N & string) | typeof END>(
    from: (keyof N & string) | typeof START,
    router: (state: StateOf<F>) => Routes<N, Exclude<E, typeof END>>['to'],
    ends: readonly E[] | undefined,
  ): this;
  addConditionalEdges(from: string, router: Branch['router'], ends?: readonly string[]): this {
    this.branches.push({ from, router, ends });
    return this;
  }

  /**
   * Checks the graph and fixes it under a name: what workers serve and clients start.
   *
   * @throws {GraphDefinitionError} for an unknown node in an edge or in `ends`, a node nothing leads to, no way in,
   *   or a name that cannot be exported.
   */
  compile<const Name extends string>(
    options: CompileOptions<Name, NodePath<N>['at']> & KnownGotos<N>,
  ): CompiledGraph<Name, F, N> {
    const shape: GraphShape = {
      nodes: withTools(this.nodes),
      edges: [...this.edges],
      joins: [...this.joins],
      branches: [...this.branches],
    };
    checkGraph(options, this.schema, shape);
    return new CompiledGraph(options, this.schema, shape);
  }
}

// A gate is told of the tools behind it: edited arguments must fit them.
function withTools(nodes: ReadonlyMap<string, NodeDefinition>): ReadonlyMap<string, NodeDefinition> {
  const told = (node: NodeDefinition): NodeDefinition => {
    if (node.kind !== 'workflow' || !node.gate) return node;
    const target = nodes.get(node.gate.approved);
    return target?.kind === 'tools' ? { ...node, fn: node.gate.before(target.tools) } : node;
  };
  return new Map([...nodes].map(([name, node]) => [name, told(node)]));
}
