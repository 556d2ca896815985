import type { Command, Interrupt, INTERRUPT } from './commands';
import type { CompiledGraph } from './compiled-graph';
import type { DecisionDetails, DecisionRecord, Verdict } from './decision';
import type { Question } from './question';
import type { TaskView } from './run-view';
import type { NodeMap } from './state-graph';
import type { Fields, StateOf, UpdateOf } from './state-schema';

/** What a run gives back: its values, and its open questions where it waits. */
export type RunResult<F extends Fields> = StateOf<F> & { readonly [INTERRUPT]?: readonly Interrupt[] };

/** Where a thread stands. */
export interface StateSnapshot<S = Readonly<Record<string, unknown>>> {
  readonly values: S;
  /** The nodes that have not finished; empty only when nothing is left to run. */
  readonly next: readonly string[];
  readonly tasks: readonly TaskView[];
  /** The questions that wait for an answer. */
  readonly interrupts: readonly Question[];
  readonly status: 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'terminated' | 'timed-out';
  readonly metadata: {
    readonly threadId: string;
    readonly graph: string;
    readonly step: number;
    /** Where this was read: from the run itself, or from what it last published while no worker could be asked. */
    readonly source: 'run' | 'memo' | 'result';
    readonly runId?: string;
    /** Set where the values were too large to be sent, and are left out. */
    readonly omitted?: { readonly bytes: number };
    /** Why the run failed, where it did. */
    readonly error?: { readonly code: string; readonly message: string };
  };
}

/** How a run is started. */
export interface RunOptions {
  /** The thread, which is the workflow id. Default: a new one. */
  readonly threadId?: string;
  /** The most supersteps this run may take; default the graph's. */
  readonly recursionLimit?: number;
}

/** A decision's details; `question` and `digest` default to those of the only open question. */
export type DecideOptions = DecisionDetails;

/** What became of a decision that was not refused. */
export type Accepted = Exclude<Verdict, { readonly kind: 'refused' }>;

/** One thread: a run of a graph, and the runs that followed it under the same id. */
export interface GraphThread<F extends Fields = any> {
  readonly id: string;
  /** Answers `true`, or approves at a gate. @throws {DecisionRefusedError} @throws {ThreadError} */
  approve(options?: DecideOptions): Promise<Accepted>;
  /** Answers `false`, or denies at a gate. @throws {DecisionRefusedError} @throws {ThreadError} */
  deny(options?: DecideOptions): Promise<Accepted>;
  /**
   * Approves at a gate with other arguments, whole; they must fit the tool, which stays the same.
   *
   * Refused with `ANSWER_INVALID` where the question does not allow it. @throws {DecisionRefusedError} @throws {ThreadError}
   */
  edit(args: unknown, options?: DecideOptions): Promise<Accepted>;
  /**
   * Answers in the place of a call, which is not run: the response is its result.
   *
   * Refused with `ANSWER_INVALID` where the question does not allow it. @throws {DecisionRefusedError} @throws {ThreadError}
   */
  respond(response: unknown, options?: DecideOptions): Promise<Accepted>;
  /** Answers with a value, or with a map of question ids to values. @throws {DecisionRefusedError} @throws {ThreadError} */
  resume(value: unknown, options?: DecideOptions): Promise<Accepted>;
  /** Tells where the thread stands. @throws {ThreadError} `THREAD_UNKNOWN`. */
  getState(): Promise<StateSnapshot<StateOf<F>>>;
  /** Every decision on the thread's newest run, also those refused. */
  decisions(): Promise<readonly DecisionRecord[]>;
  /** Waits until the run waits or ends. @throws {GraphRunError} when it fails. */
  untilStopped(): Promise<RunResult<F>>;
}

/** The words for running graphs, on a server and in memory alike. */
export interface GraphRunner {
  /** Starts a run and returns as soon as it is recorded. @throws {ThreadError} `THREAD_BUSY`, `THREAD_OF_OTHER_GRAPH`. */
  start<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<F>,
    options?: RunOptions,
  ): Promise<GraphThread<F>>;
  /** Starts a run, or with a `Command` answers one, and returns where it next stops: at a question, or at its end. */
  invoke<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<F> | Command,
    options?: RunOptions,
  ): Promise<RunResult<F>>;
  /** A handle on a thread, whoever started it: typed by the graph, or untyped by its id alone. No call is made. */
  thread(id: string): GraphThread;
  thread<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    id: string,
  ): GraphThread<F>;
}
