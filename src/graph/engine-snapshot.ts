import type { DecisionRecord } from './decision';
import type { Pending } from './plan';
import type { Channels } from './state-schema';
import type { Task } from './task';

/** A run as plain JSON: enough to carry on elsewhere, or another day. */
export interface EngineSnapshot {
  readonly version: 1;
  readonly graph: string;
  readonly fingerprint: string;
  readonly limit: number;
  /** The superstep the tasks belong to; counts on over the runs of a thread. */
  readonly step: number;
  /** Supersteps taken by this run, against the limit. */
  readonly taken: number;
  /** The state at the start of the superstep. */
  readonly channels: Channels;
  readonly tasks: readonly Task[];
  readonly pending: Pending;
  /** Every decision; those with the verdict `kept` wait for their question. */
  readonly ledger: readonly DecisionRecord[];
  /** How many older decisions the ledger has let go of. */
  readonly forgotten?: number;
  /** Payloads of any size can be carried. */
  readonly externalStorage?: true;
}

/** How a run starts. */
export interface StartOptions {
  /** The state to start on, from an earlier run of the thread. */
  readonly values?: Channels;
  /** The last superstep of the earlier run, so that no task or question id comes twice on a thread. */
  readonly step?: number;
  readonly recursionLimit?: number;
  readonly externalStorage?: true;
}
