import { z } from 'zod';
import { END, ReducedValue, START, StateGraph, StateSchema, type CompiledGraph, type CompileOptions } from 'abeyance';

/** A graph whose types do not matter to the test. */
export type TestGraph = CompiledGraph<string, any, any>;

/** The bodies of a test graph's nodes. */
export type Bodies = Readonly<Record<string, (state: any) => unknown>>;

/** What a test graph is built from; without edges the nodes are a chain from START to END. */
export interface GraphPlan {
  readonly name?: string;
  readonly state?: Readonly<Record<string, any>>;
  /** Names of activity nodes, or nodes by name. */
  readonly nodes: readonly string[] | Readonly<Record<string, any>>;
  readonly edges?: readonly (readonly [from: string | readonly string[], to: string])[];
  readonly routers?: readonly (readonly [from: string, router: (state: any) => any, ends?: readonly string[]])[];
  readonly recursionLimit?: number;
  readonly activity?: CompileOptions<string>['activity'];
  readonly interruptBefore?: CompileOptions<string>['interruptBefore'];
  readonly interruptAfter?: CompileOptions<string>['interruptAfter'];
}

/** A list that every write is appended to: shows who wrote, and in which order. */
export const Log = new ReducedValue(z.array(z.string()).default([]), {
  inputSchema: z.union([z.string(), z.array(z.string())]),
  reducer: (lines, more) => [...lines, ...[more].flat()],
});

/** Builds a graph from plain names, as a caller without types would. */
export function buildGraph({
  name = 'test',
  state = { log: Log },
  nodes,
  edges,
  routers,
  ...rest
}: GraphPlan): TestGraph {
  const graph = new StateGraph<any, any>(new StateSchema(state));
  const byName = Array.isArray(nodes) ? Object.fromEntries(nodes.map((node: string) => [node, undefined])) : nodes;
  for (const [node, definition] of Object.entries(byName)) graph.addNode(node, definition as never);
  for (const [from, to] of edges ?? (routers ? [] : chain(Object.keys(byName)))) graph.addEdge(from, to);
  for (const [from, router, ends] of routers ?? []) graph.addConditionalEdges(from, router, ends);
  return graph.compile({ name, ...rest });
}

function chain(names: readonly string[]): [string, string][] {
  const stations = [START, ...names, END];
  return stations.slice(1).map((to, index) => [stations[index] as string, to]);
}

/** Bodies that write their own name to the log. */
export function loggers(...names: readonly string[]): Bodies {
  return Object.fromEntries(names.map((name) => [name, () => ({ log: name })]));
}
