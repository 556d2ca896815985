import OpenAI from 'openai';
import { capturingFetch, newCapture, type Capture } from './capture-fetch';
import type { ChatModel, ModelContext, ModelReply, ModelRequest } from './chat-model';
import { ModelError } from './model-error';
import { errorIn, faultOf, filtered, noResponse, refusal, unreadable } from './model-failures';
import { settingsOf, type OpenAiModelOptions, type OpenAiSettings } from './openai-options';
import { parsedOrText, replyIn } from './openai-reply';
import { requestBody } from './openai-request';
import { recordExchange } from './record-exchange';
import { retryAfterOf } from './retry-after';
import { redactJson, redactorOf, type Redact } from './secrets';

/**
 * Makes a model that answers live: OpenAI, or any service that speaks Chat Completions.
 *
 * What is not given comes from the environment, read here and now: `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_MODEL`.
 * Each call is one request; trying again is Temporal's business, after the time the provider asks for. What went over
 * the wire is on record with the call, failed attempts too, without keys and cookies.
 *
 * @throws {GraphDefinitionError} `MODEL_NOT_CONFIGURED`, `INVALID_OPTION`.
 * @example
 * new AbeyancePlugin({ graphs: [agent], models: { planner: openaiModel({ model: 'gpt-4.1-mini', temperature: 0 }) } });
 */
export function openaiModel(options: OpenAiModelOptions = {}): ChatModel {
  const settings = settingsOf(options, process.env);
  return {
    provider: settings.provider ?? settings.host,
    model: settings.model,
    endpoint: endpointOf(settings.baseURL),
    call: (request, context) => call(settings, request, context),
  };
}

function endpointOf(baseURL: string): NonNullable<ChatModel['endpoint']> {
  const { hostname, port, protocol } = new URL(baseURL);
  return { address: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

async function call(settings: OpenAiSettings, request: ModelRequest, context: ModelContext): Promise<ModelReply> {
  const startedAt = performance.now();
  const capture = newCapture();
  const { attempt } = context;
  const redacting = (): Redact =>
    redactorOf(
      capture.url,
      [settings.defaultHeaders ?? {}, capture.asked, capture.sent.headers ?? {}, capture.received],
      [settings.apiKey],
    );
  try {
    await send(settings, request, context, capture);
    const reply = readReply(settings, capture, context, redacting());
    const exchange = recordExchange(capture, settings, { attempt, startedAt, redact: redacting(), reply });
    return { ...reply, model: reply.model || settings.model, ...(exchange && { exchange }) };
  } catch (thrown) {
    if (context.signal.aborted) throw thrown;
    const redact = redacting();
    const error = thrown instanceof ModelError ? thrown : faulted(settings, context, capture, thrown, redact);
    const exchange = recordExchange(capture, settings, { attempt, startedAt, redact, error });
    if (exchange) context.keepExchange(exchange);
    throw error;
  }
}

/** Sends the request; what comes back is in the capture. */
async function send(
  settings: OpenAiSettings,
  request: ModelRequest,
  context: ModelContext,
  capture: Capture,
): Promise<void> {
  const { apiKey, baseURL, query, defaultHeaders, fetch = globalThis.fetch, model } = settings;
  const client = new OpenAI({
    apiKey,
    baseURL,
    defaultQuery: query,
    ...(defaultHeaders && { defaultHeaders }),
    timeout: timeoutOf(settings, context),
    maxRetries: 0,
    fetch: capturingFetch(fetch, capture, settings.stream ? context.writeText : undefined),
  });
  try {
    await client.chat.completions
      .create(requestBody(request, model, settings), { signal: context.signal })
      .asResponse();
  } catch (thrown) {
    // A whole response with a bad status is judged by what it says, below.
    if (!capture.complete) throw thrown;
  }
}

function readReply({ host }: OpenAiSettings, capture: Capture, context: ModelContext, redact: Redact): ModelReply {
  const { status = 0, text, received } = capture;
  const { streamed } = capture;
  const body = streamed ? streamed.body() : parsedOrText(text);
  const failed = errorIn(body);
  if (status < 200 || status > 299 || failed !== undefined) {
    const retryAfterMs = retryAfterOf(received, Date.now());
    const said = redactJson(body, redact);
    throw refusal({ host, status: statusOf(failed, status), body: said, ...(retryAfterMs && { retryAfterMs }) });
  }
  if (streamed?.broken !== undefined) throw unreadable(host, status, 'an event of its stream is no JSON');
  if (streamed && !streamed.isWhole) throw noResponse(host, 'its stream ended before its reply did', status);
  if (typeof body === 'string') throw unreadable(host, status, 'what it sent is no JSON');
  const reply = replyIn(body, `call_${context.task.replace(/\W+/g, '_')}`);
  if (!reply) throw unreadable(host, status, 'there is no message in what it sent');
  if (reply.finishReason === 'content_filter') throw filtered(host, status);
  return reply;
}

// Gateways wrap another's error into a 200 of their own.
function statusOf(error: unknown, status: number): number {
  if (status < 200 || status > 299) return status;
  const code = typeof error === 'object' && error !== null && 'code' in error ? Number(error.code) : NaN;
  return code >= 400 && code <= 599 ? code : 502;
}

function faulted(
  settings: OpenAiSettings,
  context: ModelContext,
  { status, aborted }: Capture,
  thrown: unknown,
  redact: Redact,
): ModelError {
  const what = aborted ? `it took longer than ${timeoutOf(settings, context)} ms` : redact(faultOf(thrown));
  return noResponse(settings.host, what, status);
}

// Ends before the attempt does, so that there is time to say what happened.
function timeoutOf({ timeout }: OpenAiSettings, { timeoutMs = Infinity }: ModelContext): number {
  return Math.min(timeout, Math.floor(timeoutMs * 0.9));
}
