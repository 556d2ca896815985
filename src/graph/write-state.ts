import { z } from 'zod';
import { Overwrite, isOverwrite } from './commands';
import { GraphRunError, StateError, messageOf, type ErrorCode } from './errors';
import { explainMismatch } from './explain-mismatch';
import { isJsonObject, NotJsonError, toJson, type Json, type JsonObject } from './json';
import {
  inputSchemaOf,
  isReduced,
  type ReducedValue,
  valueSchemaOf,
  type Channels,
  type Field,
  type Fields,
  type StateSchema,
} from './state-schema';

/** The key by which an `Overwrite` is known once it is JSON. */
export const OVERWRITE = '__overwrite__';

/** An update by whom it was written, ready to be applied. */
export interface Write {
  /** The node's name, or `input`. */
  readonly node: string;
  /** The task that wrote; with `index`, what ids of new messages are made of. */
  readonly task: string;
  /** Which of the task's updates this is. */
  readonly index: number;
  /** What ids of new messages are made of, where they were made of something in a subgraph already. */
  readonly prefix?: string;
  readonly update: JsonObject;
}

/**
 * Encodes what a node returned, or a caller gave, as the JSON that is recorded.
 *
 * @throws {StateError} `STATE_UNKNOWN_KEY`, `STATE_INVALID` or `STATE_NOT_JSON`, naming node and key.
 */
export function encodeUpdate(schema: StateSchema<Fields>, update: unknown, node: string): JsonObject {
  if (typeof update !== 'object' || update === null || Array.isArray(update)) {
    const message = `"${node}" gave ${describe(update)} as a state update. Return an object of state keys, {} for none.`;
    throw new StateError('INVALID_NODE_RETURN', message, node);
  }
  const encoded: Record<string, Json> = {};
  for (const [key, value] of Object.entries(update)) {
    if (value === undefined) continue;
    encoded[key] = encodeWrite(fieldOf(schema, key, node), value, node, key);
  }
  return encoded;
}

/**
 * Encodes what a caller starts a run with.
 *
 * @throws {StateError} as `encodeUpdate`, also for a key that only nodes see.
 */
export function encodeInput(schema: StateSchema<Fields>, input: unknown): JsonObject {
  refuseHidden(schema, input);
  return encodeUpdate(schema, input, 'input');
}

/** Refuses an input that sets what only nodes see. @throws {StateError} `STATE_UNKNOWN_KEY`. */
export function refuseHidden({ hidden }: StateSchema<Fields>, input: unknown): void {
  if (typeof input !== 'object' || input === null) return;
  const key = Object.keys(input).find((one) => hidden.has(one));
  if (key === undefined) return;
  const message = `The input sets the state key "${key}", which only nodes see. Leave it out.`;
  throw new StateError('STATE_UNKNOWN_KEY', message, 'input', key);
}

/**
 * Reads an update that is encoded already, as a caller without our client sends it, and proves that it fits.
 *
 * @throws {StateError} as `encodeUpdate`.
 */
export function readEncodedUpdate(schema: StateSchema<Fields>, update: unknown, node: string): JsonObject {
  if (!isJsonObject(update)) return encodeUpdate(schema, update, node);
  const decoded: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(update)) {
    const field = fieldOf(schema, key, node);
    const replacement = isReduced(field) ? overwritten(value) : undefined;
    if (replacement) {
      decoded[key] = new Overwrite(decodeValue(valueSchemaOf(field), replacement.value as Json, node, key));
    } else {
      decoded[key] = decodeValue(inputSchemaOf(field), value, node, key);
    }
  }
  return encodeUpdate(schema, decoded, node);
}

function fieldOf(schema: StateSchema<Fields>, key: string, node: string): Field {
  const field = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
  if (field) return field;
  const known = Object.keys(schema.fields).join(', ');
  const message = `"${node}" wrote the state key "${key}", which the StateSchema does not have. It has: ${known}.`;
  throw new StateError('STATE_UNKNOWN_KEY', message, node, key);
}

function encodeWrite(field: Field, value: unknown, node: string, key: string): Json {
  if (!isReduced(field)) return encodeValue(valueSchemaOf(field), value, node, key);
  const replacement = overwritten(value);
  if (replacement) return { [OVERWRITE]: encodeValue(field.valueSchema, replacement.value, node, key) };
  return encodeValue(field.inputSchema, value, node, key);
}

/** An `Overwrite`, or its JSON form as it arrives from a caller without the class. */
function overwritten(value: unknown): Overwrite | undefined {
  if (isOverwrite(value)) return value;
  if (!isJsonObject(value) || Object.keys(value).length !== 1 || !(OVERWRITE in value)) return undefined;
  return new Overwrite(value[OVERWRITE]);
}

/** Encodes one value by its schema and proves that JSON carries it. */
export function encodeValue(schema: z.ZodType, value: unknown, node: string, key: string): Json {
  const encoded = guarded(node, key, `wrote ${describe(value)} that its schema does not accept`, () =>
    z.encode(schema, value),
  );
  try {
    return toJson(encoded, key);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    const message = `"${node}" wrote the state key "${key}", but ${error.message}. Write plain JSON, or give the key a z.codec.`;
    throw new StateError('STATE_NOT_JSON', message, node, key, { cause: error });
  }
}

/** Decodes one recorded value by its schema, into a copy: whoever reads may change it, and schemas such as `z.any()` copy nothing. */
export function decodeValue(schema: z.ZodType, value: Json | undefined, node: string, key: string): unknown {
  return guarded(node, key, 'holds a value that its schema does not read back', () =>
    z.decode(schema, value === undefined ? undefined : toJson(value)),
  );
}

function guarded<T>(node: string, key: string, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code: ErrorCode = 'STATE_INVALID';
    throw new StateError(code, `State key "${key}" of "${node}" ${what}: ${explain(error)}`, node, key, {
      cause: error,
    });
  }
}

function explain(error: unknown): string {
  if (error instanceof Error && 'issues' in error && Array.isArray(error.issues)) {
    return explainMismatch(error as z.ZodError);
  }
  return messageOf(error);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** The values a run starts with before anything is written: the schemas' defaults. */
export function initialChannels(schema: StateSchema<Fields>): Channels {
  const channels: Record<string, Json> = {};
  for (const [key, field] of Object.entries(schema.fields)) {
    const valueSchema = valueSchemaOf(field);
    const initial = guarded('input', key, 'has a default that fails', () => valueSchema.safeParse(undefined));
    if (initial.success && initial.data !== undefined) {
      channels[key] = encodeValue(valueSchema, initial.data, 'input', key);
    }
  }
  return channels;
}

/** The state as a node reads it: all keys, or only those it declares. */
export function decodeState(
  schema: StateSchema<Fields>,
  channels: Channels,
  node: string,
  reads?: readonly string[],
): Record<string, unknown> {
  const state: Record<string, unknown> = {};
  for (const key of reads ?? Object.keys(schema.fields)) {
    const field = fieldOf(schema, key, node);
    if (Object.hasOwn(channels, key)) state[key] = decodeValue(valueSchemaOf(field), channels[key], node, key);
  }
  return state;
}

/**
 * Applies the writes of one superstep in the order given.
 *
 * @throws {StateError} `STATE_CONCURRENT_UPDATE` where two writers met on a key that keeps the last value.
 * @throws {GraphRunError} `REDUCER_FAILED` where a reducer threw.
 */
export function applyWrites(schema: StateSchema<Fields>, channels: Channels, writes: readonly Write[]): Channels {
  refuseConflicts(schema, writes);
  const next: Record<string, Json> = { ...channels };
  const replaced = new Set<string>();
  const lastOverwrite = lastOverwrites(writes);
  for (const [index, write] of writes.entries()) {
    for (const [key, value] of Object.entries(write.update)) {
      const field = fieldOf(schema, key, write.node);
      if (!isReduced(field)) {
        next[key] = value;
      } else if (isJsonObject(value) && OVERWRITE in value) {
        replaced.add(key);
        next[key] = value[OVERWRITE];
      } else if (!replaced.has(key) && index > (lastOverwrite.get(key) ?? -1)) {
        next[key] = fold(field, next[key], value, key, write);
      }
    }
  }
  return next;
}

/**
 * Refuses writes of one superstep that no order could reconcile.
 *
 * @throws {StateError} `STATE_CONCURRENT_UPDATE` where two writers met on a key that keeps the last value, or on an `Overwrite`.
 */
export function refuseConflicts(schema: StateSchema<Fields>, writes: readonly Write[]): void {
  const owners = new Map<string, string>();
  for (const write of writes) for (const key of claimedKeys(schema, write)) claim(owners, key, write);
}

/** The keys a write sets for itself alone: those that keep one value, and those it overwrites. */
export function claimedKeys(schema: StateSchema<Fields>, { update, node }: Write): readonly string[] {
  return Object.entries(update).flatMap(([key, value]) =>
    isReduced(fieldOf(schema, key, node)) && !(isJsonObject(value) && OVERWRITE in value) ? [] : [key],
  );
}

// One task may write a key several times (a list of commands); two tasks may not.
function claim(owners: Map<string, string>, key: string, { node, task }: Write): void {
  const owner = owners.get(key);
  if (owner !== undefined && owner !== task) {
    const message = `"${node}" (task ${task}) and task ${owner} both set "${key}" in one superstep, and it keeps one value. Let one of them write, or make it a ReducedValue that both add to.`;
    throw new StateError('STATE_CONCURRENT_UPDATE', message, node, key);
  }
  owners.set(key, task);
}

function lastOverwrites(writes: readonly Write[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const [index, { update }] of writes.entries())
    for (const [key, value] of Object.entries(update))
      if (isJsonObject(value) && OVERWRITE in value) last.set(key, index);
  return last;
}

function fold(field: ReducedValue<any, any>, current: Json | undefined, value: Json, key: string, write: Write): Json {
  const update = decodeValue(field.inputSchema, value, write.node, key);
  const before = current === undefined ? undefined : decodeValue(field.valueSchema, current, write.node, key);
  let after: unknown;
  try {
    after = field.reducer(before, field.prepare(update, prefixOf(write)));
  } catch (error) {
    const message = `The reducer of "${key}" failed on an update from "${write.node}": ${messageOf(error)}`;
    throw new GraphRunError('REDUCER_FAILED', message, write.node, { cause: error });
  }
  return encodeValue(field.valueSchema, after, write.node, key);
}

/** What ids of new messages in a write are made of. */
export function prefixOf({ task, index, prefix }: Write): string {
  return prefix ?? (index === 0 ? task : `${task}+${index}`);
}
