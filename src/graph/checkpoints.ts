import { withoutParent } from './child-tasks';
import type { AnyGraph } from './compiled-graph';
import type { StateEdit } from './edit-state';
import { GraphEngine } from './engine';
import type { EngineSnapshot } from './engine-snapshot';
import type { StateSnapshot } from './graph-runner';
import type { Question } from './question';
import { decodeValues, tasksShown, viewOf } from './run-view';
import type { Scope } from './scope';
import { frameOf } from './frame';
import { afresh } from './superstep';

/** A run at the start of a superstep, or after an edit of its state, or at its end. */
export interface Checkpoint {
  /** `<run>/<step>`, with `.e<n>` after an edit and `.end` at the end: the same whenever the history is read. */
  readonly id: string;
  readonly run: string;
  readonly snapshot: EngineSnapshot;
  /** ISO 8601. */
  readonly at: string;
  /** What was asked before the next checkpoint came. */
  readonly asked: readonly Question[];
}

/** Collects the checkpoints of a thread as its runs go. */
export class Checkpoints {
  private readonly list: Checkpoint[] = [];

  /** To be called after each change of the engine, before it gives out tasks. */
  note(run: string, engine: GraphEngine, at: string): void {
    const id = `${run}/${engine.checkpoint}`;
    const last = this.list.at(-1);
    if (last?.id !== id) {
      this.list.push({ id, run, snapshot: engine.peek(), at, asked: engine.questions() });
      return;
    }
    const known = new Set(last.asked.map((question) => question.id));
    const asked = [...last.asked, ...engine.questions().filter((question) => !known.has(question.id))];
    this.list[this.list.length - 1] = { ...last, asked };
  }

  /** Newest first. */
  newestFirst(): readonly Checkpoint[] {
    return [...this.list].reverse();
  }

  /** The checkpoint with this id, or the newest. */
  find(id: string | undefined): Checkpoint | undefined {
    return id === undefined ? this.list.at(-1) : this.list.find((one) => one.id === id);
  }
}

/** A checkpoint as `getStateHistory` shows it. */
export function stateAt(graph: AnyGraph, threadId: string, checkpoint: Checkpoint): StateSnapshot {
  const { id, run, at, asked, snapshot } = checkpoint;
  const view = { ...viewOf(GraphEngine.restore(graph, snapshot)), questions: asked };
  return {
    values: decodeValues(graph, view.values),
    next: view.next,
    tasks: tasksShown(view),
    interrupts: asked,
    status: view.status === 'done' ? 'done' : asked.length > 0 ? 'waiting' : 'running',
    metadata: {
      threadId,
      graph: graph.name,
      step: view.step,
      source: 'history',
      runId: run,
      checkpoint: id,
      createdAt: at,
      ...(snapshot.origin && { origin: snapshot.origin }),
    },
  };
}

/**
 * A checkpoint as another thread takes it over: its tasks begin anew, with nothing that was decided on the first and
 * nothing that came of it, so that no approval is taken along.
 *
 * @throws as `GraphEngine.settle`, where a subgraph's input fails.
 */
export function forkOf(graph: AnyGraph, { id, snapshot }: Checkpoint, threadId: string, at: string): EngineSnapshot {
  const { forgotten: _, withdrawn: __, due: ___, ...rest } = withoutParent(snapshot);
  return { ...countingAnew(afresh(frameOf(graph, rest, at), rest)), ledger: [], origin: { threadId, checkpoint: id } };
}

function countingAnew<S extends Scope>(scope: S): S {
  const tasks = scope.tasks.map((task) => (task.inner ? { ...task, inner: countingAnew(task.inner) } : task));
  return { ...scope, tasks, taken: 0 };
}

/** A failed run as the thread's next run takes it up: what has finished is kept, and the limit counts anew. */
export function retryOf(snapshot: EngineSnapshot, recursionLimit: number | undefined): EngineSnapshot {
  const { due: _, ...rest } = snapshot;
  return { ...countingAnew(rest), limit: recursionLimit ?? snapshot.limit };
}

/**
 * Refuses an edit that a run standing so would not take, before another run is started for it.
 *
 * @throws as `GraphEngine.edit`.
 */
export function tryEdit(graph: AnyGraph, snapshot: EngineSnapshot, edit: StateEdit, at: string): void {
  GraphEngine.restore(graph, snapshot).edit(edit, at);
}
