import { withoutParent } from './child-tasks';
import type { AnyGraph } from './compiled-graph';
import { GraphEngine } from './engine';
import type { EngineSnapshot } from './engine-snapshot';
import type { StateSnapshot } from './graph-runner';
import type { Question } from './question';
import { decodeValues, tasksShown, viewOf } from './run-view';
import { withLeaves, type Scope } from './scope';
import { newTask, type Task } from './task';

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
 * A checkpoint as another thread takes it over: with nothing that was decided on the first, so that no approval
 * is taken along.
 */
export function forkOf({ id, snapshot }: Checkpoint, threadId: string): EngineSnapshot {
  const { forgotten: _, ...rest } = withoutParent(withLeaves(snapshot, asNew));
  return { ...countingAnew(rest), ledger: [], origin: { threadId, checkpoint: id } };
}

// What has finished is kept. What has not begins again: answers, expiry and recorded effects are the other thread's.
function asNew(task: Task): Task {
  const { id, node, step, group, input, call, phase, open } = task;
  if (phase === 'done' || phase === 'held') return task;
  const fresh = newTask({
    id,
    node,
    step,
    group,
    ...(input !== undefined && { input }),
    ...(call !== undefined && { call }),
  });
  const breakpoint = open.filter(({ kind }) => kind === 'breakpoint');
  return breakpoint.length > 0 ? { ...fresh, phase: 'waiting', open: breakpoint } : fresh;
}

function countingAnew<S extends Scope>(scope: S): S {
  const tasks = scope.tasks.map((task) => (task.inner ? { ...task, inner: countingAnew(task.inner) } : task));
  return { ...scope, tasks, taken: 0 };
}

/** A failed run as the thread's next run takes it up: what has finished is kept, and the limit counts anew. */
export function retryOf(snapshot: EngineSnapshot, recursionLimit: number | undefined): EngineSnapshot {
  return { ...countingAnew(snapshot), limit: recursionLimit ?? snapshot.limit };
}
