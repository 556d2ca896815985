/** Every code a graph, a run, a decision or a thread can fail with; stable across releases. */
export type ErrorCode =
  // the graph, or the worker that serves it, must be changed
  | 'INVALID_NAME'
  | 'INVALID_OPTION'
  | 'DUPLICATE_NODE'
  | 'UNKNOWN_NODE'
  | 'UNREACHABLE_NODE'
  | 'NO_ENTRY_POINT'
  | 'INVALID_STATE_SCHEMA'
  | 'MISSING_IMPLEMENTATION'
  | 'EXTRA_IMPLEMENTATION'
  | 'DUPLICATE_REGISTRATION'
  | 'GRAPH_NAME_MISMATCH'
  | 'MODEL_NOT_CONFIGURED'
  // what a node or an input wrote must be changed
  | 'STATE_NOT_JSON'
  | 'STATE_UNKNOWN_KEY'
  | 'STATE_INVALID'
  | 'STATE_CONCURRENT_UPDATE'
  | 'STATE_TOO_LARGE'
  | 'STATE_UPDATE_CONFLICT'
  | 'INVALID_NODE_RETURN'
  // the run failed
  | 'NODE_FAILED'
  | 'NODE_NOT_REGISTERED'
  | 'SCRIPT_ENDED'
  | 'REDUCER_FAILED'
  | 'ROUTER_FAILED'
  | 'UNKNOWN_GOTO'
  | 'GRAPH_RECURSION_LIMIT'
  | 'SNAPSHOT_MISMATCH'
  | 'NO_PARENT_GRAPH'
  | 'HISTORY_TOO_LARGE'
  | 'QUESTION_EXPIRED'
  | 'RUN_FAILED'
  | 'RUN_CANCELLED'
  | 'RUN_TERMINATED'
  // a model gave no reply that can be used
  | 'MODEL_UNAVAILABLE'
  | 'MODEL_REFUSED'
  | 'MODEL_CONTEXT_EXCEEDED'
  | 'MODEL_CONTENT_FILTERED'
  | 'MODEL_REPLY_INVALID'
  // an interrupt was called where it cannot be
  | 'OUTSIDE_NODE'
  | 'ALREADY_PAUSED'
  | 'DUPLICATE_KEY'
  | 'REJECTION_AMBIGUOUS'
  // a decision was refused
  | 'DECISION_MALFORMED'
  | 'DECISION_ID_REUSED'
  | 'NOTHING_PENDING'
  | 'ANSWER_AMBIGUOUS'
  | 'ANSWER_INVALID'
  | 'ANSWER_TOO_LARGE'
  | 'QUESTION_UNKNOWN'
  | 'QUESTION_SETTLED'
  | 'QUESTION_CHANGED'
  // the thread is not what the caller took it for
  | 'THREAD_UNKNOWN'
  | 'THREAD_BUSY'
  | 'THREAD_FINISHED'
  | 'THREAD_OF_OTHER_GRAPH'
  | 'THREAD_UNREACHABLE'
  | 'HISTORY_UNREADABLE'
  | 'CHECKPOINT_UNKNOWN'
  | 'OFFSET_UNKNOWN';

/** The root of every error this package throws; branch on `code`, never on the message. */
export abstract class AbeyanceError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The graph, or the worker that serves it, is wrong as written. Remedy: change the code and redeploy. */
export class GraphDefinitionError extends AbeyanceError {}

/** A value does not fit the state. Remedy: change what the named node, or the caller's input, writes. */
export class StateError extends AbeyanceError {
  constructor(
    code: ErrorCode,
    message: string,
    /** Who wrote: a node's name, or `input`. */
    readonly node: string,
    /** The state key, where one key is to blame. */
    readonly key?: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
  }
}

/** A run ended in failure. Remedy: mend the named node, then start the thread again. */
export class GraphRunError extends AbeyanceError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly node?: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
  }
}

/** `interrupt` or `once` was called where it cannot work. Remedy: move the call into the body of a running node. */
export class NodeContextError extends AbeyanceError {}

/** What a refused caller is told of an open question: enough to answer it. */
export interface OpenQuestion {
  readonly id: string;
  readonly node: string;
  readonly value: unknown;
}

/** A decision was refused and nothing changed. Remedy: look at `open` and decide again. */
export class DecisionRefusedError extends AbeyanceError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly open: readonly OpenQuestion[] = [],
    options?: ErrorOptions,
  ) {
    super(code, message, options);
  }
}

/** The thread is unknown, busy, finished or another graph's. Remedy: look it up with `getState`, or use another id. */
export class ThreadError extends AbeyanceError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly threadId: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
  }
}

/** The message of anything that was thrown, also where it was no Error. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : `${String(thrown)} was thrown`;
}
