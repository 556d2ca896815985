import type { AnyGraph } from './compiled-graph';
import type { EngineSnapshot } from './engine-snapshot';
import { expireKept } from './ledger';
import { leavesOf, type Scope } from './scope';
import type { Task } from './task';

const NEWEST = 100;

/** A question that nobody answered and nobody can answer any more, for its task was dropped. */
export interface Withdrawal {
  readonly question: string;
  /** How it came to that, and when. */
  readonly why: string;
}

/**
 * A run from which something dropped tasks, with their questions on record as withdrawn, so that whoever decides one is
 * told; what was kept for them is refused.
 */
export function afterDropping(
  graph: AnyGraph,
  before: Scope,
  after: EngineSnapshot,
  { why, at }: { readonly why: string; readonly at: string },
): EngineSnapshot {
  const going = new Set(pending(after).map(({ id }) => id));
  const gone = pending(before).filter(({ id }) => !going.has(id));
  const withdrawn = gone.flatMap(({ open }) => open).map(({ id: question }) => ({ question, why: `${why} at ${at}` }));
  const all = [...(after.withdrawn ?? []), ...withdrawn].slice(-NEWEST);
  const noted: EngineSnapshot = withdrawn.length === 0 ? after : { ...after, withdrawn: all };
  return expireKept(graph, noted, gone.filter(hasBegun), at);
}

function pending(scope: Scope): readonly Task[] {
  return leavesOf(scope).filter(({ phase }) => phase !== 'done');
}

// What a breakpoint holds back may well be planned again.
function hasBegun({ phase, open }: Task): boolean {
  return phase !== 'held' && !open.some(({ kind }) => kind === 'breakpoint');
}
