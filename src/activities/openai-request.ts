import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import type { Json, JsonObject } from '../graph/json';
import type { Message, ToolCall } from '../graph/messages';
import type { ToolDeclaration } from '../graph/tool';
import type { ModelRequest } from './chat-model';
import type { OpenAiModelOptions } from './openai-options';

/** What providers fill in where a request leaves it out. */
const PARAMETERS = ['temperature', 'max_tokens', 'top_p', 'stop', 'seed', 'tool_choice'] as const;

/** The body of a Chat Completions request. */
export function requestBody(
  { messages, tools }: ModelRequest,
  model: string,
  options: OpenAiModelOptions,
): ChatCompletionCreateParamsNonStreaming {
  const body = {
    messages: messages.map(wireMessage),
    model,
    ...(options.stream ? { stream: true, stream_options: { include_usage: true } } : { stream: false }),
    ...(tools.length > 0 && { tools: tools.map(wireTool) }),
    ...parametersOf(options, tools.length > 0),
  };
  return body as unknown as ChatCompletionCreateParamsNonStreaming;
}

/** The parameters a body leaves to the provider. */
export function defaultedIn(body: object): string[] {
  return PARAMETERS.filter((name) => !(name in body));
}

function parametersOf(
  { temperature, maxTokens, topP, stop, seed, toolChoice }: OpenAiModelOptions,
  hasTools: boolean,
): object {
  const choice =
    typeof toolChoice === 'object' ? { type: 'function', function: { name: toolChoice.name } } : toolChoice;
  const all = {
    temperature,
    max_tokens: maxTokens,
    top_p: topP,
    stop,
    seed,
    // Services refuse a choice among no tools.
    tool_choice: hasTools ? choice : undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function wireMessage({ role, content, name, tool_calls: calls = [], tool_call_id: callId }: Message): object {
  switch (role) {
    case 'human':
      return { content, role: 'user', ...(name && { name }) };
    case 'system':
      return { content, role: 'system', ...(name && { name }) };
    case 'tool':
      return { content, role: 'tool', tool_call_id: callId };
    case 'ai':
      return calls.length === 0
        ? { content, role: 'assistant', ...(name && { name }) }
        : { content: content || null, role: 'assistant', ...(name && { name }), tool_calls: calls.map(wireCall) };
    default:
      return role satisfies never;
  }
}

function wireCall({ id, name, args }: ToolCall): object {
  return {
    id,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  };
}

function wireTool({ name, description, schema }: ToolDeclaration): object {
  return { type: 'function', function: { name, description, parameters: bareParameters(schema) } };
}

// The function says its name and description itself; the rest is noise to a model.
function bareParameters(schema: JsonObject): JsonObject {
  const { $schema: _dialect, title: _title, description: _description, ...rest } = schema;
  const { properties = {}, required, type = 'object', additionalProperties, ...more } = rest;
  const kept: Record<string, Json> = { properties };
  if (required !== undefined) kept.required = required;
  if (additionalProperties !== undefined && additionalProperties !== false)
    kept.additionalProperties = additionalProperties;
  return { ...kept, ...more, type };
}
