import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import { nodeActivityName, toolActivityName } from '../graph/activity-name';
import type { Dispatch } from '../graph/dispatch';
import type { NodeActivityOptions } from '../graph/node-definition';
import type { WorkflowNode } from '../graph/node-definition';
import { inputOf, nodeCallOf, toolCallOf, type NodeCall } from '../graph/node-call';
import { NodeRun } from '../graph/node-run';
import type { Json } from '../graph/json';
import type { Outcome } from '../graph/outcome';
import { runBody } from '../graph/run-body';
import { seenState } from '../graph/seen-state';
import { unknownToolOutcome } from '../graph/tool-messages';
import { refuseTooLarge } from '../graph/size-limit';
import { runLocally } from './local-task';

type NodeActivity = (input: Json, call: NodeCall) => Promise<Outcome>;

const DEFAULTS = { startToCloseTimeout: '10 minutes', heartbeatTimeout: '30 seconds' } as const;

// A missing activity fails with NotFoundError, which Temporal would retry for ever.
const NEVER_RETRIED = ['NotFoundError'];

/** Whose task it is, beside what the task says itself. */
export interface TaskOwner {
  readonly threadId: string;
  readonly idempotencyKey: string;
  readonly externalStorage?: boolean;
  /** It runs in this worker, as a local activity. */
  readonly isLocal: boolean;
}

/** Runs a task where its node belongs: as an activity, local or not, or here. Synchronous where a workflow-side body is. */
export function runTask(owner: TaskOwner, dispatch: Dispatch): Outcome | Promise<Outcome> {
  const { definition } = dispatch;
  switch (definition.kind) {
    case 'workflow':
      return runHere(owner, dispatch, definition);
    case 'tools': {
      const call = toolCallOf(dispatch);
      const known = definition.tools.some(({ name }) => name === call.name);
      if (!known) return unknownToolOutcome(definition, call);
      return runActivity(owner, dispatch, toolActivityName(dispatch.graph.name, call.name), call.name);
    }
    case 'activity':
    case 'model':
      return runActivity(
        owner,
        dispatch,
        nodeActivityName(dispatch.graph.name, dispatch.task.node),
        dispatch.task.node,
      );
    default:
      return definition satisfies never;
  }
}

function runHere(
  { threadId, idempotencyKey }: TaskOwner,
  { graph, task, state }: Dispatch,
  definition: WorkflowNode,
): Outcome | Promise<Outcome> {
  const { id, node, step, visit } = task;
  const info = { threadId, graph: graph.name, node, task: id, step, visit, attempt: 1, idempotencyKey };
  const run = new NodeRun(info, task.answers, task.once, {
    signal: new AbortController().signal,
    saveOnce: () => undefined,
  });
  const seen = seenState(graph, node, definition, state, task.input !== undefined);
  return runBody({ graph, body: definition.fn, state: seen, run });
}

function runActivity(owner: TaskOwner, dispatch: Dispatch, type: string, name: string): Promise<Outcome> {
  const { task, definition } = dispatch;
  const options = nodeOptions(dispatch.graph.activity, definition.activity);
  const activityId = `${task.id}#${task.visit}`;
  const call = nodeCallOf(dispatch, owner.idempotencyKey);
  if (owner.isLocal) return runLocally({ type, activityId, options, args: [inputOf(dispatch), call] });
  const activities = proxyActivities<Record<string, NodeActivity>>({ ...DEFAULTS, ...options, activityId });
  const activity = activities[type] as NodeActivity & {
    executeWithOptions(o: ActivityOptions, args: unknown[]): Promise<Outcome>;
  };
  const args = [inputOf(dispatch), owner.externalStorage ? { ...call, externalStorage: true } : call];
  if (!owner.externalStorage) refuseTooLarge('The input', args, task.node);
  const summary = task.visit > 1 ? `${name} · after the answer` : name;
  return activity.executeWithOptions({ summary }, args);
}

type SetOptions = Omit<NodeActivityOptions, 'retry'> & Pick<ActivityOptions, 'retry'>;

function nodeOptions(graph: NodeActivityOptions, node: NodeActivityOptions = {}): SetOptions {
  const retry = { maximumAttempts: 3, ...graph.retry, ...node.retry };
  const named = [...(graph.retry?.nonRetryableErrorTypes ?? []), ...(node.retry?.nonRetryableErrorTypes ?? [])];
  const nonRetryableErrorTypes = [...NEVER_RETRIED, ...named];
  return { ...graph, ...node, retry: { ...retry, nonRetryableErrorTypes } };
}
