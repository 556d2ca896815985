import type { z } from 'zod';
import type { Overwrite } from './commands';
import { GraphDefinitionError } from './errors';
import { hidingOf, type HiddenField, type Hiding, type PrivateValue, type UntrackedValue } from './hidden-value';
import type { Json } from './json';

/** How a reduced value is built up from updates. */
export interface ReducerOptions<V, U> {
  /** Validates one update; the value's own schema when left out. */
  readonly inputSchema?: z.ZodType<U>;
  /** Folds an update into the value. Must be pure: it runs in workflow code and again on every replay. */
  readonly reducer: (current: V, update: U) => V;
  /** Completes an update before it is folded, for instance with ids; `prefix` is unique and stable across replays. */
  readonly prepare?: (update: U, prefix: string) => U;
}

// Known by a mark, for instanceof fails where a module was loaded twice. And the mark alone is what a field's type shows:
// anything generic there would take part in inferring a reducer written in place, and make its update `any`.
const REDUCED: unique symbol = Symbol.for('abeyance.reducedValue') as never;

/** A key that folds, whatever its types. */
export interface ReducedField {
  readonly [REDUCED]: true;
}

/**
 * A state key whose updates are folded into its value, so that several nodes may write it in one superstep.
 *
 * @example
 * const log = new ReducedValue(z.array(z.string()).default([]), {
 *   inputSchema: z.string(),
 *   reducer: (lines, line) => [...lines, line],
 * });
 */
export class ReducedValue<V, U = V> implements ReducedField {
  readonly [REDUCED] = true;
  readonly inputSchema: z.ZodType<U>;
  readonly reducer: (current: V, update: U) => V;
  readonly prepare: (update: U, prefix: string) => U;

  constructor(
    readonly valueSchema: z.ZodType<V>,
    options: ReducerOptions<V, U>,
  ) {
    this.inputSchema = options.inputSchema ?? (valueSchema as unknown as z.ZodType<U>);
    this.reducer = options.reducer;
    this.prepare = options.prepare ?? ((update) => update);
  }
}

/** One state key: a plain schema keeps the last value written, a `ReducedValue` folds; either may be hidden. */
export type Field = z.ZodType | ReducedField | HiddenField;

/** What a hidden key holds. */
type Unhidden<T extends Field> = T extends PrivateValue<infer I> | UntrackedValue<infer I> ? I : T;

/** The keys of a state. */
export type Fields = Readonly<Record<string, Field>>;

/** The value a node reads under a key. */
export type ValueOf<T extends Field> = ShownValueOf<Unhidden<T>>;

type ShownValueOf<T> = T extends ReducedValue<infer V, any> ? V : T extends z.ZodType ? z.output<T> : never;

/** What a node may write under a key. */
export type WriteOf<T extends Field> = ShownWriteOf<Unhidden<T>>;

type ShownWriteOf<T> =
  T extends ReducedValue<infer V, infer U> ? U | Overwrite<V> : T extends z.ZodType ? z.output<T> : never;

/** The state as nodes read it. */
export type StateOf<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

/** The keys of a state that callers see. */
export type ShownFields<F extends Fields> = {
  readonly [K in keyof F as F[K] extends HiddenField ? never : K]: F[K];
};

/** What a node may return. */
export type UpdateOf<F extends Fields> = { readonly [K in keyof F]?: WriteOf<F[K]> };

/**
 * The state of a graph: named keys, each with a zod schema, checked whenever something writes them.
 *
 * Values are kept as JSON. A schema that turns into something JSON cannot carry (a Date, say) must be a
 * codec (`z.codec`), since it is encoded at each write and decoded at each read.
 *
 * @example
 * const OrderState = new StateSchema({ order_total: z.number(), approved: z.boolean().default(false) });
 * type Order = typeof OrderState.State;
 */
export class StateSchema<F extends Fields> {
  /** Type only: the state as nodes read it. */
  declare readonly State: StateOf<F>;
  /** Type only: what a node may return. */
  declare readonly Update: UpdateOf<F>;

  readonly fields: F;
  /** The keys that callers do not see, and how they are hidden. */
  readonly hidden: ReadonlyMap<string, Hiding>;

  constructor(fields: F) {
    const entries = Object.entries<Field>(fields).map(([key, field]) => ({ key, ...revealed(field) }));
    this.fields = Object.fromEntries(entries.map(({ key, field }) => [key, field])) as F;
    this.hidden = new Map(entries.flatMap(({ key, hiding }) => (hiding ? [[key, hiding] as const] : [])));
    for (const { key, field } of entries) {
      if (isReduced(field) || isZodSchema(field)) continue;
      throw new GraphDefinitionError(
        'INVALID_STATE_SCHEMA',
        `State key "${key}" is neither a zod schema nor a ReducedValue. Give it one, for instance z.string().`,
      );
    }
  }
}

function revealed(field: Field): { readonly field: Field; readonly hiding: Hiding | undefined } {
  const hiding = typeof field === 'object' && field !== null ? hidingOf(field) : undefined;
  return { field: hiding ? (field as PrivateValue<z.ZodType>).field : field, hiding };
}

// zod may be loaded twice (a bundle, a linked package), so instanceof would refuse good schemas.
function isZodSchema(value: unknown): value is z.ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value;
}

/** True for a key that folds, also one made by another copy of this module. */
export function isReduced(field: Field): field is ReducedValue<any, any> {
  return typeof field === 'object' && field !== null && REDUCED in field;
}

/** The schema a key's value is read and written by. */
export function valueSchemaOf(field: Field): z.ZodType {
  return isReduced(field) ? field.valueSchema : (field as z.ZodType);
}

/** The schema an update of a key is written by. */
export function inputSchemaOf(field: Field): z.ZodType {
  return isReduced(field) ? field.inputSchema : (field as z.ZodType);
}

/** The keys that a node reads, of those that have a value; all where it declares none. */
export function readsOf(channels: Channels, reads: readonly string[] | undefined): Channels {
  if (!reads) return channels;
  return Object.fromEntries(
    reads.filter((key) => Object.hasOwn(channels, key)).map((key) => [key, channels[key] as Json]),
  );
}

/** What callers see of a state. */
export function shownOf({ hidden }: StateSchema<Fields>, channels: Channels): Channels {
  if (hidden.size === 0) return channels;
  return Object.fromEntries(Object.entries(channels).filter(([key]) => !hidden.has(key)));
}

/** A state in which what only the superstep that ends could see is as it was at first. */
export function trackedOf(
  schema: StateSchema<Fields>,
  channels: Channels,
  initial: (schema: StateSchema<Fields>) => Channels,
): Channels {
  const { hidden } = schema;
  if (![...hidden.values()].includes('untracked')) return channels;
  const untracked = (wanted: boolean, from: Channels): Channels =>
    Object.fromEntries(Object.entries(from).filter(([key]) => (hidden.get(key) === 'untracked') === wanted));
  return { ...untracked(false, channels), ...untracked(true, initial(schema)) };
}

/** A state as it is recorded: JSON under the keys that have a value. */
export type Channels = Readonly<Record<string, Json>>;
