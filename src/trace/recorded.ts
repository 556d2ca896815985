import { z } from 'zod';
import type { Json } from '../graph/json';

/** A JSON value. Checked to be one, but not walked: a trace may hold megabytes of them. */
export const JsonValue = z.custom<Json>(
  (value) => value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value),
);

/** An object of the trace: read-only. */
export function record<S extends z.ZodRawShape>(shape: S): z.ZodReadonly<z.ZodObject<S, z.core.$strip>> {
  return z.object(shape).readonly();
}

/** A list of the trace: read-only. */
export function list<S extends z.ZodType>(item: S): z.ZodReadonly<z.ZodArray<S>> {
  return z.array(item).readonly();
}

/** A value as the history holds it: readable, encoded by a codec that was not undone, or not in the history at all. */
export const Recorded = z.discriminatedUnion('kind', [
  record({ kind: z.literal('json'), value: JsonValue }),
  record({
    kind: z.literal('encoded'),
    encoding: z.string(),
    bytes: z.number().describe('How many bytes the payload has.'),
  }),
  record({
    kind: z.literal('missing'),
    reason: z.string(),
    digest: z.string().optional().describe('Of the value, where at least that was recorded.'),
  }),
]);
export type Recorded = z.output<typeof Recorded>;

/** A stretch of time. */
export const Span = record({
  from: z.string().describe('ISO 8601, as precise as the history.'),
  to: z.string().optional().describe('Left out while it lasts.'),
  offsetMs: z.number().describe('From the start of the thread.'),
  durationMs: z.number().describe('While it lasts: up to the last event, or to the `now` the trace was asked for.'),
});
export type Span = z.output<typeof Span>;

const FAILURE = {
  kind: z
    .enum(['application', 'timeout', 'cancelled', 'terminated', 'server', 'activity', 'child', 'unknown'])
    .describe('Which of Temporal’s failures it is.'),
  message: z.string(),
  code: z.string().optional().describe('The type of an application failure; for errors of this package, their code.'),
  node: z.string().optional(),
  timeout: z.string().optional().describe('Which timeout, where it is one.'),
  retryable: z.boolean().optional(),
  retryState: z.string().optional().describe('Why an activity was not tried again.'),
  details: list(Recorded).optional(),
  stack: z.string().optional(),
} as const;

/** What went wrong, with its chain of causes, the nearest first. */
export const Failure = record({ ...FAILURE, causes: list(record(FAILURE)) });
export type Failure = z.output<typeof Failure>;

/** One cause in a failure's chain. */
export type Cause = Failure['causes'][number];
