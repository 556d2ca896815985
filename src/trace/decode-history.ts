import type { Payload, PayloadCodec } from '@temporalio/common';
import type { HistoryInput } from './history-event';
import { bytesOf, isPayload } from './payload';
import type { Loose } from './untrusted';

/**
 * Undoes a payload codec, encryption or compression, throughout a history, so that a trace can be made of it.
 *
 * Gives a copy; the history stays as it was. Payloads that the codec does not know it is to hand back as they are, as
 * Temporal’s codecs do.
 *
 * @throws Whatever the codec throws, for instance for a key it does not have.
 * @example const trace = traceOf([await decodeHistory(history, myCodec)]);
 */
export async function decodeHistory(history: HistoryInput, codec: Pick<PayloadCodec, 'decode'>): Promise<HistoryInput> {
  return (await decoded(history, codec)) as HistoryInput;
}

async function decoded(value: unknown, codec: Pick<PayloadCodec, 'decode'>): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all((value as readonly unknown[]).map((item) => decoded(item, codec)));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if (!isPayload(value)) {
    const entries = Object.entries(value).map(async ([key, item]) => [key, await decoded(item, codec)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }
  const [payload] = await codec.decode([payloadIn(value)]);
  return payload;
}

function payloadIn({ metadata, data }: Loose): Payload {
  const entries = Object.entries(metadata as Loose).map(([key, item]) => [key, bytesOf(item)] as const);
  return { metadata: Object.fromEntries(entries), data: bytesOf(data) };
}
