import { isJsonObject } from './json';

/** The decisions that have a signal of their own, with a payload. */
export const PAYLOAD_DECISIONS = ['approve', 'deny', 'edit', 'respond'] as const;

/** A decision that is named by its signal. */
export type PayloadDecision = (typeof PAYLOAD_DECISIONS)[number];

/**
 * The decision that a signal's payload makes, still to be read.
 *
 * No payload is a bare decision; a plain text is the note, or to `respond` the response. What the payload says of its own
 * `type` is overruled: it must not turn an approval into something else.
 */
export function requestOfPayload(type: PayloadDecision, payload: unknown): unknown {
  if (payload === undefined || payload === null) return { type };
  if (typeof payload === 'string') {
    if (type === 'respond') return { type, response: payload };
    return { type, ...(payload !== '' && { note: payload }) };
  }
  if (!isJsonObject(payload)) return payload;
  if (type !== 'respond' || !('text' in payload) || 'response' in payload) return { ...payload, type };
  const { text, ...rest } = payload;
  return { ...rest, type, response: text };
}

/** True for the name of a signal that is a decision with a payload. */
export function isPayloadDecision(name: string): name is PayloadDecision {
  return (PAYLOAD_DECISIONS as readonly string[]).includes(name);
}
