import { END } from './commands';
import { breakpointsOf } from './check-graph';
import { digestOf } from './digest';
import { mermaidOf } from './mermaid';
import type { NodeActivityOptions, NodeDefinition } from './node-definition';
import type { CompileOptions, GraphShape, NodeMap } from './state-graph';
import type { Fields, StateSchema } from './state-schema';
import type { Breakpoints } from './frame';

const DEFAULT_RECURSION_LIMIT = 25;

/** A graph as the `graph` query and the pictures show it. */
export interface GraphDescription {
  readonly name: string;
  readonly fingerprint: string;
  readonly nodes: readonly { readonly name: string; readonly kind: NodeDefinition['kind'] }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly conditional: boolean }[];
}

/**
 * A checked graph under a name: what `graphWorkflow` runs, `implement` fills and a client starts.
 *
 * Immutable and safe to import anywhere; the same object runs in memory, on a test server and live.
 */
export class CompiledGraph<Name extends string, F extends Fields, N extends NodeMap> {
  /** A compiled graph can be a node of another one. */
  readonly kind = 'graph';
  readonly name: Name;
  readonly recursionLimit: number;
  /** Activity options of nodes that set none. */
  readonly activity: NodeActivityOptions;
  /** Before and after which nodes every run stops. */
  readonly breakpoints: Breakpoints;
  /** Changes when nodes, edges, joins, what nodes read, or state keys do: tells a run of an older graph from one of this. */
  readonly fingerprint: string;
  /** Type only: the nodes. */
  declare readonly Nodes: N;

  constructor(
    options: CompileOptions<Name>,
    readonly schema: StateSchema<F>,
    readonly shape: GraphShape,
  ) {
    this.name = options.name;
    this.recursionLimit = options.recursionLimit ?? DEFAULT_RECURSION_LIMIT;
    this.activity = options.activity ?? {};
    this.breakpoints = {
      before: breakpointsOf(options.interruptBefore),
      after: breakpointsOf(options.interruptAfter),
    };
    this.fingerprint = digestOf({
      nodes: sorted(
        [...shape.nodes].map(([name, node]) => [
          name,
          node.kind,
          String(node.defer ?? false),
          ...(node.reads ?? ['*']),
          ...(node.kind === 'activity' && node.run ? [node.run] : []),
          ...(node.kind === 'graph' ? [node.graph.fingerprint] : []),
          ...(node.kind === 'graph' && node.run === 'child' ? ['child'] : []),
        ]),
      ),
      joins: sorted(shape.joins.map(({ from, to }) => [...from].sort().concat(to))),
      edges: sorted(this.edgeList().map(({ from, to, conditional }) => [from, to, String(conditional)])),
      state: Object.keys(schema.fields).sort(),
    }).slice(0, 12);
  }

  /** The graph as plain data. */
  describe(): GraphDescription {
    return { name: this.name, fingerprint: this.fingerprint, nodes: this.nodeList(), edges: this.edgeList() };
  }

  /** The graph as Mermaid text, for a page or a terminal. */
  drawMermaid(): string {
    return mermaidOf(this.describe());
  }

  private nodeList(): GraphDescription['nodes'] {
    return [...this.shape.nodes].map(([name, { kind }]) => ({ name, kind }));
  }

  private edgeList(): GraphDescription['edges'] {
    const { edges, joins, branches, nodes } = this.shape;
    const anywhere = [...nodes.keys(), END];
    return [
      ...edges.map(({ from, to }) => ({ from, to, conditional: false })),
      ...joins.flatMap(({ from, to }) => from.map((one) => ({ from: one, to, conditional: false }))),
      ...branches.flatMap(({ from, ends }) => (ends ?? anywhere).map((to) => ({ from, to, conditional: true }))),
      ...[...nodes].flatMap(([from, { ends }]) => (ends ?? []).map((to) => ({ from, to, conditional: true }))),
    ];
  }
}

function sorted(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return [...rows].sort((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1));
}

/** Any compiled graph, where its types do not matter. */
export type AnyGraph = CompiledGraph<string, any, any>;
