import type { NodeFailure } from './node-definition';
import type { Channels } from './state-schema';
import type { Task } from './task';

/** What an engine tells of its steps as it takes them. */
export type EngineNews =
  /** The run begins, on this state. */
  | { readonly kind: 'begun'; readonly step: number; readonly values: Channels }
  /** The state has changed: a superstep of the run has ended, or somebody has edited it. */
  | { readonly kind: 'values'; readonly step: number; readonly values: Channels }
  /** A subgraph begins in the task. */
  | { readonly kind: 'entered'; readonly task: Task }
  /** The task has its outcome; `cached`: without having run. */
  | { readonly kind: 'done'; readonly task: Task; readonly cached?: true }
  /** The task waits; its questions are open. */
  | { readonly kind: 'paused'; readonly task: Task }
  /** The task sent an answer back. */
  | { readonly kind: 'sent-back'; readonly task: Task; readonly reason: string }
  /** The task has failed for good. */
  | { readonly kind: 'failed'; readonly task: Task; readonly failure: NodeFailure };

/** Is told what an engine does, while it does it; `at` is ISO 8601. Must not call back. */
export type Watch = (news: EngineNews, at: string) => void;
