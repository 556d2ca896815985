import type { Message, ToolCall } from '../graph/messages';
import type { ToolDeclaration } from '../graph/tool';

// The conventions prescribe these shapes. A span's attribute holds no objects, so they go on it as JSON text.

/** A conversation as the conventions write one. */
export function messagesAsJson(messages: readonly Message[]): string {
  return JSON.stringify(messages.map(messageOf));
}

/** A model's reply as the conventions write one: one message for the one choice that was asked for. */
export function replyAsJson({ content, toolCalls }: Reply): string {
  return JSON.stringify([{ role: 'assistant', parts: partsOf(content, toolCalls) }]);
}

/** A system prompt as the conventions write one. */
export function instructionsAsJson(system: string): string {
  return JSON.stringify([textPart(system)]);
}

/** Tools as the conventions write them. */
export function toolsAsJson(tools: readonly ToolDeclaration[]): string {
  return JSON.stringify(
    tools.map(({ name, description, schema }) => ({ type: 'function', name, description, parameters: schema })),
  );
}

interface Reply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
}

function messageOf({ role, content, name, tool_calls: calls, tool_call_id: id }: Message): object {
  const named = name === undefined ? {} : { name };
  switch (role) {
    case 'human':
      return { role: 'user', parts: [textPart(content)], ...named };
    case 'system':
      return { role: 'system', parts: [textPart(content)], ...named };
    case 'ai':
      return { role: 'assistant', parts: partsOf(content, calls), ...named };
    case 'tool':
      return { role: 'tool', parts: [{ type: 'tool_call_response', id, response: content }], ...named };
    default:
      return role satisfies never;
  }
}

function partsOf(content: string, calls: readonly ToolCall[] = []): object[] {
  const asked = calls.map(({ id, name, args }) => ({ type: 'tool_call', id, name, arguments: args }));
  return content === '' && asked.length > 0 ? asked : [textPart(content), ...asked];
}

function textPart(content: string): object {
  return { type: 'text', content };
}
