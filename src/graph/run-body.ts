import type { z } from 'zod';
import { END, isCommand, isOverwrite, isSend, type Command, type GotoRecord } from './commands';
import type { AnyGraph } from './compiled-graph';
import { GraphRunError, StateError } from './errors';
import { isGraphInterrupt } from './interrupt';
import { isJsonObject, NotJsonError, toJson, type Json, type JsonObject } from './json';
import { withNodeRun, type NodeRun } from './node-run';
import type { CompletedOutcome, InterruptedOutcome, Outcome, RejectedOutcome } from './outcome';
import { encodeUpdate, encodeValue, OVERWRITE } from './write-state';

/** What a body is run with. */
export interface BodyCall {
  readonly graph: AnyGraph;
  readonly body: (state: any) => unknown;
  /** Decoded: what the body sees. */
  readonly state: unknown;
  readonly run: NodeRun;
}

/** How a body's attempt ended: it returned, or it paused. What it throws passes through. */
export type Attempt = { readonly kind: 'returned'; readonly value: unknown } | InterruptedOutcome | RejectedOutcome;

/**
 * Runs one attempt at a node's body and tells how it ended.
 *
 * A pause is a normal outcome; anything else the body throws passes through. Synchronous where the body is, so that a
 * gate in workflow code settles within its turn.
 */
export function runBody({ graph, body, state, run }: BodyCall): Outcome | Promise<Outcome> {
  const conclude = (ended: Attempt): Outcome =>
    ended.kind === 'returned' ? recorded(graph, run.info.node, ended.value) : ended;
  const ended = attempt(run, () => body(state));
  return ended instanceof Promise ? ended.then(conclude) : conclude(ended);
}

/** Runs a body that may ask questions. One that swallowed its pause is paused all the same. */
export function attempt(run: NodeRun, body: () => unknown): Attempt | Promise<Attempt> {
  let result: unknown;
  try {
    result = withNodeRun(run, body);
  } catch (error) {
    return run.onceInFlight.size === 0 ? failed(run, error) : run.settleOnce().then(() => failed(run, error));
  }
  if (!isPromiseLike(result)) return returned(run, result);
  // An effect that has begun must be on record before the pause is, or it would run again.
  return Promise.resolve(result).then(
    (value) => run.settleOnce().then(() => returned(run, value)),
    (error: unknown) => run.settleOnce().then(() => failed(run, error)),
  );
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function returned(run: NodeRun, value: unknown): Attempt {
  return close(run) ?? { kind: 'returned', value };
}

function failed(run: NodeRun, error: unknown): Attempt {
  const pause = close(run);
  if (pause) return pause;
  throw isGraphInterrupt(error)
    ? new Error('a pause of another node was thrown into this one', { cause: error })
    : error;
}

function close(run: NodeRun): InterruptedOutcome | RejectedOutcome | undefined {
  run.phase = 'closed';
  const once = Object.fromEntries(run.once);
  if (run.rejected) return { kind: 'rejected', question: run.rejected.id, reason: run.rejected.reason, once };
  if (run.asked.length === 0) return undefined;
  return { kind: 'interrupted', questions: [...run.asked], once };
}

/**
 * Turns what a node returned into the outcome that is recorded.
 *
 * @throws {StateError} when a value does not fit the state. @throws {GraphRunError} `UNKNOWN_GOTO`.
 */
export function recorded(graph: AnyGraph, node: string, result: unknown): CompletedOutcome {
  const updates: JsonObject[] = [];
  const goto: GotoRecord[] = [];
  const toParent: { updates: JsonObject[]; goto: GotoRecord[] }[] = [];
  for (const item of Array.isArray(result) ? (result as unknown[]) : [result]) {
    if (item === undefined || item === null) continue;
    if (!isCommand(item)) {
      updates.push(encodeUpdate(graph.schema, item, node));
      continue;
    }
    if (item.resumes) {
      throw new StateError(
        'INVALID_NODE_RETURN',
        `"${node}" returned a Command with resume, which only a client may send.`,
        node,
      );
    }
    if (item.graph !== undefined) {
      toParent.push(recordedForParent(node, item));
      continue;
    }
    if (item.update !== undefined) updates.push(encodeUpdate(graph.schema, item.update, node));
    goto.push(...recordGoto(graph, node, item.goto));
  }
  if (toParent.length === 0) return { kind: 'completed', updates, goto };
  const merged = { updates: toParent.flatMap((one) => one.updates), goto: toParent.flatMap((one) => one.goto) };
  return { kind: 'completed', updates, goto, toParent: merged };
}

// Only the graph around this one knows its state and its nodes; it checks both when the command reaches it.
function recordedForParent(
  node: string,
  { update, goto }: Command<unknown>,
): { updates: JsonObject[]; goto: GotoRecord[] } {
  const plain = update === undefined ? {} : sendable(node, 'the parent graph', overwritesAsJson(update));
  if (!isJsonObject(plain)) {
    const message = `"${node}" gave its parent graph ${String(update)} as a state update. Give an object of state keys.`;
    throw new StateError('INVALID_NODE_RETURN', message, node);
  }
  return {
    updates: Object.keys(plain).length === 0 ? [] : [plain],
    goto: gotoRecords(node, goto, String, (target, input) => sendable(node, target, input)),
  };
}

function overwritesAsJson(update: unknown): unknown {
  if (typeof update !== 'object' || update === null) return update;
  return Object.fromEntries(
    Object.entries(update)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, isOverwrite(value) ? { [OVERWRITE]: value.value } : value]),
  );
}

/** Turns a goto, from a command or a router, into what is recorded; END leads nowhere. */
export function recordGoto(graph: AnyGraph, node: string, goto: unknown): GotoRecord[] {
  const records = gotoRecords(
    node,
    goto,
    (target) => knownNode(graph, node, target),
    (target, input) => {
      const schema = inputOf(graph, target);
      return schema ? encodeValue(schema, input, `${node} → ${target}`, 'input') : sendable(node, target, input);
    },
  );
  const bare = records.find((record) => record.kind === 'node' && inputOf(graph, record.node) !== undefined);
  if (!bare) return records;
  const message = `"${node}" goes to "${bare.node}", which takes an input of its own. Send it one: new Send('${bare.node}', …).`;
  throw new GraphRunError('UNKNOWN_GOTO', message, node);
}

function inputOf(graph: AnyGraph, node: string): z.ZodType | undefined {
  const definition = graph.shape.nodes.get(node);
  return definition && definition.kind !== 'graph' ? definition.input : undefined;
}

function gotoRecords(
  node: string,
  goto: unknown,
  nameOf: (target: unknown) => string,
  encode: (target: string, input: unknown) => Json,
): GotoRecord[] {
  if (goto === undefined) return [];
  const targets: readonly unknown[] = Array.isArray(goto) ? goto : [goto];
  return targets.flatMap((target): GotoRecord[] => {
    if (target === END) return [];
    if (!isSend(target)) return [{ kind: 'node', node: nameOf(target) }];
    const name = nameOf(target.node);
    return [{ kind: 'send', node: name, input: encode(name, target.input) }];
  });
}

/** A node a goto names. @throws {GraphRunError} `UNKNOWN_GOTO`. */
export function knownNode(graph: AnyGraph, node: string, target: unknown): string {
  if (typeof target === 'string' && graph.shape.nodes.has(target)) return target;
  const known = [...graph.shape.nodes.keys()].join(', ');
  const shown = typeof target === 'string' ? `"${target}"` : String(target);
  throw new GraphRunError(
    'UNKNOWN_GOTO',
    `"${node}" goes to ${shown}, which is no node of "${graph.name}". The nodes are: ${known}, and END.`,
    node,
  );
}

function sendable(node: string, target: string, input: unknown): Json {
  try {
    return toJson(input ?? null, 'input');
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    const message = `"${node}" sends "${target}" something that cannot be recorded: ${error.message}. Send plain JSON.`;
    throw new StateError('STATE_NOT_JSON', message, node, undefined, { cause: error });
  }
}
