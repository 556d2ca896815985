import { Exchange } from '../graph/exchange';
import type { Live } from '../graph/live-window';
import { isJsonObject, type JsonObject } from '../graph/json';

/** What an attempt at a node leaves for the next, as its heartbeat's details. */
export interface HeartbeatDetails {
  /** The results of `once`. */
  readonly once: JsonObject;
  /** What went over the wire in the attempts so far. */
  readonly exchanges: readonly Exchange[];
  /** What this attempt shows to whoever streams the run. */
  readonly live?: Live;
}

/** Reads what the attempt before has left for this one; nothing where there was none, or where it is not ours. */
export function readHeartbeat(details: unknown): HeartbeatDetails {
  if (!isJsonObject(details)) return { once: {}, exchanges: [] };
  const exchanges = Exchange.array().safeParse(details.exchanges);
  return { once: isJsonObject(details.once) ? details.once : {}, exchanges: exchanges.data ?? [] };
}
