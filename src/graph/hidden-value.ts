import type { z } from 'zod';
import type { ReducedField } from './state-schema';

const HIDDEN: unique symbol = Symbol.for('abeyance.hiddenValue') as never;

/** How a key is hidden: from callers only, or also from every superstep but the next. */
export type Hiding = 'private' | 'untracked';

/** A key that nodes see and callers do not, whatever its types. */
export interface HiddenField {
  readonly [HIDDEN]: Hiding;
}

/**
 * A state key for nodes alone: no input may set it, and no result, `getState` or memo shows it.
 *
 * It is kept with the run and stands in the recorded inputs of the nodes that read it, so it is no place for secrets.
 * A thread's next run begins without it.
 *
 * @example const State = new StateSchema({ answer: z.string(), notes: new PrivateValue(z.array(z.string()).default([])) });
 */
export class PrivateValue<T extends z.ZodType | ReducedField> implements HiddenField {
  readonly [HIDDEN] = 'private';
  constructor(readonly field: T) {}
}

/**
 * A state key that only the superstep after its write sees, and that nothing shows or keeps beyond it.
 *
 * @example const State = new StateSchema({ answer: z.string(), page: new UntrackedValue(z.string().optional()) });
 */
export class UntrackedValue<T extends z.ZodType | ReducedField> implements HiddenField {
  readonly [HIDDEN] = 'untracked';
  constructor(readonly field: T) {}
}

/** How a field is hidden, also one made by another copy of this module; undefined where it is not. */
export function hidingOf(field: object): Hiding | undefined {
  return HIDDEN in field ? (field as HiddenField)[HIDDEN] : undefined;
}
