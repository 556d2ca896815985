import { AsyncLocalStorage } from 'node:async_hooks';
import { Context } from '@temporalio/activity';
import type { AnyGraph } from '../graph/compiled-graph';
import type { NodeBody } from '../graph/implement';
import type { Exchange } from '../graph/exchange';
import type { Json, JsonObject } from '../graph/json';
import type { ToolCall, Message } from '../graph/messages';
import type { ModelNode, NodeDefinition, ToolsNode } from '../graph/node-definition';
import { LiveWindow, type Chunks } from '../graph/live-window';
import type { ModelTarget, NodeCall } from '../graph/node-call';
import { NodeRun, provideNodeRunStorage, type NodePorts } from '../graph/node-run';
import { runBody } from '../graph/run-body';
import { seenState } from '../graph/seen-state';
import {
  bytesOf,
  MAX_LOCAL_BYTES,
  MAX_PAYLOAD_BYTES,
  refuseTooLarge,
  refuseTooLargeLocally,
} from '../graph/size-limit';
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
import { SteadyBeat } from './steady-beat';

provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());

/** A node as Temporal runs it: the state it reads or the call it serves, and what the workflow tells beside. */
export type NodeActivity = (input: Json, call: NodeCall) => Promise<NodeResult>;

/** The activity of a node with a body of its own. */
export function bodyActivity(graph: AnyGraph, node: string, body: NodeBody): NodeActivity {
  const definition = graph.shape.nodes.get(node) as NodeDefinition;
  return (input, call) =>
    inContext(graph, node, { input, call, work: { kind: 'body' } }, async (run) => {
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
    return inContext(graph, node, { input, call, work }, ({ info, ports }, wire) => {
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
    return inContext(graph, name, { input, call, work }, (run) => callTool({ tools, node, call: toolCall, run }));
  };
}

function nodeOfTask(task: string): string {
  return nodePathOf(task).split('/').at(-1) ?? task;
}

type Wire = Pick<ModelContext, 'timeoutMs' | 'earlierExchanges' | 'keepExchange' | 'writeText'>;

interface Called {
  readonly input: Json;
  readonly call: NodeCall;
  readonly work: Work;
}

async function inContext(
  graph: AnyGraph,
  node: string,
  { input, call, work }: Called,
  body: (run: NodeRun, wire: Wire) => Promise<NodeResult>,
): Promise<NodeResult> {
  const context = Context.current();
  const began = performance.now();
  const before = readHeartbeat(context.info.heartbeatDetails);
  let exchanges = before.exchanges;
  let failedExchange: Exchange | undefined;
  const window = new LiveWindow(context.info.attempt);
  const details = (): HeartbeatDetails => {
    const { live } = window;
    return { once: Object.fromEntries(run.once), exchanges, ...(live && { live }) };
  };
  // Nobody listens for a local activity's heartbeats, and the worker would complain of each.
  const beat = (): void => {
    if (!context.info.isLocal) context.heartbeat(details());
  };
  const shown = new SteadyBeat(beat);
  const write = (chunk: Json): void => shown.after(() => window.write(chunk));
  const writeText = (text: string): void => shown.after(() => window.say(text));
  const run: NodeRun = nodeRunOf(graph.name, node, call, before, context, { saveOnce: beat, write });
  const stop = keepAlive(context, details);
  const keepExchange = (exchange: Exchange): void => {
    failedExchange = exchange;
    exchanges = limitExchanges([...exchanges, exchange]);
    beat();
  };
  const timeoutMs = context.info.startToCloseTimeoutMs;
  const { info, ports } = run;
  const attempt = { info, answers: run.answers, work, signal: ports.signal, failedExchange: () => failedExchange };
  try {
    return await observed(attempt, async () => {
      const result = await body(run, { timeoutMs, earlierExchanges: before.exchanges, keepExchange, writeText });
      if (context.info.isLocal) {
        const record = { ...result, given: { input, call, ms: performance.now() - began } };
        refuseTooLargeLocally(record, node);
        return withWritten(record, window.written, MAX_LOCAL_BYTES);
      }
      if (!call.externalStorage) refuseTooLarge('The result', result, node);
      return withWritten(result, window.written);
    });
  } catch (thrown) {
    throw toActivityFailure(thrown, node, context, exchanges);
  } finally {
    stop();
    shown.stop();
  }
}

// What was shown is kept for those who come late, but never costs the run its result.
function withWritten(result: NodeResult, written: Chunks | undefined, limit = MAX_PAYLOAD_BYTES): NodeResult {
  if (!written) return result;
  const whole = { ...result, written };
  return bytesOf(whole) > limit ? result : whole;
}

function nodeRunOf(
  graph: string,
  node: string,
  call: NodeCall,
  before: HeartbeatDetails,
  context: Context,
  own: Pick<NodePorts, 'saveOnce' | 'write'>,
): NodeRun {
  const { task, step, visit, idempotencyKey, answers = [], once = {} } = call;
  const { attempt, workflowExecution } = context.info;
  const threadId = workflowExecution?.workflowId ?? '';
  const info = { threadId, graph, node, task, step, visit, attempt, idempotencyKey };
  const ports = { signal: context.cancellationSignal, ...own };
  return new NodeRun(info, answers, { ...once, ...before.once }, ports);
}
