import { breakpointAt, questionOf } from './breakpoint';
import { cacheKeyOf } from './cache';
import type { AnyGraph } from './compiled-graph';
import { GraphRunError } from './errors';
import type { Frame } from './frame';
import type { JsonObject } from './json';
import type { GraphNode, NodeDefinition } from './node-definition';
import { callsOf, planNext, tasksOf, type Plan } from './plan';
import type { ParentWrites, Scope } from './scope';
import { trackedOf, type Channels } from './state-schema';
import { enterSubgraph, frameWithin, outcomeOfSubgraph, type SharedKey } from './subgraph';
import { newTask, writesOf, type Task } from './task';
import { applyWrites, claimedKeys, initialChannels, prefixOf, refuseConflicts, type Write } from './write-state';

/**
 * Moves a scope on as far as its finished tasks allow: ends subgraphs, applies writes, plans the next superstep.
 *
 * @throws {StateError} where writes do not fit. @throws {GraphRunError} where a reducer or router fails, or at the limit.
 */
export function progress<S extends Scope>(frame: Frame, scope: S): S {
  const tasks = scope.tasks.some(({ inner }) => inner)
    ? scope.tasks.map((task) => (task.inner ? progressWithin(frame, task, task.inner) : task))
    : scope.tasks;
  const next: S = tasks === scope.tasks ? scope : { ...scope, tasks };
  if (next.held) {
    const { held: plan, ...rest } = next;
    return tasks.some(({ open }) => open.length > 0) ? next : begin(frame, rest as unknown as S, plan);
  }
  if (tasks.length === 0) return next;
  if (next !== scope) refuseConflicts(frame.graph.schema, tasks.flatMap(writesOf));
  return tasks.every(({ phase }) => phase === 'done') ? advance(frame, next) : next;
}

/** Refuses what a finished task wrote where a finished sibling wrote the same. @throws {StateError} `STATE_CONCURRENT_UPDATE`. */
export function refuseConflictsOf({ schema }: AnyGraph, { tasks }: Scope, taskId: string): void {
  const own = tasks.filter(({ id }) => id === taskId).flatMap(writesOf);
  if (own.every((write) => claimedKeys(schema, write).length === 0)) return;
  refuseConflicts(schema, tasks.flatMap(writesOf));
}

/** The state, with the writes of the tasks that have finished in this superstep. */
export function written(graph: AnyGraph, { channels, tasks }: Scope): Channels {
  const writes = tasks.flatMap(writesOf);
  const kept = trackedOf(graph.schema, channels, initialChannels);
  return writes.length === 0 ? kept : applyWrites(graph.schema, kept, writes);
}

// The writes and the next tasks come in together: where the limit is met, the finished tasks still hold their writes.
function advance<S extends Scope>(frame: Frame, scope: S): S {
  const { channels, tasks, pending } = scope;
  const toParent = commandsToParent(frame, tasks);
  const plan = toParent ? NOTHING_MORE : planNext(frame.graph, channels, tasks, pending);
  const next: S = {
    ...scope,
    ...(frame.shared && { written: sharedWrites(frame.shared, scope.written ?? [], tasks) }),
    ...(toParent && { toParent }),
  };
  const values = written(frame.graph, scope);
  if (frame.prefix === '') frame.watch?.({ kind: 'values', step: scope.step, values }, frame.at);
  return enter(frame, next, plan, values, [...new Set(tasks.map(({ node }) => node))]);
}

const NOTHING_MORE: Plan = { nodes: [], sends: [], pending: { joins: {}, deferred: [] } };

/** Begins the planned superstep, or holds it at a breakpoint; with nothing planned, the scope has ended. */
export function enter<S extends Scope>(
  frame: Frame,
  scope: S,
  plan: Plan,
  channels: Channels,
  finished: readonly string[] = [],
): S {
  const { step, taken, limit } = scope;
  const { pending } = plan;
  if (plan.nodes.length === 0 && plan.sends.length === 0) return { ...scope, channels, tasks: [], pending };
  if (taken >= limit) {
    const message = `"${frame.graph.name}" took ${limit} supersteps and has more to do (${plan.nodes.join(', ')}). Give it an end, or raise recursionLimit.`;
    throw new GraphRunError('GRAPH_RECURSION_LIMIT', message, plan.nodes[0]);
  }
  const next: S = { ...scope, channels, pending, step: step + 1, taken: taken + 1 };
  const stop = breakpointAt(frame, plan, finished);
  if (!stop) return begin(frame, next, plan);
  const [first, ...others] = tasksOf(plan, next.step, frame).map((task): Task => ({ ...task, phase: 'held' }));
  const held = first && { ...first, phase: 'waiting' as const, open: [questionOf(frame, stop, first, plan)] };
  return { ...next, tasks: held ? [held, ...others] : others, held: plan };
}

/** The superstep as it is when it begins: nothing is kept but what tasks were given from outside. */
export function afresh<S extends Scope>(frame: Frame, scope: S): S {
  if (scope.held) return scope;
  const anew = (task: Task): readonly Task[] => {
    const { id, node, step, group, input, call, edited } = task;
    const isTools = frame.graph.shape.nodes.get(node)?.kind === 'tools';
    if (edited || (isTools && call === undefined)) return [task];
    const bare = newTask({ id, node, step, group, ...(input !== undefined && { input }) });
    return isTools ? [{ ...bare, call }] : opened(frame, scope, bare);
  };
  return { ...scope, tasks: scope.tasks.flatMap(anew) };
}

function begin<S extends Scope>(frame: Frame, scope: S, plan: Plan): S {
  const tasks = tasksOf(plan, scope.step, frame).flatMap((task) => opened(frame, scope, task));
  return progress(frame, { ...scope, tasks });
}

function opened(frame: Frame, scope: Scope, task: Task): readonly Task[] {
  const definition = frame.graph.shape.nodes.get(task.node) as NodeDefinition;
  switch (definition.kind) {
    case 'tools':
      return callsOf(frame.graph, definition, task, scope.channels);
    case 'graph':
      return [definition.run === 'child' && !frame.inline ? task : entered(frame, scope, task, definition)];
    case 'activity':
    case 'model':
    case 'workflow':
      return [definition.cache ? fromCache(frame, scope, task, definition) : task];
    default:
      return definition satisfies never;
  }
}

function fromCache(frame: Frame, scope: Scope, task: Task, definition: NodeDefinition): Task {
  const cacheKey = cacheKeyOf(frame.graph, definition, task, scope.channels);
  const outcome = frame.cached(cacheKey);
  if (!outcome) return { ...task, cacheKey };
  const done: Task = { ...task, phase: 'done', outcome };
  frame.watch?.({ kind: 'done', task: done, cached: true }, frame.at);
  return done;
}

function entered(frame: Frame, scope: Scope, task: Task, definition: GraphNode): Task {
  const within = frameWithin(frame, task, definition);
  const { start, plan } = enterSubgraph(frame, scope, task, definition);
  const begun: Task = { ...task, phase: 'entered', visit: 1 };
  frame.watch?.({ kind: 'entered', task: begun }, frame.at);
  return { ...begun, inner: enter(within, start, plan, start.channels) };
}

function progressWithin(frame: Frame, task: Task, before: Scope): Task {
  const definition = frame.graph.shape.nodes.get(task.node) as GraphNode;
  const inner = progress(frameWithin(frame, task, definition), before);
  if (inner.tasks.length > 0) return { ...task, inner };
  const { inner: _, ...rest } = task;
  const done: Task = { ...rest, phase: 'done', outcome: outcomeOfSubgraph(frame, task, definition, inner) };
  frame.watch?.({ kind: 'done', task: done }, frame.at);
  return done;
}

function commandsToParent(frame: Frame, tasks: readonly Task[]): ParentWrites | undefined {
  const told = tasks.flatMap(({ outcome, node }) => (outcome?.toParent ? [{ node, ...outcome.toParent }] : []));
  const [first] = told;
  if (!first) return undefined;
  if (frame.prefix === '' && frame.within === undefined) {
    const message = `"${first.node}" returned a Command for the parent graph, but "${frame.graph.name}" runs in no other graph. Leave out graph: Command.PARENT.`;
    throw new GraphRunError('NO_PARENT_GRAPH', message, first.node);
  }
  return { updates: told.flatMap(({ updates }) => updates), goto: told.flatMap(({ goto }) => goto) };
}

// Of a key that is handed over as its last value, only that it was written matters.
function sharedWrites(
  shared: readonly SharedKey[],
  before: readonly Write[],
  tasks: readonly Task[],
): readonly Write[] {
  const marked = new Set(before.flatMap(({ update }) => Object.keys(update)));
  const written = tasks.flatMap(writesOf).map((write): Write => {
    const keys = shared.filter(({ key, folds }) => Object.hasOwn(write.update, key) && (folds || !marked.has(key)));
    keys.forEach(({ key }) => marked.add(key));
    const entries = keys.map(({ key, folds }) => [key, folds ? write.update[key] : null]);
    return { ...write, update: Object.fromEntries(entries) as JsonObject, prefix: prefixOf(write) };
  });
  return [...before, ...written.filter(({ update }) => Object.keys(update).length > 0)];
}
