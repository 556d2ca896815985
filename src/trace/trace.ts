import { z } from 'zod';
import { Item, Tokens } from './item';
import { Failure, JsonValue, list, record, Recorded, Span } from './recorded';

/** The state of a run where it stopped. */
export const Checkpoint = record({
  at: z.string(),
  step: z.number().optional(),
  values: Recorded,
  source: z
    .enum(['memo', 'reply', 'result', 'graph', 'nowhere'])
    .describe('Where the values were found: published at the stop, sent to a caller, the run’s result, or computed.'),
  next: list(z.string()).describe('The nodes that had not finished.'),
  questions: list(record({ id: z.string(), node: z.string(), value: JsonValue })).describe('The open ones.'),
});
export type Checkpoint = z.output<typeof Checkpoint>;

/** What a run did up to where it stopped. */
export const Stop = record({
  number: z.number().describe('From 1, over all runs of the thread.'),
  name: z
    .string()
    .describe('`pause`: from the start to a question; `resume`: after an answer; `run`: to the end at once.'),
  began: z.enum(['start', 'decision', 'continued', 'other']),
  ended: z.enum(['paused', 'done', 'failed', 'cancelled', 'terminated', 'timed-out', 'continued', 'running']),
  span: Span,
  items: list(Item),
  checkpoint: Checkpoint.optional().describe('Left out while it runs.'),
  pause: Span.optional().describe('How long the run then stood still.'),
});
export type Stop = z.output<typeof Stop>;

/** One run of a thread: one workflow execution. */
export const Run = record({
  runId: z.string(),
  number: z.number(),
  graph: z.string(),
  status: z.enum(['running', 'waiting', 'done', 'failed', 'cancelled', 'terminated', 'timed-out', 'continued']),
  span: Span,
  input: Recorded,
  carry: Recorded.optional().describe('What it took over from the run before.'),
  result: Recorded.optional(),
  failure: Failure.optional(),
  stops: list(Stop),
  taskQueue: z.string().optional(),
  startedBy: z.string().optional().describe('The Temporal client that started it, by its own account.'),
  previousRunId: z.string().optional(),
  nextRunId: z.string().optional(),
  parent: record({ workflowId: z.string(), runId: z.string() }).optional(),
  events: z.number().describe('How many events its history has.'),
  folded: z.boolean().describe('The graph was given and fits: verdicts, values and workflow-side nodes are exact.'),
});
export type Run = z.output<typeof Run>;

/** Sums over a thread. */
export const Totals = record({
  runs: z.number(),
  stops: z.number(),
  turns: z.number(),
  messages: z.number().describe('Different messages of the conversation, by id.'),
  toolCalls: z.number(),
  nodes: z.number().describe('Visits of other nodes.'),
  waits: z.number().describe('Questions asked.'),
  retries: z.number(),
  failures: z.number().describe('Items that failed for good.'),
  refusedDecisions: z.number(),
  tokens: Tokens,
  activeMs: z.number().describe('While runs were neither waiting nor over.'),
  waitingMs: z.number().describe('While nothing could go on before somebody answered.'),
});
export type Totals = z.output<typeof Totals>;

/** Something the histories do not say, or that was not understood. */
export const Note = record({
  kind: z.enum(['unknown-events', 'runs-missing', 'encoded', 'not-folded', 'task-failed']),
  message: z.string(),
  runId: z.string().optional(),
});
export type Note = z.output<typeof Note>;

/**
 * A thread as it went, read from its histories: thread, runs, stops, and what happened between them.
 *
 * Plain read-only JSON: `JSON.stringify(trace)` is its JSON rendering, and `Trace.parse` reads it back. New kinds and
 * properties may be added within a version; none is taken away or changes its meaning.
 */
export const Trace = record({
  format: z.literal('abeyance.trace'),
  version: z.literal(1),
  thread: record({
    id: z.string(),
    graph: z.string(),
    fingerprint: z.string().optional().describe('Of the graph that last published where it stands.'),
    status: z.enum(['running', 'waiting', 'done', 'failed', 'cancelled', 'terminated', 'timed-out']),
    span: Span,
  }),
  totals: Totals,
  runs: list(Run),
  notes: list(Note),
});
export type Trace = z.output<typeof Trace>;
