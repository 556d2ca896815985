import type { DecisionRecord } from './decision';
import type { EngineSnapshot } from './engine-snapshot';
import { bytesOf } from './size-limit';

const NEWEST = 500;
const LARGEST = 4_096;

/**
 * A snapshot for the thread's next run: of its decisions those that are kept for a question, and the newest 500 others.
 *
 * Large answers that were judged go without their value; id, digest and verdict stay, so that the same decision sent
 * again is still known.
 */
export function compactSnapshot(snapshot: EngineSnapshot): EngineSnapshot {
  const { ledger } = snapshot;
  const judged = ledger.filter(({ verdict }) => verdict.kind !== 'kept').length;
  let surplus = Math.max(0, judged - NEWEST);
  const forgotten = (snapshot.forgotten ?? 0) + surplus;
  const remembered = ledger.filter(({ verdict }) => verdict.kind === 'kept' || surplus-- <= 0);
  return { ...snapshot, ledger: remembered.map(withoutLargeAnswer), ...(forgotten > 0 && { forgotten }) };
}

/** A judged decision without an answer that is too large to be taken along. */
export function withoutLargeAnswer(record: DecisionRecord): DecisionRecord {
  const { decision, verdict } = record;
  if (decision.type !== 'resume' || verdict.kind === 'kept' || bytesOf(decision.value) <= LARGEST) return record;
  return { ...record, decision: { ...decision, value: null }, omitted: true };
}
