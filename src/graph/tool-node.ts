import type { Message, ToolCall } from './messages';
import type { NodeOptions, ToolsNode } from './node-definition';
import type { Tool } from './tool';

/** How a tool node is set up. */
export interface ToolNodeOptions extends NodeOptions {
  /** The tools that may run here. A call of any other is answered with an error message. */
  readonly tools: readonly Tool[];
  /** The state key of the conversation; default `messages`. */
  readonly messages?: string;
  /**
   * What becomes of a tool's own error, of arguments that do not fit, and of a call of a tool that is not here:
   * `message` (default) tells the model, `fail` fails the run.
   */
  readonly onToolError?: 'message' | 'fail';
}

/**
 * Makes a node that runs the open tool calls of the last `ai` message, each as an activity of its own.
 *
 * A call is open while no `tool` message answers it, so what an approval gate has denied never runs.
 * Each result is appended to the conversation as a `tool` message, in the order the model asked.
 *
 * @example .addNode('tools', toolNode({ tools: [placeOrder] }))
 */
export function toolNode(options: ToolNodeOptions): { kind: 'tools' } {
  const node: ToolsNode = { messages: 'messages', onToolError: 'message', ...options, kind: 'tools' };
  return node;
}

/** The calls of the last `ai` message that no `tool` message answers yet. */
export function openToolCalls(messages: readonly Message[]): readonly ToolCall[] {
  const at = messages.findLastIndex(({ role }) => role === 'ai');
  if (at < 0) return [];
  const answered = new Set(messages.slice(at + 1).map((message) => message.tool_call_id));
  return (messages[at]?.tool_calls ?? []).filter(({ id }) => !answered.has(id));
}
