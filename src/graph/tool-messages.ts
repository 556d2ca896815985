import { GraphRunError } from './errors';
import type { Json } from './json';
import type { NewMessage, ToolCall } from './messages';
import type { ToolsNode } from './node-definition';
import type { CompletedOutcome } from './outcome';
import { afterEdit, type SettledCall } from './ruled-call';

/** The outcome of a tool call: its result, as one message of the conversation. */
export function toolOutcome(node: Pick<ToolsNode, 'messages'>, call: ToolCall, result: Json): CompletedOutcome {
  return outcomeOf(node, call, typeof result === 'string' ? result : JSON.stringify(result), 'success');
}

/** The outcome of a tool call that did not do what was asked: the error, as one message of the conversation. */
export function toolErrorOutcome(node: Pick<ToolsNode, 'messages'>, call: ToolCall, error: string): CompletedOutcome {
  return outcomeOf(node, call, `Error: ${error}`, 'error');
}

/** The outcome of a call that was settled without running: what a gate ruled, as one message of the conversation. */
export function settledOutcome(
  node: Pick<ToolsNode, 'messages'>,
  call: ToolCall,
  { content, status }: SettledCall,
): CompletedOutcome {
  return outcomeOf(node, call, content, status);
}

/**
 * The outcome of a call of a tool that the node does not have.
 *
 * @throws {GraphRunError} `NODE_FAILED`, where the node is told to fail.
 */
export function unknownToolOutcome(node: ToolsNode, call: ToolCall): CompletedOutcome {
  const known = node.tools.map(({ name }) => name).join(', ');
  return badCallOutcome(node, call, `there is no tool "${call.name}". The tools are: ${known}.`);
}

/**
 * The outcome of a call that no tool can serve.
 *
 * @throws {GraphRunError} `NODE_FAILED`, where the node is told to fail.
 */
export function badCallOutcome(
  node: Pick<ToolsNode, 'messages' | 'onToolError'>,
  call: ToolCall,
  error: string,
): CompletedOutcome {
  if (node.onToolError === 'fail') {
    throw new GraphRunError('NODE_FAILED', `The model's call of tool "${call.name}" cannot be served: ${error}`);
  }
  return toolErrorOutcome(node, call, error);
}

function outcomeOf(
  { messages }: Pick<ToolsNode, 'messages'>,
  call: ToolCall,
  result: string,
  status: NewMessage['status'],
): CompletedOutcome {
  const { id, name } = call;
  const message: NewMessage = { role: 'tool', name, tool_call_id: id, content: afterEdit(call, result), status };
  return { kind: 'completed', updates: [{ [messages]: [{ ...message }] as Json }], goto: [] };
}
