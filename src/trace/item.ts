import { z } from 'zod';
import { DecisionMade } from './decision-made';
import { Failure, JsonValue, list, record, Recorded, Span } from './recorded';
import { WireExchange } from './wire-exchange';

/** A message of a conversation, as a model was sent it. */
export const MessageShown = record({
  id: z.string().optional(),
  role: z.string().describe('`human`, `ai`, `tool` or `system`.'),
  content: z.string(),
  name: z.string().optional(),
  tool_calls: list(record({ id: z.string(), name: z.string(), args: JsonValue })).optional(),
  tool_call_id: z.string().optional(),
  status: z.string().optional(),
});
export type MessageShown = z.output<typeof MessageShown>;

/** One try at an activity. The history keeps the last one, and the failure of the one before. */
export const Attempt = record({
  number: z.number(),
  status: z
    .enum(['running', 'completed', 'failed', 'timed-out', 'cancelled'])
    .describe('`failed` for all before the last: only a failure leads to another try.'),
  from: z.string().optional(),
  to: z.string().optional(),
  durationMs: z.number().optional(),
  failure: Failure.optional().describe('Left out where the history does not have it.'),
  worker: z.string().optional(),
});
export type Attempt = z.output<typeof Attempt>;

const ACTIVITY = {
  id: z.string().describe('The activity id: `<step>.<node>[.i]#visit`.'),
  eventId: z.string().describe('Of the event that scheduled it; in workflow code, of its workflow task.'),
  node: z.string(),
  task: z.string(),
  step: z.number(),
  visit: z.number().describe('1, and one more for each pause the task came back from.'),
  status: z.enum(['scheduled', 'running', 'completed', 'failed', 'timed-out', 'cancelled']),
  span: Span.describe('From when it was scheduled to its end, retries included.'),
  queueMs: z.number().optional().describe('From when it was scheduled to the start of its last attempt.'),
  runMs: z.number().optional().describe('Of its last attempt.'),
  attempts: list(Attempt),
  maximumAttempts: z.number().optional(),
  failure: Failure.optional(),
  idempotencyKey: z.string().optional(),
  taskQueue: z.string().optional(),
} as const;

/** Tokens of a call. `cached` is part of `input`, `reasoning` of `output`. */
export const Tokens = record({
  input: z.number(),
  output: z.number(),
  total: z.number(),
  cached: z.number().optional(),
  reasoning: z.number().optional(),
});
export type Tokens = z.output<typeof Tokens>;

/** A model call. */
export const Turn = record({
  kind: z.literal('turn'),
  ...ACTIVITY,
  number: z.number().describe('Its place among the thread’s turns, from 1.'),
  model: record({
    name: z.string().describe('What it is registered under.'),
    provider: z.string().optional(),
    model: z.string().optional().describe('As the provider names it.'),
  }),
  context: list(MessageShown).describe('What it was sent, the system prompt first.'),
  tools: list(record({ name: z.string(), description: z.string(), schema: JsonValue })).describe('Declared to it.'),
  reply: record({
    content: z.string(),
    toolCalls: list(record({ id: z.string(), name: z.string(), args: JsonValue })),
  }).optional(),
  askedFor: list(z.string()).describe('The tools it asked for, by name.'),
  respondedWith: z.string().optional().describe('The text it replied, where it did.'),
  finishReason: z.string().optional(),
  tokens: Tokens.optional(),
  modelMs: z.number().optional().describe('The call as the worker measured it.'),
  providerMs: z.number().optional(),
  libraryMs: z.number().optional(),
  scripted: record({
    tools: record({ names: list(z.string()), consulted: z.boolean() }).describe('Declared to the scripted model.'),
    ignored: record({ messages: z.number(), roles: list(z.string()) }).describe('Context it did not look at.'),
  }).optional(),
  exchanges: list(WireExchange).describe('Over the wire, one for each attempt; none where nothing was recorded.'),
  record: JsonValue.optional().describe('Whatever else the model put on record.'),
});
export type Turn = z.output<typeof Turn>;

/** A tool call. */
export const ToolRun = record({
  kind: z.literal('tool'),
  ...ACTIVITY,
  tool: z.string(),
  callId: z.string().optional(),
  given: Recorded.describe('The arguments as the model gave them, or as a person changed them.'),
  edited: z.boolean().optional().describe('A person changed the arguments before the call ran.'),
  args: JsonValue.optional().describe('As the tool’s schema read them.'),
  result: JsonValue.optional(),
  error: z.string().optional().describe('What the model was told went wrong.'),
  toolMs: z.number().optional().describe('The call as the worker measured it.'),
  approval: z.string().optional().describe('The question by which this very call was approved.'),
});
export type ToolRun = z.output<typeof ToolRun>;

const Answer = record({
  id: z.string(),
  digest: z.string().optional(),
  value: JsonValue,
  by: z.string().optional(),
  note: z.string().optional(),
  via: z.string().optional(),
  decision: z.string().optional(),
});

/** How a node ended, where it did. */
export const NodeOutcome = z.discriminatedUnion('kind', [
  record({ kind: z.literal('completed'), updates: list(JsonValue), goto: list(JsonValue) }),
  record({ kind: z.literal('interrupted'), questions: list(z.string()) }),
  record({ kind: z.literal('rejected'), question: z.string(), reason: z.string() }),
  record({ kind: z.literal('unreadable'), recorded: Recorded }),
]);
export type NodeOutcome = z.output<typeof NodeOutcome>;

/** One visit of any other node. */
export const NodeVisit = record({
  kind: z.literal('node'),
  where: z
    .enum(['activity', 'local', 'workflow'])
    .describe('`local`: as a local activity; `workflow`: in workflow code, seen only with the graph.'),
  ...ACTIVITY,
  input: Recorded.describe('The state it read, or what a Send gave it.'),
  sent: z.boolean().describe('Its input was a Send’s own.'),
  answers: list(Answer).describe('What it came back with from its questions.'),
  once: z.record(z.string(), JsonValue).readonly().describe('Results it kept from earlier visits.'),
  outcome: NodeOutcome.optional(),
});
export type NodeVisit = z.output<typeof NodeVisit>;

/** A question, and the wait for its answer. */
export const Wait = record({
  kind: z.literal('wait'),
  question: z.string().describe('The question’s id.'),
  asks: z.enum(['question', 'approval']),
  node: z.string(),
  task: z.string(),
  value: JsonValue.describe('What was asked.'),
  digest: z.string(),
  schema: JsonValue.optional(),
  allow: list(z.string()).optional().describe('Of an approval: what may be decided, where not just approve and deny.'),
  call: record({ tool: z.string(), args: JsonValue })
    .optional()
    .describe('The call decided on, where `value` hides it.'),
  expiresAt: z.string().optional().describe('When it is no longer waited for, ISO 8601.'),
  status: z
    .enum(['open', 'answered', 'expired', 'withdrawn', 'dropped', 'carried'])
    .describe(
      '`expired`: nobody decided in time; `withdrawn`: no longer asked; `dropped`: the run ended first; `carried`: into the next run.',
    ),
  span: Span.describe('From when it was asked to when it was decided.'),
  decision: DecisionMade.optional(),
  answer: JsonValue.optional().describe('What the node was handed.'),
  refused: list(DecisionMade).describe('Decisions for it that were refused.'),
  sentBack: list(record({ reason: z.string(), at: z.string(), decision: DecisionMade.optional() })).describe(
    'Answers that the node did not take.',
  ),
});
export type Wait = z.output<typeof Wait>;

/** A decision that belongs to no wait: kept, refused without a question, or unreadable. */
export const LooseDecision = record({ kind: z.literal('decision'), span: Span, decision: DecisionMade });
export type LooseDecision = z.output<typeof LooseDecision>;

/** A timer. */
export const Timer = record({
  kind: z.literal('timer'),
  id: z.string(),
  summary: z.string().optional(),
  askedMs: z.number().optional().describe('How long it was set for.'),
  status: z.enum(['running', 'fired', 'cancelled']),
  span: Span,
});
export type Timer = z.output<typeof Timer>;

/** A child workflow: a trace of its own, linked here. */
export const Child = record({
  kind: z.literal('child'),
  workflowId: z.string(),
  runId: z.string().optional(),
  type: z.string(),
  status: z.enum(['scheduled', 'running', 'completed', 'failed', 'cancelled', 'timed-out', 'terminated']),
  span: Span,
  input: list(Recorded),
  result: Recorded.optional(),
  failure: Failure.optional(),
});
export type Child = z.output<typeof Child>;

/** An activity that is none of the graph's. */
export const ForeignActivity = record({
  kind: z.literal('activity'),
  type: z.string(),
  id: z.string(),
  eventId: z.string(),
  status: ACTIVITY.status,
  span: Span,
  queueMs: ACTIVITY.queueMs,
  runMs: ACTIVITY.runMs,
  attempts: ACTIVITY.attempts,
  input: list(Recorded),
  result: Recorded.optional(),
  failure: Failure.optional(),
});
export type ForeignActivity = z.output<typeof ForeignActivity>;

/** A signal or update that is none of ours, or a request to cancel. */
export const MessageIn = record({
  kind: z.literal('message'),
  via: z.enum(['signal', 'update', 'cancel']),
  name: z.string(),
  span: Span,
  args: list(Recorded),
  identity: z.string().optional(),
});
export type MessageIn = z.output<typeof MessageIn>;

/** Everything that can happen between two stops. */
export const Item = z.discriminatedUnion('kind', [
  Turn,
  ToolRun,
  NodeVisit,
  Wait,
  LooseDecision,
  Timer,
  Child,
  ForeignActivity,
  MessageIn,
]);
export type Item = z.output<typeof Item>;
