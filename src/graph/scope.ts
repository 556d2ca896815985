import type { GotoRecord } from './commands';
import type { JsonObject } from './json';
import type { Pending, Plan } from './plan';
import type { Channels } from './state-schema';
import type { Task } from './task';
import type { Write } from './write-state';

/** One graph on its way through its supersteps, as plain JSON: the run itself, or a subgraph within one of its tasks. */
export interface Scope {
  readonly limit: number;
  /** The superstep the tasks belong to; in a run it counts on over the runs of a thread. */
  readonly step: number;
  /** Supersteps taken, against the limit. */
  readonly taken: number;
  /** The state at the start of the superstep. */
  readonly channels: Channels;
  readonly tasks: readonly Task[];
  readonly pending: Pending;
  /** A superstep that a breakpoint holds back; `tasks` only stand for it. */
  readonly held?: Plan;
  /** In a subgraph: what it wrote, in order, to the keys it shares with the graph around it. */
  readonly written?: readonly Write[];
  /** In a subgraph that has ended: what its commands told the graph around it. */
  readonly toParent?: ParentWrites;
}

/** What commands to the parent graph carry: not checked yet, for a subgraph does not know who runs it. */
export interface ParentWrites {
  readonly updates: readonly JsonObject[];
  readonly goto: readonly GotoRecord[];
}

/** The tasks that work themselves: those of subgraphs stand in for the task that entered it. */
export function leavesOf({ tasks }: Pick<Scope, 'tasks'>): readonly Task[] {
  return tasks.flatMap((task) => (task.inner ? leavesOf(task.inner) : [task]));
}

/** True where a task that works itself is so; looks no further than the first. */
export function someLeaf({ tasks }: Pick<Scope, 'tasks'>, test: (task: Task) => boolean): boolean {
  return tasks.some((task) => (task.inner ? someLeaf(task.inner, test) : test(task)));
}

/** The task that works itself with this id. */
export function leafAt(scope: Scope, taskId: string): Task | undefined {
  return scopeOf(scope, taskId).tasks.find(({ id, inner }) => id === taskId && !inner);
}

/** The scope a task belongs to. */
export function scopeOf(scope: Scope, taskId: string): Scope {
  const around = taskId.includes('/')
    ? scope.tasks.find(({ id, inner }) => inner && taskId.startsWith(`${id}/`))
    : undefined;
  return around?.inner ? scopeOf(around.inner, taskId) : scope;
}

/** The scope with one task changed, however deep it lies. */
export function withTask<S extends Scope>(scope: S, taskId: string, change: (task: Task) => Task): S {
  return {
    ...scope,
    tasks: scope.tasks.map((task) => {
      if (task.id === taskId) return change(task);
      if (!task.inner || !taskId.startsWith(`${task.id}/`)) return task;
      return { ...task, inner: withTask(task.inner, taskId, change) };
    }),
  };
}

/** The scope with every task that works itself changed. */
export function withLeaves<S extends Pick<Scope, 'tasks'>>(scope: S, change: (task: Task) => Task): S {
  return {
    ...scope,
    tasks: scope.tasks.map((task) => (task.inner ? { ...task, inner: withLeaves(task.inner, change) } : change(task))),
  };
}
