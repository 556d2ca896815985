import type { Command, END, Interrupt, INTERRUPT, START } from './commands';
import type { CompiledGraph } from './compiled-graph';
import type { DecisionDetails, DecisionRecord, Verdict } from './decision';
import type { Origin } from './engine-snapshot';
import type { Question } from './question';
import type { OMITTED, TaskView } from './run-view';
import type { NodeMap, NodePath } from './state-graph';
import type { Fields, ShownFields, StateOf, UpdateOf } from './state-schema';
import type { DefaultMode, StreamEvent, StreamMode, StreamOptions, ThreadStreamOptions } from './stream-event';

/** What a run gives back: its values, and its open questions where it waits; `__omitted__` where the values were too large. */
export type RunResult<F extends Fields> = StateOf<ShownFields<F>> & {
  readonly [INTERRUPT]?: readonly Interrupt[];
  readonly [OMITTED]?: { readonly bytes: number };
};

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
    /** Where this was read: from the run itself, from what it last published while no worker could be asked, from its history. */
    readonly source: 'run' | 'memo' | 'result' | 'history';
    readonly runId?: string;
    /** In a history: what `fork` takes. */
    readonly checkpoint?: string;
    /** In a history: when the run came there, ISO 8601. */
    readonly createdAt?: string;
    /** Where the thread was forked from, if it was. */
    readonly origin?: Origin;
    /** Set where the values were too large to be sent, and are left out. */
    readonly omitted?: { readonly bytes: number };
    /** Why the run failed, where it did. */
    readonly error?: { readonly code: string; readonly message: string };
  };
}

/** How a run is started. */
export interface RunOptions<B extends string = string> {
  /** The thread, which is the workflow id. Default: a new one. */
  readonly threadId?: string;
  /** The most supersteps this run may take; default the graph's. */
  readonly recursionLimit?: number;
  /** Nodes before which this run stops, beside the graph's own breakpoints; a subgraph's by path, `review/ask`; `*` for all. */
  readonly interruptBefore?: readonly B[] | '*';
  /** Nodes after which this run stops. */
  readonly interruptAfter?: readonly B[] | '*';
}

/** A decision's details; `question` and `digest` default to those of the only open question. */
export type DecideOptions = DecisionDetails;

/** What became of a decision that was not refused. */
export type Accepted = Exclude<Verdict, { readonly kind: 'refused' }>;

/** One thread: a run of a graph, and the runs that followed it under the same id. */
export interface GraphThread<F extends Fields = any, Nm extends string = string> {
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
  getState(): Promise<StateSnapshot<StateOf<ShownFields<F>>>>;
  /** Every decision on the thread's newest run, also those refused. */
  decisions(): Promise<readonly DecisionRecord[]>;
  /** Waits until the run waits or ends. @throws {GraphRunError} when it fails. */
  untilStopped(): Promise<RunResult<F>>;
  /**
   * Watches the thread's newest run, from its beginning or after an offset, across pauses, until it ends.
   *
   * What the history holds comes to every reader, whenever it comes, once and in one order; a reader that was cut off goes
   * on after the last offset it has, in any process. What nodes write and models say (`custom`, `messages`) comes while
   * they run as far as the reader is in time, and with the task's end what is left of it. Watching costs the run nothing.
   *
   * @throws {ThreadError} `THREAD_UNKNOWN`, `OFFSET_UNKNOWN`. @throws the signal's reason.
   * @example for await (const event of thread.stream({ modes: ['values'] })) console.log(event);
   */
  stream<const M extends StreamMode = DefaultMode>(options?: ThreadStreamOptions<M>): AsyncIterable<StreamEvent<F, M>>;
  /**
   * Writes to the state from outside, through its reducers, while the run waits or has ended.
   *
   * With `asNode` it counts as what that node returned: the node has run, its question is withdrawn if it waits, and its
   * edges say what comes next. `START` counts as a new input, `END` ends the run. Without it nothing but the values
   * changes. A finished thread goes on as a new run where there is something to run; a failed one is retried.
   *
   * @throws {StateError} `STATE_UPDATE_CONFLICT` where a task that waits would be dropped, and as any write.
   * @throws {ThreadError} `THREAD_BUSY` while it runs.
   */
  updateState(values: UpdateOf<F>, options?: UpdateStateOptions<Nm>): Promise<StateSnapshot<StateOf<ShownFields<F>>>>;
  /** Every checkpoint of the thread, newest first: one for each superstep, each edit and each end. */
  getStateHistory(): AsyncIterable<StateSnapshot<StateOf<ShownFields<F>>>>;
}

/** Whose update an update of the state counts as. */
export interface UpdateStateOptions<Nm extends string = string> {
  readonly asNode?: Nm | typeof START | typeof END;
}

/** How a thread is forked. */
export interface ForkOptions<F extends Fields = any, Nm extends string = string> extends UpdateStateOptions<Nm> {
  /** The checkpoint to begin on, from `getStateHistory`; default the newest. */
  readonly checkpoint?: string;
  /** The new thread. Default: a new id. */
  readonly threadId?: string;
  /** Written to the state before the new thread goes on. */
  readonly update?: UpdateOf<F>;
}

/** The words for running graphs, on a server and in memory alike. */
export interface GraphRunner {
  /** Starts a run and returns as soon as it is recorded. @throws {ThreadError} `THREAD_BUSY`, `THREAD_OF_OTHER_GRAPH`. */
  start<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<ShownFields<F>>,
    options?: RunOptions<NodePath<N>['at']>,
  ): Promise<GraphThread<F, keyof N & string>>;
  /**
   * Starts a run, or with a `Command` answers one, and returns where it next stops: at a question, or at its end.
   *
   * `null` carries on: past a breakpoint, or with a failed run, whose finished nodes do not run again.
   */
  invoke<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<ShownFields<F>> | Command<UpdateOf<F>> | null,
    options?: RunOptions<NodePath<N>['at']>,
  ): Promise<RunResult<F>>;
  /**
   * Does what `invoke` does once it is iterated, and streams what the run does until it stops: at a question, or at its end.
   *
   * The last event of the mode `values` holds the whole state, and the open questions where the run waits.
   *
   * @throws {GraphRunError} after its last event, when the run fails. @throws as `invoke`; the signal's reason.
   * @example
   * for await (const event of graphs.stream(order, { item: 'widget' }, { threadId: 'order-42', modes: ['updates'] }))
   *   console.log(event);
   */
  stream<Name extends string, F extends Fields, N extends NodeMap, const M extends StreamMode = DefaultMode>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<ShownFields<F>> | Command<UpdateOf<F>> | null,
    options?: RunOptions<NodePath<N>['at']> & StreamOptions<M>,
  ): AsyncIterable<StreamEvent<F, M>>;
  /**
   * Begins a new thread on a checkpoint of another, which stays as it is. Tasks of the checkpoint run again, questions
   * are asked anew, and no decision is taken along.
   *
   * @throws {ThreadError} `THREAD_UNKNOWN`, `CHECKPOINT_UNKNOWN`, `THREAD_BUSY`.
   */
  fork<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    threadId: string,
    options?: ForkOptions<F, keyof N & string>,
  ): Promise<GraphThread<F, keyof N & string>>;
  /** A handle on a thread, whoever started it: typed by the graph, or untyped by its id alone. No call is made. */
  thread(id: string): GraphThread;
  thread<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    id: string,
  ): GraphThread<F, keyof N & string>;
}
