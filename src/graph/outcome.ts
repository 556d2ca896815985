import type { GotoRecord } from './commands';
import type { Json, JsonObject } from './json';
import type { AskedQuestion } from './question';
import type { ParentWrites } from './scope';

/** How one attempt at a task ended, as it is recorded. */
export type Outcome = CompletedOutcome | InterruptedOutcome | RejectedOutcome;

/** The task is done: these are its writes. */
export interface CompletedOutcome {
  readonly kind: 'completed';
  readonly updates: readonly JsonObject[];
  readonly goto: readonly GotoRecord[];
  /** What its commands told the parent graph, where they did. */
  readonly toParent?: ParentWrites;
  /** On a subgraph's task: by update, what ids of new messages were made of within it. */
  readonly prefixes?: readonly string[];
}

/** The task waits: these are its questions. */
export interface InterruptedOutcome {
  readonly kind: 'interrupted';
  readonly questions: readonly AskedQuestion[];
  readonly once: Readonly<Record<string, Json>>;
}

/** The task sent an answer back: its question opens again. */
export interface RejectedOutcome {
  readonly kind: 'rejected';
  readonly question: string;
  readonly reason: string;
  readonly once: Readonly<Record<string, Json>>;
}

/** A task that wrote nothing and goes where the edges lead. */
export const NOTHING_WRITTEN: CompletedOutcome = { kind: 'completed', updates: [], goto: [] };

/** What a task keeps of its outcome: the record of its call stays in the history. */
export function keptOf({ kind, updates, goto, toParent }: CompletedOutcome): CompletedOutcome {
  return { kind, updates, goto, ...(toParent && { toParent }) };
}
