import type { DecisionRecord } from './decision';
import type { OutcomeCache } from './cache';
import type { Withdrawal } from './dropped-tasks';
import type { Scope } from './scope';
import type { Channels } from './state-schema';
import type { SharedKey } from './subgraph';
import type { Breakpoints } from './frame';

/** A run as plain JSON: enough to carry on elsewhere, or another day. */
export interface EngineSnapshot extends Scope {
  readonly version: 1;
  readonly graph: string;
  readonly fingerprint: string;
  /** Every decision; those with the verdict `kept` wait for their question. */
  readonly ledger: readonly DecisionRecord[];
  readonly breakpoints?: Breakpoints;
  readonly cache?: OutcomeCache;
  /** How often the state was edited from outside. */
  readonly edits?: number;
  /** When something was let through that the run has not moved on for yet, ISO 8601. */
  readonly due?: string;
  /** The newest questions that nobody can answer any more, for their tasks were dropped. */
  readonly withdrawn?: readonly Withdrawal[];
  /** Where a thread was forked from. */
  readonly origin?: Origin;
  /** How many older decisions the ledger has let go of. */
  readonly forgotten?: number;
  /** Payloads of any size can be carried. */
  readonly externalStorage?: true;
  /** Subgraphs that would run elsewhere run here. */
  readonly inline?: true;
  /** Whose subgraph this run is. */
  readonly parent?: ParentTask;
}

/** The task of another run that a run of a subgraph stands for. */
export interface ParentTask {
  readonly task: string;
  /** Which time the task was given out. */
  readonly visit: number;
  /** What ids of new messages begin with: the tasks around, each with a slash. */
  readonly within: string;
  /** The state keys whose updates are handed over one by one; none where the graph around maps what comes out. */
  readonly shared: readonly SharedKey[];
}

/** The checkpoint of another thread that a thread began on. */
export interface Origin {
  readonly threadId: string;
  readonly checkpoint: string;
}

/** How a run starts. */
export interface StartOptions {
  /** The state to start on, from an earlier run of the thread. */
  readonly values?: Channels;
  /** The last superstep of the earlier run, so that no task or question id comes twice on a thread. */
  readonly step?: number;
  readonly recursionLimit?: number;
  /** Nodes before and after which this run stops, beside those of the graph; those of subgraphs by path. */
  readonly interruptBefore?: readonly string[] | '*';
  readonly interruptAfter?: readonly string[] | '*';
  /** When it starts, ISO 8601. */
  readonly at?: string;
  readonly externalStorage?: true;
  readonly inline?: true;
  readonly parent?: ParentTask;
}
