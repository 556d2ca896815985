import type { z } from 'zod';
import type { ApprovalPolicy } from './approval-policy';
import type { Goto } from './commands';
import type { AnyGraph } from './compiled-graph';
import type { Tool } from './tool';

/** How an activity is run: the serialisable part of Temporal's activity options. Durations are ms or strings like '30s'. */
export interface NodeActivityOptions {
  /** The longest one attempt may take; default 10 minutes. */
  readonly startToCloseTimeout?: Duration;
  /** The longest all attempts may take together; default none. */
  readonly scheduleToCloseTimeout?: Duration;
  /** The longest a task may wait for a worker; default none. */
  readonly scheduleToStartTimeout?: Duration;
  /** The longest silence of a running attempt, heartbeats being kept by the library; default 30 s. */
  readonly heartbeatTimeout?: Duration;
  /** Where the node runs; default the graph's own task queue. */
  readonly taskQueue?: string;
  readonly retry?: NodeRetryPolicy;
}

/** A duration as Temporal takes it: milliseconds, or a string such as `'10 minutes'`. */
export type Duration = number | `${number}${string}`;

/** Temporal's retry policy. Default: 3 attempts. */
export interface NodeRetryPolicy {
  readonly maximumAttempts?: number;
  readonly initialInterval?: Duration;
  readonly backoffCoefficient?: number;
  readonly maximumInterval?: Duration;
  readonly nonRetryableErrorTypes?: readonly string[];
}

/** What any node may declare. */
export interface NodeOptions {
  /** Where this node's commands may go; a node reached by no edge must stand in somebody's `ends`. */
  readonly ends?: readonly string[];
  /** The state keys this node sees; all when left out. Keeps the history small. */
  readonly reads?: readonly string[];
  /** What a Send to this node must carry; the node sees that, and is reached in no other way. */
  readonly input?: z.ZodType;
  /** Run only when nothing else is left to run. */
  readonly defer?: boolean;
  readonly activity?: NodeActivityOptions;
  /** Use what the node wrote again when it sees the same; a node that asked is never cached. */
  readonly cache?: CachePolicy;
  /**
   * What becomes of the run when the node has failed for good: the update or command returned here takes the place of its
   * own. Pure and synchronous, for it runs in workflow code. It sees no pause and no cancellation.
   */
  readonly onError?: (failure: NodeFailure, state: any) => unknown;
}

/** When what a node wrote may be used again within its run. */
export interface CachePolicy {
  /** How long; default as long as the run lasts. */
  readonly ttl?: Duration;
  /** What has to be the same; default all that the node reads. Pure and synchronous. */
  readonly key?: (state: any) => string;
}

/** Why a node failed, after its retries. */
export interface NodeFailure {
  readonly node: string;
  /** `NODE_FAILED`, or the code of the error. */
  readonly code: string;
  readonly message: string;
}

/** A node implemented on the worker: `implement(graph, { name: async (state) => … })`. */
export interface ActivityNode extends NodeOptions {
  readonly kind: 'activity';
  /**
   * `local`: in the worker that steps the graph, as a local activity. For short steps: no task queue, one event each.
   *
   * Takes no `taskQueue` and no `heartbeatTimeout`; start to close is 10 seconds by default. Where it reads more than 128 KB
   * it runs as any activity does; what it reads and writes may take 256 KB together. Results of `once` are kept with a pause,
   * but not from one attempt to the next.
   */
  readonly run?: 'local';
}

/** A node whose body runs in workflow code: deterministic, no activity, no input or output on record. */
export interface WorkflowNode extends NodeOptions {
  readonly kind: 'workflow';
  readonly fn: (state: any) => unknown;
  /** On approval gates: where approved calls go, what is asked about which, and the conversation they are in. */
  readonly gate?: Gate;
}

/** What a graph must know of a gate in it. */
export interface Gate {
  readonly approved: string;
  readonly messages: string;
  readonly policy: ApprovalPolicy;
  /** The gate's body, once the graph is compiled and the tools behind the gate are known. */
  readonly before: (tools: readonly Tool[]) => WorkflowNode['fn'];
}

/** A node that is one model call. */
export interface ModelNode extends NodeOptions {
  readonly kind: 'model';
  /** The name a model is registered under on the worker. */
  readonly model: string;
  readonly tools: readonly Tool[];
  /** Sent before the conversation, not kept in the state. */
  readonly system?: string;
  /** The state key that holds the conversation. */
  readonly messages: string;
}

/** A node that runs the tool calls of the last `ai` message, each as an activity of its own. */
export interface ToolsNode extends NodeOptions {
  readonly kind: 'tools';
  readonly tools: readonly Tool[];
  readonly messages: string;
  /** What a tool's own error becomes: a tool message for the model, or a failure of the run. */
  readonly onToolError: 'message' | 'fail';
}

/** A node that is a graph of its own. */
export interface GraphNode extends Omit<NodeOptions, 'input'> {
  readonly kind: 'graph';
  readonly graph: AnyGraph;
  /** `child`: on a server as a workflow of its own; default within the same run. */
  readonly run?: 'inline' | 'child';
  /** What the subgraph starts on, of the state around it; default the keys that both have. */
  readonly input?: (state: any) => unknown;
  /** What its end means to the state around it; default its writes to the keys that both have. */
  readonly output?: (state: any) => unknown;
}

/** Every kind of node. */
export type NodeDefinition = ActivityNode | WorkflowNode | ModelNode | ToolsNode | GraphNode;

/** The kinds of node that work themselves; a subgraph's own nodes do. */
export type WorkingNode = Exclude<NodeDefinition, GraphNode>;

/** Every kind. */
export type NodeKind = NodeDefinition['kind'];

/** A router: looks at the state and names what runs next. Pure and synchronous, for it runs in workflow code. */
export type Router<S, N extends string> = (state: S) => Goto<N>;
