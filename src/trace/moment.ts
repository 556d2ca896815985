import { numberOf, objectOf } from './untrusted';
import type { Span } from './recorded';

/** A point in time: as text, and in milliseconds since 1970 with their fraction. */
export interface Moment {
  readonly iso: string;
  readonly ms: number;
}

const EPOCH: Moment = { iso: '1970-01-01T00:00:00Z', ms: 0 };

/** Reads a time of a history: ISO 8601, or seconds and nanoseconds. */
export function momentOf(value: unknown): Moment {
  if (value instanceof Date) return { iso: value.toISOString(), ms: value.getTime() };
  if (typeof value === 'string') return fromText(value);
  const { seconds, nanos } = objectOf(value);
  const whole = numberOf(seconds);
  if (whole === undefined) return EPOCH;
  const text = new Date(whole * 1000).toISOString().slice(0, 19);
  const fraction = String(numberOf(nanos) ?? 0).padStart(9, '0');
  return fromText(`${text}.${fraction}Z`);
}

function fromText(iso: string): Moment {
  const [, fraction = ''] = /\.(\d+)/.exec(iso) ?? [];
  const whole = Date.parse(iso.replace(/\.\d+/, ''));
  return Number.isNaN(whole) ? EPOCH : { iso, ms: whole + Number(`0.${fraction || 0}`) * 1000 };
}

/** Reads a duration of a history, `600s` or seconds and nanoseconds, as milliseconds. */
export function durationOf(value: unknown): number | undefined {
  const text = typeof value === 'string' ? /^([\d.]+)s$/.exec(value)?.[1] : undefined;
  if (text !== undefined) return Number(text) * 1000;
  const { seconds, nanos } = objectOf(value);
  const whole = numberOf(seconds);
  return whole === undefined ? undefined : whole * 1000 + (numberOf(nanos) ?? 0) / 1e6;
}

/** Milliseconds with at most three digits behind the point, and never negative. */
export function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000);
}

/** What spans are measured against: where the thread began, and where open ones are cut. */
export interface Clock {
  readonly start: Moment;
  readonly now: Moment;
}

/** A stretch of time, open where it has no end. */
export function spanOf({ start, now }: Clock, from: Moment, to?: Moment): Span {
  return {
    from: from.iso,
    ...(to && { to: to.iso }),
    offsetMs: rounded(from.ms - start.ms),
    durationMs: rounded((to ?? now).ms - from.ms),
  };
}

/** The later of two moments. */
export function laterMoment(one: Moment, other: Moment): Moment {
  return one.ms < other.ms ? other : one;
}

/** A moment by the workflow's clock, which has milliseconds; ISO 8601. */
export function isoOf({ ms }: Moment): string {
  return new Date(Math.floor(ms)).toISOString();
}
