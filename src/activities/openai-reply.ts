import { isJsonObject, type Json, type JsonObject } from '../graph/json';
import type { ToolCall } from '../graph/messages';
import type { ModelReply, ModelUsage } from './chat-model';

/**
 * Reads the body of a Chat Completions response; undefined where it holds no reply.
 *
 * Lenient, since services differ: content in parts, arguments as an object or empty, calls without ids of their own.
 * `idPrefix` names calls that the service left without an id.
 */
export function replyIn(body: Json, idPrefix: string): ModelReply | undefined {
  if (!isJsonObject(body)) return undefined;
  const choice = Array.isArray(body.choices) ? (body.choices[0] as Json | undefined) : undefined;
  if (choice === undefined || !isJsonObject(choice) || !isJsonObject(choice.message ?? null)) return undefined;
  const message = choice.message as JsonObject;
  const usage = usageIn(body);
  return {
    content: textOf(message.content) || textOf(message.refusal),
    toolCalls: toolCallsIn(message, idPrefix),
    model: typeof body.model === 'string' ? body.model : '',
    ...(typeof choice.finish_reason === 'string' && { finishReason: choice.finish_reason }),
    ...(usage && { usage }),
  };
}

/** The usage of a response's body, where it tells. */
export function usageIn(body: Json): ModelUsage | undefined {
  const usage = isJsonObject(body) ? body.usage : undefined;
  if (!isJsonObject(usage)) return undefined;
  const input = count(usage.prompt_tokens) ?? 0;
  const output = count(usage.completion_tokens) ?? 0;
  const cached = count(within(usage.prompt_tokens_details, 'cached_tokens')) ?? count(usage.prompt_cache_hit_tokens);
  const reasoning = count(within(usage.completion_tokens_details, 'reasoning_tokens'));
  return {
    input,
    output,
    total: count(usage.total_tokens) ?? input + output,
    ...(cached !== undefined && { cached }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

function toolCallsIn(message: JsonObject, idPrefix: string): ToolCall[] {
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as readonly Json[]) : [];
  const used = new Set<string>();
  return calls.flatMap((call, index) => {
    const asked = within(call, 'function');
    if (!isJsonObject(asked) || typeof asked.name !== 'string') return [];
    const given = within(call, 'id');
    // Answers find their calls by id.
    const id = typeof given === 'string' && given !== '' && !used.has(given) ? given : `${idPrefix}_${index}`;
    used.add(id);
    return [{ id, name: asked.name, args: argsOf(asked.arguments) as ToolCall['args'] }];
  });
}

// A string stands for text that is no JSON; so text that is a JSON string stays text.
function argsOf(given: Json | undefined): Json {
  if (given === undefined || given === null || given === '') return {};
  if (typeof given !== 'string') return given;
  const parsed = parsedOrText(given);
  return typeof parsed === 'string' ? given : parsed;
}

/** A text as the JSON it is, or as itself. */
export function parsedOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts = content as readonly Json[];
  return parts
    .map((part) => (typeof part === 'string' ? part : within(part, 'text')))
    .filter((text) => typeof text === 'string')
    .join('');
}

function within(value: Json | undefined, key: string): Json | undefined {
  return value !== undefined && isJsonObject(value) ? value[key] : undefined;
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
