import type { DecisionRecord } from '../graph/decision';
import { compactSnapshot, withoutLargeAnswer } from '../graph/compact-snapshot';
import type { StateEdit } from '../graph/edit-state';
import type { EngineSnapshot, ParentTask } from '../graph/engine-snapshot';
import { StateError } from '../graph/errors';
import { bytesOf, inMegabytes, MAX_PAYLOAD_BYTES } from '../graph/size-limit';
import type { Channels } from '../graph/state-schema';

const NEWEST_UNREADABLE = 100;

/** What a run takes over from the thread's earlier run. */
export interface Carry {
  readonly values?: Channels;
  readonly step?: number;
  readonly recursionLimit?: number;
  readonly interruptBefore?: readonly string[] | '*';
  readonly interruptAfter?: readonly string[] | '*';
  /** Set where the run is a subgraph's: the task of the run around it. */
  readonly parent?: ParentTask;
  /** Set where the earlier run rolled over: this one goes on in the middle of it. */
  readonly snapshot?: EngineSnapshot;
  /** Written to the state of the snapshot before the run goes on. */
  readonly edit?: StateEdit;
  /** The run whose idempotency keys its tasks keep, for they may have had their effects. */
  readonly idempotencyRun?: string;
  /** Signals that made no sense, for the audit. */
  readonly unreadable?: readonly DecisionRecord[];
}

/** What a run leaves to the one it rolls over into. */
export function carryOf(
  snapshot: EngineSnapshot,
  unreadable: readonly DecisionRecord[],
  idempotencyRun: string | undefined,
): Carry {
  const records = unreadable.slice(-NEWEST_UNREADABLE).map(withoutLargeAnswer);
  return {
    snapshot: compactSnapshot(snapshot),
    ...(idempotencyRun !== undefined && { idempotencyRun }),
    ...(records.length > 0 && { unreadable: records }),
  };
}

/** True where a carry can be handed over without external storage. */
export function fitsOnePayload(carry: Carry): boolean {
  return bytesOf(carry) <= MAX_PAYLOAD_BYTES;
}

/** The end of a run that can neither go on nor roll over: says what holds the bytes, and the ways out. */
export function historyTooLarge(graph: string, historySize: number, events: number, carry: Carry): StateError {
  const { channels = {}, tasks = [] } = carry.snapshot ?? {};
  const parts = [
    ...Object.entries(channels).map(([key, value]) => ({ what: `state key "${key}"`, key, bytes: bytesOf(value) })),
    { what: 'tasks at work', key: undefined, bytes: bytesOf(tasks) },
  ].sort((a, b) => b.bytes - a.bytes);
  const largest = parts.slice(0, 3).map(({ what, bytes }) => `${what} ${inMegabytes(bytes)}`);
  const message =
    `The run of "${graph}" has ${events} events of ${inMegabytes(historySize)}, about all that Temporal keeps, and what its ` +
    `next run would have to take over takes ${inMegabytes(bytesOf(carry))}: ${largest.join(', ')}. At most ` +
    `${inMegabytes(MAX_PAYLOAD_BYTES)} can be taken over. Keep large things outside the state, or configure external storage.`;
  return new StateError('HISTORY_TOO_LARGE', message, graph, parts[0]?.key);
}
