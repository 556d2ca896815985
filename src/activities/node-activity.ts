import { AsyncLocalStorage } from 'node:async_hooks';
import { Context } from '@temporalio/activity';
import type { AnyGraph } from '../graph/compiled-graph';
import type { NodeBody } from '../graph/implement';
import type { Json, JsonObject } from '../graph/json';
import type { ToolCall, Message } from '../graph/messages';
import type { ModelTarget, NodeCall } from '../graph/node-call';
import type { ModelNode, NodeDefinition, ToolsNode } from '../graph/node-definition';
import { provideNodeRunStorage, type NodeRun } from '../graph/node-run';
import { runBody } from '../graph/run-body';
import { seenState } from '../graph/seen-state';
import { nodePathOf } from '../graph/task';
import { decodeState } from '../graph/write-state';
import { observed, type Work } from './attempt-observer';
import { callModel } from './call-model';
import type { NodeResult } from './call-record';
import { callTool } from './call-tool';
import type { ChatModel } from './chat-model';
import { toActivityFailure } from './failures';
import type { ToolImplementation } from './implement-tool';
import { NodeAttempt, type Wire } from './node-attempt';

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
  const attempt = new NodeAttempt({ graph: graph.name, node, input, call }, context);
  const { run, wire } = attempt;
  const { info, ports, answers } = run;
  const watched = { info, answers, work, signal: ports.signal, failedExchange: () => attempt.failedExchange };
  try {
    return await observed(watched, async () => attempt.recorded(await body(run, wire)));
  } catch (thrown) {
    throw toActivityFailure(thrown, node, context, attempt.exchanges);
  } finally {
    attempt.stop();
  }
}
