import { callModel } from '../activities/call-model';
import { callTool } from '../activities/call-tool';
import type { NodeResult } from '../activities/call-record';
import { limitExchanges } from '../activities/limit-exchanges';
import { ModelError } from '../activities/model-error';
import type { CheckedDependencies } from '../activities/check-dependencies';
import { unknownToolOutcome } from '../graph/tool-messages';
import type { Dispatch } from '../graph/engine';
import { AbeyanceError, GraphRunError, messageOf } from '../graph/errors';
import type { Exchange } from '../graph/exchange';
import type { NodeBody } from '../graph/implement';
import type { ModelNode, NodeRetryPolicy } from '../graph/node-definition';
import { toJson, type JsonObject } from '../graph/json';
import type { Message } from '../graph/messages';
import { nodeCallOf, toolCallOf, type ModelTarget } from '../graph/node-call';
import { NodeRun } from '../graph/node-run';
import { runBody } from '../graph/run-body';
import { seenState } from '../graph/seen-state';
import { decodeState } from '../graph/write-state';

const DEFAULT_ATTEMPTS = 3;

/** A task to run in this process: whose it is, and what it is run with. */
export interface MemoryTask {
  readonly threadId: string;
  readonly idempotencyKey: string;
  readonly dependencies: CheckedDependencies;
  readonly dispatch: Dispatch;
}

/**
 * Runs a task with the same body runner, model and tool code as a worker.
 *
 * Failed attempts are repeated as often as the node's retry policy says, without its delays and a provider's.
 *
 * @throws {AbeyanceError} `NODE_FAILED`, or the error's own code.
 */
export async function runTaskInMemory(task: MemoryTask): Promise<NodeResult> {
  const carried: Carried = { once: new Map(Object.entries(task.dispatch.task.once)), exchanges: [] };
  const { node } = task.dispatch.task;
  const { maximumAttempts = DEFAULT_ATTEMPTS, nonRetryableErrorTypes = [] } = retryOf(task);
  for (let attempt = 1; ; attempt++) {
    try {
      return toJson(await runOnce(task, nodeRunOf(task, attempt, carried), carried)) as unknown as NodeResult;
    } catch (thrown) {
      if (thrown instanceof AbeyanceError && !(thrown instanceof ModelError && thrown.retryable)) throw thrown;
      const again = !(thrown instanceof Error && nonRetryableErrorTypes.includes(typeOf(thrown)));
      if (again && attempt < maximumAttempts) continue;
      if (thrown instanceof AbeyanceError) throw thrown;
      throw new GraphRunError('NODE_FAILED', `Node "${node}" failed: ${messageOf(thrown)}`, node, { cause: thrown });
    }
  }
}

/** What attempts at a task hand on to the next. */
interface Carried {
  readonly once: Map<string, any>;
  exchanges: readonly Exchange[];
}

function typeOf(error: Error): string {
  return error instanceof AbeyanceError ? error.code : error.name;
}

function retryOf({ dispatch: { graph, definition } }: MemoryTask): NodeRetryPolicy {
  if (definition.kind === 'workflow') return { maximumAttempts: 1 };
  return { ...graph.activity.retry, ...definition.activity?.retry };
}

function nodeRunOf({ threadId, idempotencyKey, dispatch }: MemoryTask, attempt: number, { once }: Carried): NodeRun {
  const { id, node, step, visit, answers } = dispatch.task;
  const info = { threadId, graph: dispatch.graph.name, node, task: id, step, visit, attempt, idempotencyKey };
  return new NodeRun(info, answers, Object.fromEntries(once), {
    signal: new AbortController().signal,
    saveOnce: (results) => Object.entries(results).forEach(([key, value]) => once.set(key, value)),
  });
}

async function runOnce(memoryTask: MemoryTask, run: NodeRun, carried: Carried): Promise<NodeResult> {
  const { dispatch, dependencies } = memoryTask;
  const { graph, definition, task } = dispatch;
  const state = (): unknown => seenState(graph, task.node, definition, dispatch.state, task.input !== undefined);
  switch (definition.kind) {
    case 'workflow':
      return runBody({ graph, body: definition.fn, state: state(), run });
    case 'activity': {
      const body = dependencies.bodies.get(graph.name)?.get(task.node) as NodeBody;
      return runBody({ graph, body, state: state(), run });
    }
    case 'tools': {
      const call = toolCallOf(dispatch);
      const known = definition.tools.some(({ name }) => name === call.name);
      return known
        ? callTool({ tools: dependencies.tools, node: definition, call, run })
        : unknownToolOutcome(definition, call);
    }
    case 'model':
      return callModelInMemory(memoryTask, definition, run, carried);
    default:
      return definition satisfies never;
  }
}

function callModelInMemory(
  { dispatch, dependencies: { models }, idempotencyKey }: MemoryTask,
  { messages: messagesKey }: ModelNode,
  { info, ports: { signal } }: NodeRun,
  carried: Carried,
): Promise<NodeResult> {
  const state = decodeState(dispatch.graph.schema, dispatch.state as JsonObject, dispatch.task.node, [messagesKey]);
  const messages = (state[messagesKey] ?? []) as readonly Message[];
  const target = nodeCallOf(dispatch, idempotencyKey).model as ModelTarget;
  const keepExchange = (exchange: Exchange): void => {
    carried.exchanges = limitExchanges([...carried.exchanges, exchange]);
  };
  const context = { ...info, signal, earlierExchanges: carried.exchanges, keepExchange };
  return callModel({ models, target, messagesKey, messages, context });
}
