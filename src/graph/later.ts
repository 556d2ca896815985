// Calendar arithmetic on moments that were given, not a clock.
/* eslint-disable no-restricted-globals */

/** The moment so many milliseconds after another; both ISO 8601, which sorts as it reads. */
export function later(at: string, milliseconds: number): string {
  return new Date(Date.parse(at) + milliseconds).toISOString();
}
