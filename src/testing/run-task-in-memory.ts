import { callModel } from '../activities/call-model';
import { callTool } from '../activities/call-tool';
import type { NodeResult } from '../activities/call-record';
import { limitExchanges } from '../activities/limit-exchanges';
import { ModelError } from '../activities/model-error';
import type { CheckedDependencies } from '../activities/check-dependencies';
import { unknownToolOutcome } from '../graph/tool-messages';
import type { Dispatch } from '../graph/dispatch';
import { AbeyanceError, GraphRunError, messageOf, type ErrorCode } from '../graph/errors';
import type { Exchange } from '../graph/exchange';
import type { NodeBody } from '../graph/implement';
import type { ModelNode, NodeRetryPolicy } from '../graph/node-definition';
import { toJson, type JsonObject } from '../graph/json';
import type { Message } from '../graph/messages';
import { nodeCallOf, toolCallOf, type ModelTarget } from '../graph/node-call';
import { placeOf, type AttemptPlace, type Narrator } from '../graph/narrator';
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
  /** Tells whoever streams the run, while the task still runs. */
  readonly show: (tell: (narrator: Narrator) => void) => void;
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
      if (again && attempt < maximumAttempts) {
        const error = errorOf(thrown, node);
        task.show((narrator) => narrator.attemptFailed({ ...placeOf(task.dispatch.task), attempt }, error, now()));
        continue;
      }
      if (thrown instanceof AbeyanceError) throw thrown;
      const { code, message } = errorOf(thrown, node);
      throw new GraphRunError(code, message, node, { cause: thrown });
    }
  }
}

/** What attempts at a task hand on to the next. */
interface Carried {
  readonly once: Map<string, any>;
  exchanges: readonly Exchange[];
}

function errorOf(thrown: unknown, node: string): { readonly code: ErrorCode; readonly message: string } {
  if (thrown instanceof AbeyanceError) return { code: thrown.code, message: thrown.message };
  return { code: 'NODE_FAILED', message: `Node "${node}" failed: ${messageOf(thrown)}` };
}

function typeOf(error: Error): string {
  return error instanceof AbeyanceError ? error.code : error.name;
}

function retryOf({ dispatch: { graph, definition } }: MemoryTask): NodeRetryPolicy {
  if (definition.kind === 'workflow') return { maximumAttempts: 1 };
  return { ...graph.activity.retry, ...definition.activity?.retry };
}

function nodeRunOf(task: MemoryTask, attempt: number, { once }: Carried): NodeRun {
  const { threadId, idempotencyKey, dispatch, show } = task;
  const { id, node, step, visit, answers } = dispatch.task;
  let written = 0;
  const info = { threadId, graph: dispatch.graph.name, node, task: id, step, visit, attempt, idempotencyKey };
  return new NodeRun(info, answers, Object.fromEntries(once), {
    signal: new AbortController().signal,
    saveOnce: (results) => Object.entries(results).forEach(([key, value]) => once.set(key, value)),
    write: (chunk) =>
      show((narrator) => narrator.wrote({ ...placeOf(dispatch.task), attempt }, written++, chunk, now())),
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

async function callModelInMemory(
  { dispatch, dependencies: { models }, idempotencyKey, show }: MemoryTask,
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
  const place: AttemptPlace = { ...placeOf(dispatch.task), attempt: info.attempt };
  let said = 0;
  const writeText = (text: string): void => {
    show((narrator) => narrator.said(place, said, text, now()));
    said += text.length;
  };
  const context = { ...info, signal, earlierExchanges: carried.exchanges, keepExchange, writeText };
  const result = await callModel({ models, target, messagesKey, messages, context });
  if (result.record?.kind === 'model') writeText(result.record.reply.content.slice(said));
  return result;
}

function now(): string {
  return new Date().toISOString();
}
