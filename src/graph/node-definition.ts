import type { ApprovalPolicy } from './approval-policy';
import type { Goto } from './commands';
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
  /** Run only when nothing else is left to run. */
  readonly defer?: boolean;
  readonly activity?: NodeActivityOptions;
}

/** A node implemented on the worker: `implement(graph, { name: async (state) => … })`. */
export interface ActivityNode extends NodeOptions {
  readonly kind: 'activity';
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

/** Every kind of node. */
export type NodeDefinition = ActivityNode | WorkflowNode | ModelNode | ToolsNode;

/** The kinds of node that run as activities. */
export type NodeKind = NodeDefinition['kind'];

/** A router: looks at the state and names what runs next. Pure and synchronous, for it runs in workflow code. */
export type Router<S, N extends string> = (state: S) => Goto<N>;
