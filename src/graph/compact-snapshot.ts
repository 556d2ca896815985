import type { DecisionRecord } from './decision';
import type { EngineSnapshot } from './engine-snapshot';
import { bytesOf, MAX_PAYLOAD_BYTES } from './size-limit';

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
  if (verdict.kind === 'kept' || bytesOf(decision) <= LARGEST) return record;
  const { update: _, ...rest } = decision;
  switch (rest.type) {
    case 'resume':
      return { ...record, decision: { ...rest, value: null }, omitted: true };
    case 'edit':
      return { ...record, decision: { ...rest, args: null }, omitted: true };
    case 'respond':
      return { ...record, decision: { ...rest, response: null }, omitted: true };
    case 'approve':
    case 'deny':
    case 'expire':
      return { ...record, decision: rest, omitted: true };
    default:
      return rest satisfies never;
  }
}

/** Decisions as they can be sent: the newest, and without large answers, where all are too much for one reply. */
export function sendableRecords(records: readonly DecisionRecord[]): readonly DecisionRecord[] {
  if (bytesOf(records) <= MAX_PAYLOAD_BYTES) return records;
  const brief = records.map(withoutLargeAnswer);
  return bytesOf(brief) <= MAX_PAYLOAD_BYTES ? brief : brief.slice(-NEWEST / 2);
}
