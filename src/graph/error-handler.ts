import type { AnyGraph } from './compiled-graph';
import { AbeyanceError, GraphRunError, messageOf } from './errors';
import type { NodeDefinition, NodeFailure } from './node-definition';
import type { CompletedOutcome } from './outcome';
import { recorded } from './run-body';
import type { Scope } from './scope';
import { seenState } from './seen-state';
import { graphWithin } from './subgraph';
import type { Task } from './task';

/** A node that stands in for a failure: its own, or one of the subgraph that runs in it. */
export interface ErrorHandler {
  readonly task: Task;
  readonly graph: AnyGraph;
  readonly definition: NodeDefinition;
  readonly scope: Scope;
}

/** Who handles the failure of a task: its node, or the nearest one around it that has an `onError`. */
export function handlerOf(graph: AnyGraph, scope: Scope, taskId: string): ErrorHandler | undefined {
  const task = scope.tasks.find(({ id, inner }) => id === taskId || (inner && taskId.startsWith(`${id}/`)));
  if (!task) return undefined;
  const nearer = task.inner ? handlerOf(graphWithin(graph, task), task.inner, taskId) : undefined;
  const definition = graph.shape.nodes.get(task.node);
  return nearer ?? (definition?.onError ? { task, graph, definition, scope } : undefined);
}

/** What a handler makes of a failure: the outcome of its task. @throws {GraphRunError} `NODE_FAILED` where it throws. */
export function handled({ task, graph, definition, scope }: ErrorHandler, failure: NodeFailure): CompletedOutcome {
  try {
    const given = task.input !== undefined ? task.input : scope.channels;
    const state = seenState(graph, task.node, definition, given, task.input !== undefined);
    return recorded(graph, task.node, definition.onError?.(failure, state));
  } catch (error) {
    if (error instanceof AbeyanceError) throw error;
    const message = `The onError of "${task.node}" failed: ${messageOf(error)}. It was to handle: ${failure.message}`;
    throw new GraphRunError('NODE_FAILED', message, task.node, { cause: error });
  }
}
