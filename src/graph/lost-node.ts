import type { AnyGraph } from './compiled-graph';
import type { Scope } from './scope';

/** A node that a task of the scope is of and the graph does not have; undefined where there is none. */
export function lostNode(graph: AnyGraph, { tasks }: Scope): string | undefined {
  for (const task of tasks) {
    if (!graph.shape.nodes.has(task.node)) return task.node;
    if (!task.inner) continue;
    const definition = graph.shape.nodes.get(task.node);
    const lost = definition?.kind === 'graph' ? lostNode(definition.graph, task.inner) : task.node;
    if (lost !== undefined) return lost;
  }
  return undefined;
}
