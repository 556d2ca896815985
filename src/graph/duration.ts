import type { Duration } from './node-definition';

// The units of Temporal's durations, in ms.
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(ms|msecs?|milliseconds?)?$/i, 1],
  [/^(s|secs?|seconds?)$/i, 1000],
  [/^(m|mins?|minutes?)$/i, 60_000],
  [/^(h|hrs?|hours?)$/i, 3_600_000],
  [/^(d|days?)$/i, 86_400_000],
  [/^(w|weeks?)$/i, 604_800_000],
  [/^(y|yrs?|years?)$/i, 31_557_600_000],
];

/** How many ms a duration takes, read as Temporal reads it; undefined where it is none. */
export function millisecondsOf(duration: Duration): number | undefined {
  if (typeof duration === 'number') return duration;
  const parsed = /^(\d*\.?\d+) *([a-z]*)$/i.exec(duration);
  const unit = UNITS.find(([pattern]) => pattern.test(parsed?.[2] ?? '?'));
  return parsed && unit ? Number(parsed[1]) * unit[1] : undefined;
}

/** The moment so many ms after another, both ISO 8601. */
export function laterBy(at: string, ms: number): string {
  // eslint-disable-next-line no-restricted-globals -- reckons with a moment it is given; the clock is not read
  return new Date(Date.parse(at) + ms).toISOString();
}

/** The later of two moments, ISO 8601. */
export function laterOf(one: string, other: string): string {
  return one < other ? other : one;
}
