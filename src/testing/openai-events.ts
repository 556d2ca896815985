import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { isJsonObject, type Json, type JsonObject } from '../graph/json';
import type { OpenAiAnswer } from './openai-answer';

/** A tool call as it goes over the wire. */
export interface WireCall {
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A reply as it goes over the wire in one piece. */
export interface Completion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: Json;
  readonly choices: readonly {
    readonly index: number;
    readonly logprobs: null;
    readonly message: {
      readonly role: string;
      readonly content: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly WireCall[];
    };
    readonly finish_reason: string;
  }[];
  readonly usage: Readonly<Record<string, Json>>;
}

/** The events that a reply is streamed in, the mark of the end too: text word by word, arguments of tools in two parts. */
export function eventsOf(
  request: Json,
  { choices, usage, ...reply }: Completion,
  { events }: OpenAiAnswer,
): readonly Json[] {
  if (events) return events;
  const { message, finish_reason } = choices[0] as Completion['choices'][number];
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...reply,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  return [
    chunk({ role: message.role, content: '' }),
    ...pieces(message.reasoning_content).map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(message.content).map((piece) => chunk({ content: piece })),
    ...(message.tool_calls ?? []).flatMap(callParts).map((part) => chunk({ tool_calls: [part] })),
    chunk({}, finish_reason),
    ...(wantsUsage(request) ? [{ ...reply, object: 'chat.completion.chunk', choices: [], usage }] : []),
    '[DONE]',
  ];
}

/** Writes events; gives up when the signal says that nobody listens. */
export async function writeEvents(
  response: ServerResponse,
  events: readonly Json[],
  { beforeEvent, cut, headers, status = 200 }: OpenAiAnswer,
  gone: AbortSignal,
): Promise<void> {
  response.writeHead(status, {
    'content-type': 'text/event-stream; charset=utf-8',
    ...(headers as Record<string, string | string[]>),
  });
  response.flushHeaders();
  const hungUp = once(gone, 'abort');
  const last = cut === 'within' ? Math.floor(events.length / 2) : events.length;
  for (const [n, event] of events.entries()) {
    await Promise.race([beforeEvent?.(n), hungUp]);
    if (gone.aborted) return;
    const text = `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
    if (n === last) {
      response.write(text.slice(0, Math.ceil(text.length / 2)), () => response.destroy());
      return;
    }
    response.write(text);
  }
  response.end();
}

function pieces(text: string | null | undefined): readonly string[] {
  return text?.match(/\S+\s*|\s+/g) ?? [];
}

function callParts({ index, id, type, function: asked }: WireCall): readonly JsonObject[] {
  const middle = Math.ceil(asked.arguments.length / 2);
  return [
    { index, id, type, function: { name: asked.name, arguments: asked.arguments.slice(0, middle) } },
    { index, function: { arguments: asked.arguments.slice(middle) } },
  ];
}

function wantsUsage(request: Json): boolean {
  const options = isJsonObject(request) ? request.stream_options : undefined;
  return isJsonObject(options) && options.include_usage === true;
}
