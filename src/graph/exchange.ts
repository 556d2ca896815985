import { z } from 'zod';

/** What stands on record in place of a secret. */
export const NOT_RECORDED = 'not recorded';

const Headers = z.record(z.string(), z.string());

/**
 * Why a body is missing: the model's `record` option leaves it out, the exchanges of the call were too large together,
 * or the `mask` hook failed.
 */
const Omission = z.enum(['record', 'size', 'mask']);

const WireRequest = z.object({
  method: z.string(),
  url: z.string(),
  /** The parameters left to the provider: of temperature, max_tokens, top_p, stop, seed and tool_choice. */
  defaulted: z.array(z.string()).readonly(),
  headers: Headers,
  /** `wire`: as they left the machine. `asked`: as they were asked for, where a fetch of one's own hides the rest. */
  headersFrom: z.enum(['wire', 'asked']),
  body: z.json().optional(),
  bodyOmitted: Omission.optional(),
});

const WireResponse = z.object({
  status: z.int(),
  headers: Headers,
  /** As received, unknown fields kept; text where it was no JSON. */
  body: z.json().optional(),
  bodyOmitted: Omission.optional(),
  /**
   * It came in so many server-sent events. The body is what they make together; where they were cut short or broken, their
   * text as it came.
   */
  events: z.int().optional(),
  /** The connection ended before the body did. */
  cut: z.literal(true).optional(),
});

const Usage = z.object({
  input: z.number(),
  output: z.number(),
  total: z.number(),
  /** Part of `input`. */
  cached: z.number().optional(),
  /** Part of `output`. */
  reasoning: z.number().optional(),
});

/**
 * One attempt at a model call as it went over the wire: what was really sent, what really came back, how long it took.
 * Keys, cookies and the like read `not recorded`.
 */
export const Exchange = z.object({
  /** Which attempt of the activity this was. */
  attempt: z.int(),
  request: WireRequest,
  /** Missing where none came. */
  response: WireResponse.optional(),
  /** Why the attempt failed; missing where it did not. */
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  finishReason: z.string().optional(),
  usage: Usage.optional(),
  /** Milliseconds from the request's sending to the end of the response, and the rest of the call. */
  ms: z.object({ provider: z.number(), library: z.number() }),
});
export type Exchange = z.output<typeof Exchange>;
