import { z } from 'zod';
import { JsonValue, list, record } from './recorded';

/** What became of a decision, and how the trace knows. */
export const VerdictShown = z.discriminatedUnion('kind', [
  record({ kind: z.literal('accepted'), questions: list(z.string()) }),
  record({ kind: z.literal('kept'), until: z.string().describe('The question or node it waits for.') }),
  record({ kind: z.literal('refused'), code: z.string(), message: z.string() }),
  record({
    kind: z.literal('unknown'),
    reason: z.string().describe('A signal’s verdict is not an event; only the graph can tell.'),
  }),
]);
export type VerdictShown = z.output<typeof VerdictShown>;

/** A decision somebody sent: what, who, when, through which door, and what became of it. */
export const DecisionMade = record({
  type: z
    .enum(['approve', 'deny', 'edit', 'respond', 'resume', 'expire', 'unreadable'])
    .describe('`expire`: nobody decided before the deadline.'),
  value: JsonValue.optional().describe(
    'The answer of a resume, the arguments of an edit, the response; of an unreadable decision, what came.',
  ),
  by: z.string().optional(),
  note: z.string().optional(),
  via: z.enum(['signal', 'update', 'deadline']),
  door: z.string().describe('The name of the signal or update; `timer` where a deadline passed.'),
  question: z.string().optional().describe('The question it names.'),
  node: z.string().optional().describe('The node it names.'),
  digest: z.string().optional(),
  decisionId: z.string().optional(),
  identity: z.string().optional().describe('The Temporal client that sent it, by its own account.'),
  eventId: z.string(),
  at: z.string(),
  offsetMs: z.number(),
  early: z.boolean().optional().describe('It came before its question was asked.'),
  verdict: VerdictShown,
  verdictFrom: z
    .enum(['history', 'graph', 'inference', 'nowhere'])
    .describe(
      'Recorded; computed by the graph from the recorded events; concluded from what the run did; or not known.',
    ),
});
export type DecisionMade = z.output<typeof DecisionMade>;
