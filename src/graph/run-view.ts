import { INTERRUPT } from './commands';
import type { AnyGraph } from './compiled-graph';
import type { GraphEngine } from './engine';
import { GraphRunError, type ErrorCode } from './errors';
import type { Question } from './question';
import type { Channels } from './state-schema';
import type { Task } from './task';
import { decodeState } from './write-state';

/** A task of the current superstep, as it is shown. */
export interface TaskView {
  readonly id: string;
  readonly name: string;
  /** How often it has run: 1, and one more for each pause it came back from. */
  readonly visit: number;
  readonly status: Task['phase'];
  readonly interrupts: readonly Question[];
}

/** Where a run stands, as it is recorded and sent: values are encoded. */
export interface RunView {
  readonly status: 'running' | 'waiting' | 'done';
  readonly step: number;
  readonly values: Channels;
  readonly next: readonly string[];
  readonly tasks: readonly TaskView[];
  readonly questions: readonly Question[];
}

/** A run that has not begun, or could not. */
export const EMPTY_VIEW: RunView = { status: 'running', step: 0, values: {}, next: [], tasks: [], questions: [] };

/** Shows where an engine stands. */
export function viewOf(engine: GraphEngine): RunView {
  return {
    status: engine.status,
    step: engine.step,
    values: engine.values(),
    next: engine.next(),
    tasks: engine.tasks.map(({ id, node, visit, phase, open }) => ({
      id,
      name: node,
      visit,
      status: phase,
      interrupts: open,
    })),
    questions: engine.questions(),
  };
}

/** Where a run stopped, as it is sent to whoever waits for it. */
export type Stop =
  | { readonly kind: 'paused'; readonly view: RunView }
  | { readonly kind: 'done'; readonly view: RunView }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly node?: string };

/**
 * What `invoke` gives back for a stop: the values, and the open questions where the run waits.
 *
 * @throws {GraphRunError} where the run failed.
 */
export function resultOf(graph: AnyGraph | undefined, stop: Stop): Record<string, unknown> {
  switch (stop.kind) {
    case 'failed':
      throw new GraphRunError(stop.code as ErrorCode, stop.message, stop.node);
    case 'done':
      return decodeValues(graph, stop.view.values);
    case 'paused': {
      const questions = stop.view.questions.map(({ id, value }) => ({ id, value }));
      return { ...decodeValues(graph, stop.view.values), [INTERRUPT]: questions };
    }
    default:
      return stop satisfies never;
  }
}

/** The values as the graph's state reads them; as they are recorded where the graph is not at hand. */
export function decodeValues(graph: AnyGraph | undefined, values: Channels): Record<string, unknown> {
  return graph ? decodeState(graph.schema, values, 'state') : { ...values };
}
