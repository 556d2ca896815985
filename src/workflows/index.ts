/**
 * `abeyance/workflow`: runs graphs as Temporal workflows. For workflow code, and for clients that send its messages.
 *
 * @module
 */
export type { RolledOver, RunView, Stop } from '../graph/run-view';
export type { Carry } from './carry';
export { graphWorkflow } from './graph-workflow';
export type { HistoryLimits } from './history-budget';
export {
  approveSignal,
  decideUpdate,
  decisionsQuery,
  denySignal,
  editSignal,
  graphQuery,
  pendingQuery,
  respondSignal,
  resumeSignal,
  resumeUpdate,
  stateQuery,
  untilStoppedUpdate,
  type DecisionReply,
  type EditPayload,
  type Expected,
  type RespondPayload,
  type Waiting,
} from './messages';
export type { GraphWorkflowOptions } from './workflow-options';
export { MEMO_KEY, statusAttribute, waitingForAttribute, type PublishedView } from './pending-in-the-open';
