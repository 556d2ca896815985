import type { Exchange } from '../graph/exchange';
import { withoutBodies } from './record-exchange';

/** A payload may hold 2 MB, and what stands beside the exchanges goes into it too. */
const MOST_BYTES = 1_000_000;
const MOST_WITH_THE_REST = 1_800_000;

/**
 * Exchanges that fit into a payload together: the oldest lose their bodies first, and say so.
 *
 * The last keeps its body as long as it fits by itself. `beside` is how many bytes share the payload.
 */
export function limitExchanges(exchanges: readonly Exchange[], beside = 0): readonly Exchange[] {
  const most = Math.min(MOST_BYTES, MOST_WITH_THE_REST - beside);
  const sizes = exchanges.map((exchange) => sizeOf(exchange));
  let left = sizes.reduce((sum, size) => sum + size, 0);
  return exchanges.map((exchange, index) => {
    if (left <= most) return exchange;
    const smaller = withoutBodies(exchange, 'size');
    left -= (sizes[index] ?? 0) - sizeOf(smaller);
    return smaller;
  });
}

function sizeOf(exchange: Exchange): number {
  return Buffer.byteLength(JSON.stringify(exchange));
}
