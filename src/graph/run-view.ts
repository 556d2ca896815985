import { INTERRUPT } from './commands';
import type { AnyGraph } from './compiled-graph';
import type { GraphEngine } from './engine';
import type { Origin } from './engine-snapshot';
import { GraphRunError, type ErrorCode } from './errors';
import type { Question } from './question';
import type { Channels } from './state-schema';
import { leavesOf, type Scope } from './scope';
import { nodePathOf, type Task } from './task';
import { bytesOf, MAX_PAYLOAD_BYTES } from './size-limit';
import { decodeState } from './write-state';

/** A task of the current superstep, as it is recorded and sent. */
export interface TaskLine {
  readonly id: string;
  readonly name: string;
  /** How often it has run: 1, and one more for each pause it came back from. */
  readonly visit: number;
  readonly status: 'ready' | 'running' | 'waiting' | 'done';
}

/** A task of the current superstep, as it is shown: with its open questions. */
export interface TaskView extends TaskLine {
  readonly interrupts: readonly Question[];
}

/** Where a run stands, as it is recorded and sent: values are encoded. */
export interface RunView {
  readonly status: 'running' | 'waiting' | 'done';
  readonly step: number;
  readonly values: Channels;
  readonly next: readonly string[];
  readonly tasks: readonly TaskLine[];
  readonly questions: readonly Question[];
  /** Where the thread was forked from, if it was. */
  readonly origin?: Origin;
  /** Set where the values, and if need be what the questions ask, were too large to send. */
  readonly omitted?: { readonly bytes: number };
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
    tasks: linesOf(engine.tasks),
    questions: engine.questions(),
    ...(engine.peek().origin && { origin: engine.peek().origin }),
  };
}

// A subgraph's tasks come after the one they run in, under the path of their nodes.
function linesOf(tasks: readonly Task[]): readonly TaskLine[] {
  return tasks.flatMap((task) => [
    { id: task.id, name: nodePathOf(task.id), visit: task.visit, status: statusOf(task) },
    ...(task.inner ? linesOf(task.inner.tasks) : (task.child?.tasks ?? [])),
  ]);
}

function statusOf({ phase, inner }: Task): TaskLine['status'] {
  switch (phase) {
    case 'entered':
      return leavesOf(inner as Scope).some((task) => task.phase === 'running' || task.phase === 'ready')
        ? 'running'
        : 'waiting';
    case 'held':
      return 'waiting';
    default:
      return phase;
  }
}

/** The tasks of a view, each with its questions. */
export function tasksShown({ tasks, questions }: RunView): readonly TaskView[] {
  return tasks.map((task) => ({ ...task, interrupts: questions.filter((question) => question.task === task.id) }));
}

/**
 * A view that can be sent: one over the limit goes without its values, and if that is not enough without what its
 * questions ask. Temporal would end the run for a reply that is too large.
 */
export function sendable(view: RunView): RunView {
  const bytes = bytesOf(view);
  if (bytes <= MAX_PAYLOAD_BYTES) return view;
  const bare: RunView = { ...view, values: {}, omitted: { bytes } };
  if (bytesOf(bare) <= MAX_PAYLOAD_BYTES) return bare;
  return { ...bare, questions: view.questions.map(withoutContent) };
}

/** A question without what it asks, where that is too large to show: id and digest still tell which it is. */
export function withoutContent({ schema: _, call: __, ...question }: Question): Question {
  return { ...question, value: null, omitted: true };
}

/** The key under which a result says that its values were too large to be sent. */
export const OMITTED = '__omitted__';

/** Where a run stopped, as it is sent to whoever waits for it. */
export type Stop =
  | { readonly kind: 'paused'; readonly view: RunView }
  | { readonly kind: 'done'; readonly view: RunView }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly node?: string };

/** The run goes on as the thread's next one; whoever waits for a stop asks that. */
export interface RolledOver {
  readonly kind: 'rolled';
}

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
      return { ...decodeValues(graph, stop.view.values), ...omittedIn(stop.view) };
    case 'paused': {
      const questions = stop.view.questions.map(({ id, value, allow, expiresAt, rejected }) => ({
        id,
        value,
        ...(allow && { allow }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(rejected && { rejected }),
      }));
      return { ...decodeValues(graph, stop.view.values), ...omittedIn(stop.view), [INTERRUPT]: questions };
    }
    default:
      return stop satisfies never;
  }
}

function omittedIn({ omitted }: RunView): { readonly [OMITTED]?: RunView['omitted'] } {
  return omitted ? { [OMITTED]: omitted } : {};
}

/** The values as the graph's state reads them; as they are recorded where the graph is not at hand. */
export function decodeValues(graph: AnyGraph | undefined, values: Channels): Record<string, unknown> {
  return graph ? decodeState(graph.schema, values, 'state') : { ...values };
}
