import { AsyncLocalStorage } from 'node:async_hooks';
import { Context } from '@temporalio/activity';
import type { AnyGraph } from '../graph/compiled-graph';
import type { NodeBody } from '../graph/implement';
import type { Exchange } from '../graph/exchange';
import type { Json, JsonObject } from '../graph/json';
import type { ToolCall, Message } from '../graph/messages';
import type { ModelNode, NodeDefinition, ToolsNode } from '../graph/node-definition';
import type { ModelTarget, NodeCall } from '../graph/node-call';
import { NodeRun, provideNodeRunStorage } from '../graph/node-run';
import { runBody } from '../graph/run-body';
import { seenState } from '../graph/seen-state';
import { refuseTooLarge } from '../graph/size-limit';
import { nodePathOf } from '../graph/task';
import { decodeState } from '../graph/write-state';
import { observed, type Work } from './attempt-observer';
import { callModel } from './call-model';
import type { NodeResult } from './call-record';
import { callTool } from './call-tool';
import type { ChatModel, ModelContext } from './chat-model';
import { toActivityFailure } from './failures';
import { readHeartbeat, type HeartbeatDetails } from './heartbeat-details';
import type { ToolImplementation } from './implement-tool';
import { keepAlive } from './keep-alive';
import { limitExchanges } from './limit-exchanges';

provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());

/** A node as Temporal runs it: the state it reads or the call it serves, and what the workflow tells beside. */
export type NodeActivity = (input: Json, call: NodeCall) => Promise<NodeResult>;

/** The activity of a node with a body of its own. */
export function bodyActivity(graph: AnyGraph, node: string, body: NodeBody): NodeActivity {
  const definition = graph.shape.nodes.get(node) as NodeDefinition;
  return (input, call) =>
    inContext(graph, node, { call, work: { kind: 'body' } }, async (run) => {
      const state = seenState(graph, node, definition, input, call.send === true);
      return runBody({ graph, body, state, run });
    });
}

/** The activity of a model node. */
export function modelActivity(
  graph: AnyGraph,
  node: string,
  models: Readonly<Record<string, ChatModel>>,
): NodeActivity {
  const { messages: messagesKey } = graph.shape.nodes.get(node) as ModelNode;
  return (input, call) => {
    const target = call.model as ModelTarget;
    const messages = ((input as JsonObject)[messagesKey] ?? []) as unknown as readonly Message[];
    const work = { kind: 'model', target, messages, model: models[target.name] } as const;
    return inContext(graph, node, { call, work }, ({ info, ports }, wire) => {
      const state = decodeState(graph.schema, input as JsonObject, node, [messagesKey]);
      return callModel({
        models,
        target,
        messagesKey,
        messages: (state[messagesKey] ?? []) as readonly Message[],
        context: { ...info, signal: ports.signal, ...wire },
      });
    });
  };
}

/** The activity of one tool of a graph: each call of it is one execution. */
export function toolActivity(graph: AnyGraph, tools: ReadonlyMap<string, ToolImplementation>): NodeActivity {
  return (input, call) => {
    const name = nodeOfTask(call.task);
    const node = graph.shape.nodes.get(name) as ToolsNode;
    const toolCall = input as unknown as ToolCall;
    const work = { kind: 'tool', call: toolCall } as const;
    return inContext(graph, name, { call, work }, (run) => callTool({ tools, node, call: toolCall, run }));
  };
}

function nodeOfTask(task: string): string {
  return nodePathOf(task).split('/').at(-1) ?? task;
}

type Wire = Pick<ModelContext, 'timeoutMs' | 'earlierExchanges' | 'keepExchange'>;

interface Called {
  readonly call: NodeCall;
  readonly work: Work;
}

async function inContext(
  graph: AnyGraph,
  node: string,
  { call, work }: Called,
  body: (run: NodeRun, wire: Wire) => Promise<NodeResult>,
): Promise<NodeResult> {
  const context = Context.current();
  const before = readHeartbeat(context.info.heartbeatDetails);
  let exchanges = before.exchanges;
  let failedExchange: Exchange | undefined;
  const details = (): HeartbeatDetails => ({ once: Object.fromEntries(run.once), exchanges });
  const run: NodeRun = nodeRunOf(graph.name, node, call, before, context, () => context.heartbeat(details()));
  const stop = keepAlive(context, details);
  const keepExchange = (exchange: Exchange): void => {
    failedExchange = exchange;
    exchanges = limitExchanges([...exchanges, exchange]);
    context.heartbeat(details());
  };
  const timeoutMs = context.info.startToCloseTimeoutMs;
  const { info, ports } = run;
  const attempt = { info, answers: run.answers, work, signal: ports.signal, failedExchange: () => failedExchange };
  try {
    return await observed(attempt, async () => {
      const result = await body(run, { timeoutMs, earlierExchanges: before.exchanges, keepExchange });
      if (!call.externalStorage) refuseTooLarge('The result', result, node);
      return result;
    });
  } catch (thrown) {
    throw toActivityFailure(thrown, node, context, exchanges);
  } finally {
    stop();
  }
}

function nodeRunOf(
  graph: string,
  node: string,
  call: NodeCall,
  before: HeartbeatDetails,
  context: Context,
  saveOnce: () => void,
): NodeRun {
  const { task, step, visit, idempotencyKey, answers = [], once = {} } = call;
  const { attempt, workflowExecution } = context.info;
  const threadId = workflowExecution?.workflowId ?? '';
  const info = { threadId, graph, node, task, step, visit, attempt, idempotencyKey };
  const ports = { signal: context.cancellationSignal, saveOnce };
  return new NodeRun(info, answers, { ...once, ...before.once }, ports);
}
