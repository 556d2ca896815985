/**
 * `abeyance`: what a graph is made of. Safe to import anywhere: workflow code, workers, clients, tests.
 *
 * @module
 */
export { approvalGate, type ApprovalGateOptions } from './graph/approval-gate';
export type { ApprovalPolicy, CallPolicy } from './graph/approval-policy';
export {
  Command,
  END,
  INTERRUPT,
  isInterrupted,
  Overwrite,
  Send,
  START,
  type CommandFields,
  type Goto,
  type Interrupt,
} from './graph/commands';
export { type CompiledGraph, type GraphDescription } from './graph/compiled-graph';
export { createAgent, type AgentFields, type AgentNodes, type AgentOptions } from './graph/create-agent';
export type { Decision, DecisionDetails, DecisionRecord, DecisionRequest, Verdict } from './graph/decision';
export {
  AbeyanceError,
  DecisionRefusedError,
  GraphDefinitionError,
  GraphRunError,
  NodeContextError,
  StateError,
  ThreadError,
  type ErrorCode,
  type OpenQuestion,
} from './graph/errors';
export type {
  Accepted,
  DecideOptions,
  ForkOptions,
  GraphRunner,
  GraphThread,
  RunOptions,
  RunResult,
  StateSnapshot,
  UpdateStateOptions,
} from './graph/graph-runner';
export { PrivateValue, UntrackedValue } from './graph/hidden-value';
export { implement, type NodeSet } from './graph/implement';
export { inWorkflow } from './graph/in-workflow';
export {
  GraphInterrupt,
  interrupt,
  nodeContext,
  rejectAnswer,
  type RejectOptions,
  type InterruptOptions,
  type NodeContext,
} from './graph/interrupt';
export type { Json, JsonObject } from './graph/json';
export {
  Message,
  MessagesValue,
  REMOVE_ALL_MESSAGES,
  removeMessage,
  ToolCall,
  type MessageUpdate,
  type NewMessage,
  type Removal,
} from './graph/messages';
export { once } from './graph/once';
export { modelNode, type ModelNodeOptions } from './graph/model-node';
export type {
  CachePolicy,
  Duration,
  NodeActivityOptions,
  NodeFailure,
  NodeOptions,
  NodeRetryPolicy,
} from './graph/node-definition';
export type { ApprovalAction, ApprovalDecision, Question } from './graph/question';
export { OMITTED, type TaskView } from './graph/run-view';
export type {
  AttemptFailedEvent,
  CustomEvent,
  EndEvent,
  MessagesEvent,
  QuestionsEvent,
  StreamEvent,
  StreamMode,
  StreamOptions,
  TaskEnd,
  TaskEndEvent,
  TaskError,
  TaskStartEvent,
  ThreadStreamOptions,
  UpdatesEvent,
  ValuesEvent,
} from './graph/stream-event';
export { StateGraph, type CompileOptions } from './graph/state-graph';
export { subgraph, type SubgraphOptions } from './graph/subgraph-node';
export { ReducedValue, StateSchema, type ShownFields, type StateOf, type UpdateOf } from './graph/state-schema';
export { tool, type Tool, type ToolDeclaration } from './graph/tool';
export { toolNode, type ToolNodeOptions } from './graph/tool-node';
