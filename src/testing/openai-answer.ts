import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { isJsonObject, type Json, type JsonObject } from '../graph/json';
import { eventsOf, writeEvents, type Completion, type WireCall } from './openai-events';

/** One answer of a scripted Chat Completions service: a completion, unless it gives a body or an error. */
export interface OpenAiAnswer {
  readonly content?: string | null;
  /** Tools it asks for; arguments that are a string go out as they are, also where they are no JSON. */
  readonly toolCalls?: readonly { readonly name: string; readonly args: Json; readonly id?: string }[];
  /** As `reasoning_content`, where some providers put it. */
  readonly reasoning?: string;
  readonly finishReason?: string;
  /** Laid over the usage that is made up. */
  readonly usage?: JsonObject;

  /** The whole body instead: a string goes out as it is, anything else as JSON. */
  readonly body?: Json;
  /** An error body, and status 500 unless it says otherwise. */
  readonly error?: JsonObject;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;

  /** Milliseconds, or a promise, to wait for before answering; `never` waits until the caller hangs up. */
  readonly after?: number | Promise<unknown> | 'never';
  /** To a request that streams: the events instead, each sent as JSON, or a string as it is: `[DONE]`, or what is no JSON. */
  readonly events?: readonly Json[];
  /** To a request that streams: called with the number of each event, from 0, and waited for before it is sent. */
  readonly beforeEvent?: (event: number) => unknown;
  /** Compresses the body. */
  readonly gzip?: boolean;
  /** Cuts the connection: before anything is answered, or in the middle of the body, of one of its events where it streams. */
  readonly cut?: 'before' | 'within';
}

/** Writes an answer to a request with this body; gives up when the signal says that nobody listens. */
export async function writeAnswer(
  response: ServerResponse,
  request: Json,
  answer: OpenAiAnswer,
  gone: AbortSignal,
): Promise<void> {
  await waitFor(answer.after, gone);
  if (gone.aborted) return;
  if (answer.cut === 'before') {
    response.destroy();
    return;
  }
  if (streams(request, answer)) {
    await writeEvents(response, eventsOf(request, completion(request, answer), answer), answer, gone);
    return;
  }
  const text = bodyOf(request, answer);
  const bytes = answer.gzip ? gzipSync(text) : Buffer.from(text);
  response.writeHead(answer.status ?? (answer.error ? 500 : 200), {
    'content-type': 'application/json',
    // What is compressed on the way has no length yet, and goes in chunks.
    ...(answer.gzip ? { 'content-encoding': 'gzip' } : { 'content-length': bytes.length }),
    ...(answer.headers as Record<string, string | string[]>),
  });
  if (answer.cut !== 'within') {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy());
}

async function waitFor(after: OpenAiAnswer['after'], gone: AbortSignal): Promise<void> {
  if (after === undefined || gone.aborted) return;
  const hungUp = once(gone, 'abort');
  if (after === 'never') await hungUp;
  else await Promise.race([typeof after === 'number' ? delay(after, undefined, { ref: false }) : after, hungUp]);
}

function streams(request: Json, { body, error, status = 200 }: OpenAiAnswer): boolean {
  return isJsonObject(request) && request.stream === true && body === undefined && !error && status < 300;
}

function bodyOf(request: Json, answer: OpenAiAnswer): string {
  if (answer.body !== undefined) return typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  if (answer.error) return JSON.stringify({ error: answer.error });
  if ((answer.status ?? 200) >= 300) return JSON.stringify({ error: { message: `scripted status ${answer.status}` } });
  return JSON.stringify(completion(request, answer));
}

function completion(
  request: Json,
  { content, toolCalls = [], reasoning, finishReason, usage }: OpenAiAnswer,
): Completion {
  const message = {
    role: 'assistant',
    content: content ?? (toolCalls.length > 0 ? null : ''),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(wireCall) }),
  };
  const finish_reason = finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: isJsonObject(request) ? (request.model ?? '') : '',
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: { ...usageOf(request, message), ...usage },
  };
}

function wireCall(call: NonNullable<OpenAiAnswer['toolCalls']>[number], index: number): WireCall {
  const { name, args, id = `call_${index}_${randomUUID().slice(0, 8)}` } = call;
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return { index, id, type: 'function', function: { name, arguments: text } };
}

// Four characters are about a token.
function usageOf(request: Json, message: object): Record<string, number> {
  const prompt_tokens = Math.ceil(JSON.stringify(request).length / 4);
  const completion_tokens = Math.ceil(JSON.stringify(message).length / 4);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
