import type { z } from 'zod';
import { Exchange } from '../graph/exchange';
import { JsonValue } from './recorded';
import { arrayOf } from './untrusted';

const { request, response } = Exchange.shape;

/** One attempt at a model call as it went over the wire. Bodies are not walked: they may be megabytes. */
export const WireExchange = Exchange.extend({
  request: request.extend({ body: JsonValue.optional() }),
  response: response.unwrap().extend({ body: JsonValue.optional() }).optional(),
}).readonly();
export type WireExchange = z.output<typeof WireExchange>;

/** The exchanges among these values; what is none, or of a shape to come, is left out. */
export function exchangesOf(value: unknown): readonly WireExchange[] {
  return arrayOf(value).flatMap((one) => {
    const read = WireExchange.safeParse(one);
    return read.success ? [read.data] : [];
  });
}
