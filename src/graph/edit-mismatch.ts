import type { AnyGraph } from './compiled-graph';
import { explainMismatch } from './explain-mismatch';
import { isJsonObject, type Json } from './json';
import type { Question } from './question';
import { definitionAt, graphAround } from './subgraph';
import type { Tool } from './tool';

/**
 * What a tool's schema has against edited arguments, where the question is a gate's of this graph.
 *
 * Told to the one who edits. The gate looks again before it hands the call on.
 */
export function editMismatch(graph: AnyGraph, { node, call, value }: Question, args: Json): string | undefined {
  const { nodes } = graphAround(graph, node).shape;
  const gate = definitionAt(graph, node);
  if (gate?.kind !== 'workflow' || !gate.gate) return undefined;
  const target = nodes.get(gate.gate.approved);
  const tool = call?.tool ?? (isJsonObject(value) ? value.tool : undefined);
  return target?.kind === 'tools' ? argsMismatch(target.tools, tool, args) : undefined;
}

/** What the schema of the tool of this name has against arguments; undefined where they fit, or no such tool is known. */
export function argsMismatch(tools: readonly Tool[], name: unknown, args: Json): string | undefined {
  const tool = tools.find((one) => one.name === name);
  try {
    const parsed = tool?.schema.safeParse(args);
    return parsed?.success === false ? explainMismatch(parsed.error) : undefined;
  } catch {
    // A schema that checks asynchronously has to wait for the tool itself.
    return undefined;
  }
}
