import type { AnyGraph } from '../graph/compiled-graph';
import { GraphDefinitionError } from '../graph/errors';
import { activityNodesOf, type NodeBody, type NodeSet } from '../graph/implement';
import { missingModel } from './call-model';
import { missingTool } from './call-tool';
import type { ChatModel } from './chat-model';
import { canonicalJson } from '../graph/json';
import { declarationOf, type Tool } from '../graph/tool';
import type { ToolImplementation } from './implement-tool';

/** What a worker, or a run in memory, runs graphs with. */
export interface GraphDependencies {
  /** The bodies of activity nodes, by graph: `implement(graph, { … })`. */
  readonly nodes?: readonly NodeSet[];
  /** Graphs without activity nodes, which nothing has to be implemented for. */
  readonly graphs?: readonly AnyGraph[];
  /** Models by the name that model nodes call them. */
  readonly models?: Readonly<Record<string, ChatModel>>;
  /** The tools' bodies: `implementTool(tool, …)`. */
  readonly tools?: readonly ToolImplementation[];
}

/** Dependencies that have been checked against the graphs they serve. */
export interface CheckedDependencies {
  readonly graphs: ReadonlyMap<string, AnyGraph>;
  readonly bodies: ReadonlyMap<string, ReadonlyMap<string, NodeBody>>;
  readonly models: Readonly<Record<string, ChatModel>>;
  readonly tools: ReadonlyMap<string, ToolImplementation>;
}

/**
 * Checks that every graph has all it needs to run.
 *
 * @throws {GraphDefinitionError} `MISSING_IMPLEMENTATION`, `DUPLICATE_REGISTRATION`.
 */
export function checkDependencies({
  nodes = [],
  graphs = [],
  models = {},
  tools = [],
}: GraphDependencies): CheckedDependencies {
  const byName = new Map<string, AnyGraph>();
  for (const graph of [...nodes.map((set) => set.graph), ...graphs].flatMap(withSubgraphs)) {
    if (byName.has(graph.name) && byName.get(graph.name) !== graph) throw registeredTwice(`graph "${graph.name}"`);
    byName.set(graph.name, graph);
  }
  const bodies = new Map<string, ReadonlyMap<string, NodeBody>>();
  for (const set of nodes) {
    if (bodies.has(set.graph.name)) throw registeredTwice(`the nodes of graph "${set.graph.name}"`);
    bodies.set(set.graph.name, set.bodies);
  }
  const toolsByName = new Map<string, ToolImplementation>();
  for (const implementation of tools) {
    if (toolsByName.has(implementation.tool.name)) throw registeredTwice(`tool "${implementation.tool.name}"`);
    toolsByName.set(implementation.tool.name, implementation);
  }
  const checked = { graphs: byName, bodies, models, tools: toolsByName };
  for (const graph of byName.values()) checkComplete(graph, checked);
  return checked;
}

function withSubgraphs(graph: AnyGraph): readonly AnyGraph[] {
  const within = [...graph.shape.nodes.values()].flatMap((node) => (node.kind === 'graph' ? [node.graph] : []));
  return [graph, ...within.flatMap(withSubgraphs)];
}

function registeredTwice(what: string): GraphDefinitionError {
  return new GraphDefinitionError('DUPLICATE_REGISTRATION', `${what} is registered twice. Register it once.`);
}

function checkComplete(graph: AnyGraph, { bodies, models, tools }: CheckedDependencies): void {
  const missing = activityNodesOf(graph).filter((name) => !bodies.get(graph.name)?.has(name));
  if (missing.length > 0) {
    const message = `Graph "${graph.name}" has no implementation of ${missing.join(', ')}. Add: nodes: [implement(${graph.name}, { … })].`;
    throw new GraphDefinitionError('MISSING_IMPLEMENTATION', message);
  }
  for (const [name, node] of graph.shape.nodes) {
    const where = `Node "${name}" of graph "${graph.name}": `;
    if (node.kind === 'model' && !Object.hasOwn(models, node.model)) {
      throw new GraphDefinitionError('MISSING_IMPLEMENTATION', where + missingModel(node.model, models));
    }
    if (node.kind !== 'tools') continue;
    const lost = node.tools.find((tool) => !tools.has(tool.name));
    if (lost) throw new GraphDefinitionError('MISSING_IMPLEMENTATION', where + missingTool(lost.name, tools));
    const other = node.tools.find((tool) => !isSame(tool, tools.get(tool.name)?.tool));
    if (!other) continue;
    const message = `${where}the implementation of "${other.name}" is of another tool with that name. Implement the very tool that the node declares.`;
    throw new GraphDefinitionError('MISSING_IMPLEMENTATION', message);
  }
}

function isSame(declared: Tool, implemented: Tool | undefined): boolean {
  if (declared === implemented) return true;
  if (!implemented) return false;
  return canonicalJson({ ...declarationOf(declared) }) === canonicalJson({ ...declarationOf(implemented) });
}
