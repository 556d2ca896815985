import { START, type GotoRecord, type SendRecord } from './commands';
import type { AnyGraph } from './compiled-graph';
import { GraphRunError, messageOf } from './errors';
import type { Message } from './messages';
import type { ToolsNode } from './node-definition';
import { recordGoto } from './run-body';
import { isJsonObject } from './json';
import type { Channels } from './state-schema';
import { newTask, writesOf, type Task } from './task';
import { openToolCalls } from './tool-node';
import { callTasks } from './call-tasks';
import { applyWrites, decodeState } from './write-state';

/** What has been triggered but does not run yet: joins half met, and deferred nodes. */
export interface Pending {
  /** By join, as `from+from→to`: the sources that have run. */
  readonly joins: Readonly<Record<string, readonly string[]>>;
  readonly deferred: readonly string[];
}

/** The next superstep: which nodes run, and which Sends. */
export interface Plan {
  readonly nodes: readonly string[];
  readonly sends: readonly SendRecord[];
  readonly pending: Pending;
}

/** What a group of tasks leads to: the nodes that ran, and their commands' gotos. */
interface Source {
  readonly node: string;
  readonly goto: readonly GotoRecord[];
  /** The state with this group's own writes. */
  readonly channels: Channels;
}

/** Plans the first superstep from START. */
export function planStart(graph: AnyGraph, channels: Channels): Plan {
  return settle(graph, [{ node: START, goto: [], channels }], { joins: {}, deferred: [] });
}

/** Plans the superstep after these finished tasks, which ran on `before`. */
export function planNext(graph: AnyGraph, before: Channels, tasks: readonly Task[], pending: Pending): Plan {
  const groups = new Map<string, Task[]>();
  for (const task of tasks) groups.set(task.group, [...(groups.get(task.group) ?? []), task]);
  const sources = [...groups.values()].map((group): Source => {
    const node = (group[0] as Task).node;
    const routed = graph.shape.branches.some(({ from }) => from === node);
    return {
      node,
      goto: group.flatMap(({ outcome }) => outcome?.goto ?? []),
      channels: routed ? applyWrites(graph.schema, before, group.flatMap(writesOf)) : before,
    };
  });
  return settle(graph, sources, pending);
}

function settle(graph: AnyGraph, sources: readonly Source[], pending: Pending): Plan {
  const targets = sources.flatMap((source) => [...source.goto, ...route(graph, source)]);
  const joined = meetJoins(graph, sources, pending.joins);
  const named = new Set([...targets.flatMap((target) => (target.kind === 'node' ? [target.node] : [])), ...joined.met]);
  const sends = targets.filter((target): target is SendRecord => target.kind === 'send');
  const isDeferred = (name: string): boolean => graph.shape.nodes.get(name)?.defer === true;
  const now = [...named].filter((name) => !isDeferred(name));
  const deferred = [...new Set([...pending.deferred, ...[...named].filter(isDeferred)])];
  if (now.length > 0 || sends.length > 0) {
    return { nodes: now.sort(), sends, pending: { joins: joined.waiting, deferred } };
  }
  return { nodes: deferred.sort(), sends, pending: { joins: joined.waiting, deferred: [] } };
}

function route(graph: AnyGraph, { node, channels }: Source): GotoRecord[] {
  const { edges, branches } = graph.shape;
  const direct = edges.filter(({ from, to }) => from === node && graph.shape.nodes.has(to));
  return [
    ...direct.map(({ to }): GotoRecord => ({ kind: 'node', node: to })),
    ...branches
      .filter(({ from }) => from === node)
      .flatMap(({ router }) => recordGoto(graph, node, choose(graph, node, router, channels))),
  ];
}

function choose(graph: AnyGraph, node: string, router: (state: any) => unknown, channels: Channels): unknown {
  const state = decodeState(graph.schema, channels, node);
  let chosen: unknown;
  try {
    chosen = router(state);
  } catch (error) {
    throw new GraphRunError('ROUTER_FAILED', `The router behind "${node}" failed: ${messageOf(error)}`, node, {
      cause: error,
    });
  }
  if (typeof chosen === 'string' || (typeof chosen === 'object' && chosen !== null && !('then' in chosen)))
    return chosen;
  throw new GraphRunError(
    'ROUTER_FAILED',
    `The router behind "${node}" returned ${String(chosen)}. Return a node's name, END, a Send or a list, and not through a promise.`,
    node,
  );
}

function meetJoins(
  { shape }: AnyGraph,
  sources: readonly Source[],
  before: Pending['joins'],
): { readonly met: readonly string[]; readonly waiting: Pending['joins'] } {
  const met: string[] = [];
  const waiting: Record<string, readonly string[]> = {};
  for (const { from, to } of shape.joins) {
    const key = `${from.join('+')}→${to}`;
    const seen = new Set([
      ...(before[key] ?? []),
      ...sources.map(({ node }) => node).filter((node) => from.includes(node)),
    ]);
    if (seen.size < from.length) {
      if (seen.size > 0) waiting[key] = [...seen];
    } else if (shape.nodes.has(to)) met.push(to);
  }
  return { met, waiting };
}

/** What ids begin with: those of tasks, and of the messages that they write where they are a subgraph's. */
interface TaskIds {
  readonly prefix: string;
  readonly within?: string;
}

/** The tasks of a plan, in the order their writes will be applied: nodes by name, then Sends as they were made. */
export function tasksOf(plan: Plan, step: number, { prefix, within }: TaskIds): readonly Task[] {
  const seen = new Map<string, number>();
  const inside = within === undefined ? {} : { within };
  return [
    ...plan.nodes.map((node) => newTask({ id: `${prefix}${step}.${node}`, node, step, ...inside })),
    ...plan.sends.map(({ node, input }) => {
      const index = seen.get(node) ?? 0;
      seen.set(node, index + 1);
      return newTask({ id: `${prefix}${step}.${node}.${index}`, node, step, input, ...inside });
    }),
  ];
}

/** One task for each call of a tool node, so that each is recorded, retried and kept by itself. */
export function callsOf(graph: AnyGraph, definition: ToolsNode, task: Task, channels: Channels): readonly Task[] {
  const source = isJsonObject(task.input) ? task.input : channels;
  const state = decodeState(graph.schema, source, task.node, [definition.messages]);
  const calls = openToolCalls((state[definition.messages] ?? []) as readonly Message[]);
  if (calls.length === 0) return [{ ...task, phase: 'done', outcome: { kind: 'completed', updates: [], goto: [] } }];
  return callTasks(task, definition, calls);
}
