import { Send, type GotoRecord } from './commands';
import type { AnyGraph } from './compiled-graph';
import { GraphRunError, messageOf, StateError } from './errors';
import { isJsonObject, type Json, type JsonObject } from './json';
import type { GraphNode, NodeDefinition } from './node-definition';
import type { CompletedOutcome } from './outcome';
import { planStart, type Plan } from './plan';
import { recorded, recordGoto } from './run-body';
import type { Scope } from './scope';
import { isReduced, valueSchemaOf, type Channels, type Field, type Fields, type StateSchema } from './state-schema';
import type { Frame } from './frame';
import { nodePathOf, type Task } from './task';
import {
  applyWrites,
  decodeState,
  decodeValue,
  encodeUpdate,
  encodeValue,
  initialChannels,
  OVERWRITE,
  readEncodedUpdate,
  type Write,
} from './write-state';

type Schema = StateSchema<Fields>;

/** A state key that a subgraph shares with the graph around it. */
export interface SharedKey {
  readonly key: string;
  /** Both fold it: updates are handed over one by one, else the last value is. */
  readonly folds: boolean;
}

/** The keys that both states have by name, and show or hide alike. */
export function sharedKeys(around: Schema, within: Schema): readonly SharedKey[] {
  return Object.keys(within.fields)
    .filter((key) => Object.hasOwn(around.fields, key) && around.hidden.get(key) === within.hidden.get(key))
    .map((key) => ({ key, folds: isReduced(around.fields[key] as Field) && isReduced(within.fields[key] as Field) }));
}

/** The graph that runs in a task that was entered. */
export function graphWithin(graph: AnyGraph, task: Task): AnyGraph {
  return (graph.shape.nodes.get(task.node) as GraphNode).graph;
}

/** The graph that a path of nodes leads to: of `review/ask`, the one that runs in `review`. */
export function graphAround(graph: AnyGraph, path: string): AnyGraph {
  const [first = '', ...rest] = path.split('/');
  const definition = graph.shape.nodes.get(first);
  return rest.length > 0 && definition?.kind === 'graph' ? graphAround(definition.graph, rest.join('/')) : graph;
}

/** The node at a path of nodes, `review/ask`; undefined where there is none. */
export function definitionAt(graph: AnyGraph, path: string): NodeDefinition | undefined {
  const [first = '', ...rest] = path.split('/');
  const definition = graph.shape.nodes.get(first);
  if (rest.length === 0) return definition;
  return definition?.kind === 'graph' ? definitionAt(definition.graph, rest.join('/')) : undefined;
}

/** The frame of the subgraph that runs in a task. */
export function frameWithin(frame: Frame, task: Task, { graph, output }: GraphNode): Frame {
  const shared = output ? [] : sharedKeys(frame.graph.schema, graph.schema);
  return { ...frame, graph, prefix: `${task.id}/`, shared };
}

/**
 * A subgraph at its start: on the keys it shares with the graph around it, or on what `input` makes of the state.
 *
 * A Send's input is the subgraph's own input.
 */
export function enterSubgraph(
  frame: Frame,
  scope: Scope,
  task: Task,
  definition: GraphNode,
): { readonly start: Scope; readonly plan: Plan } {
  const { graph } = definition;
  const channels = startOfSubgraph(frame, scope, task, definition);
  const base = { limit: graph.recursionLimit, step: 0, taken: 0, tasks: [], pending: { joins: {}, deferred: [] } };
  return { start: { ...base, channels }, plan: planStart(graph, channels) };
}

/** The state that a subgraph starts on. */
export function startOfSubgraph(frame: Frame, scope: Scope, task: Task, definition: GraphNode): Channels {
  return startingOn(definition.graph.schema, frame.graph.schema, scope.channels, task, definition);
}

function startingOn(
  schema: Schema,
  around: Schema,
  outside: Channels,
  task: Task,
  { input, reads }: GraphNode,
): Channels {
  const initial = initialChannels(schema);
  const path = nodePathOf(task.id);
  const given = (update: JsonObject): Channels =>
    applyWrites(schema, initial, [{ node: path, task: `${task.id}/0.input`, index: 0, update }]);
  if (task.input !== undefined) return given(readEncodedUpdate(schema, task.input, path));
  if (input) {
    const state = decodeState(around, outside, path, reads);
    return given(
      encodeUpdate(
        schema,
        mapped(path, 'input', () => input(state)),
        path,
      ),
    );
  }
  const seen = sharedKeys(around, schema)
    .map(({ key }) => key)
    .filter((key) => reads?.includes(key) ?? true);
  const values = seen
    .filter((key) => Object.hasOwn(outside, key))
    .map((key) => [key, asValueOf(schema.fields[key] as Field, outside[key] as Json, path, key)]);
  return { ...initial, ...(Object.fromEntries(values) as Channels) };
}

function asValueOf(field: Field, value: Json, node: string, key: string): Json {
  const schema = valueSchemaOf(field);
  return encodeValue(schema, decodeValue(schema, value, node, key), node, key);
}

function mapped<T>(node: string, what: string, map: () => T): T {
  try {
    return map();
  } catch (error) {
    throw new GraphRunError('NODE_FAILED', `The ${what} of subgraph "${node}" failed: ${messageOf(error)}`, node, {
      cause: error,
    });
  }
}

/**
 * What a subgraph that has ended means to the graph around it.
 *
 * Updates that both graphs fold are handed over one by one, as they were written: the graph around folds them into its
 * own value, so nothing comes twice. Of a key that keeps its last value the last one is.
 */
export function outcomeOfSubgraph(
  frame: Frame,
  task: Task,
  definition: GraphNode,
  inner: Pick<Scope, 'channels' | 'written' | 'toParent'>,
): CompletedOutcome {
  const path = nodePathOf(task.id);
  const { graph, output } = definition;
  const own = output
    ? recorded(
        frame.graph,
        path,
        mapped(path, 'output', () => output(decodeState(graph.schema, inner.channels, path))),
      )
    : exported(frame.graph, graph, inner, task.id);
  const told = inner.toParent;
  if (!told) return own;
  return {
    ...own,
    updates: [...own.updates, ...told.updates.map((update) => readEncodedUpdate(frame.graph.schema, update, path))],
    goto: [...own.goto, ...recordGoto(frame.graph, path, told.goto.map(asGoto))],
  };
}

function exported(
  { schema: around }: AnyGraph,
  { schema: within }: AnyGraph,
  { written = [], channels }: Pick<Scope, 'channels' | 'written'>,
  task: string,
): CompletedOutcome {
  const path = nodePathOf(task);
  const keys = sharedKeys(around, within).filter(({ key }) => written.some(({ update }) => Object.hasOwn(update, key)));
  const piecewise = keys.filter(({ key, folds }) => folds && !written.some(({ update }) => isOverwritten(update[key])));
  // A value that was replaced in the subgraph is replaced outside too.
  const whole = keys
    .filter((shared) => !piecewise.includes(shared))
    .map(({ key, folds }) => [key, folds ? { [OVERWRITE]: channels[key] ?? null } : (channels[key] ?? null)]);
  const pieces: readonly Pick<Write, 'update' | 'prefix'>[] = [
    { update: Object.fromEntries(whole) as JsonObject },
    ...written.map(({ update, prefix }) => ({ update: only(update, piecewise), prefix })),
  ].filter(({ update }) => Object.keys(update).length > 0);
  return {
    kind: 'completed',
    updates: pieces.map(({ update }) => readEncodedUpdate(around, update, path)),
    goto: [],
    ...(pieces.length > 0 && { prefixes: pieces.map(({ prefix }) => prefix ?? task) }),
  };
}

function asGoto(record: GotoRecord): string | Send {
  return record.kind === 'send' ? new Send(record.node, record.input) : record.node;
}

function isOverwritten(value: Json | undefined): boolean {
  return isJsonObject(value) && OVERWRITE in value;
}

function only(update: JsonObject, keys: readonly SharedKey[]): JsonObject {
  return Object.fromEntries(Object.entries(update).filter(([name]) => keys.some(({ key }) => key === name)));
}

/** Refuses an update from outside of what a subgraph has at hand: it would never see it, and write over it. */
export function refuseWithinReach(graph: AnyGraph, { tasks }: Scope, update: JsonObject, node: string): void {
  for (const task of tasks) {
    if (!task.inner && !task.child) continue;
    const definition = graph.shape.nodes.get(task.node) as GraphNode;
    if (definition.input && definition.output) continue;
    const shared = sharedKeys(graph.schema, definition.graph.schema).find(({ key }) => Object.hasOwn(update, key));
    if (!shared) continue;
    const message = `The subgraph "${task.node}" is at work on "${shared.key}", so an update of it from outside would be lost. Leave it out, or wait until the subgraph has ended.`;
    throw new StateError('STATE_UPDATE_CONFLICT', message, node, shared.key);
  }
}
