import type { AnyGraph } from './compiled-graph';
import type { Json } from './json';
import type { WorkingNode } from './node-definition';
import type { Scope } from './scope';
import { readsOf } from './state-schema';
import { graphWithin } from './subgraph';
import type { Task } from './task';

/** A task to run now, with what it sees. */
export interface Dispatch {
  /** The graph its node belongs to: the run's own, or a subgraph. */
  readonly graph: AnyGraph;
  readonly task: Task;
  readonly definition: WorkingNode;
  /** Encoded: the keys the node reads, or the input of its Send. */
  readonly state: Json;
}

/** The tasks of a scope, and of the subgraphs in it, that were taken, with what each sees. */
export function dispatchesIn(graph: AnyGraph, scope: Scope, taken: ReadonlySet<string>): readonly Dispatch[] {
  return scope.tasks.flatMap((task): readonly Dispatch[] => {
    if (task.inner) return dispatchesIn(graphWithin(graph, task), task.inner, taken);
    if (!taken.has(task.id)) return [];
    const definition = graph.shape.nodes.get(task.node) as WorkingNode;
    return [
      {
        graph,
        task,
        definition,
        state: task.input !== undefined ? task.input : readsOf(scope.channels, definition.reads),
      },
    ];
  });
}
