import { Exchange, NOT_RECORDED } from '../graph/exchange';
import type { Json } from '../graph/json';
import type { Capture } from './capture-fetch';
import type { ModelReply } from './chat-model';
import type { ModelError } from './model-error';
import { parsedOrText, usageIn } from './openai-reply';
import { defaultedIn } from './openai-request';
import type { OpenAiSettings } from './openai-options';
import { publicHeaders, publicUrl, redactJson, type Redact } from './secrets';

/** How an attempt ended, beside what went over the wire. */
export interface AttemptEnd {
  readonly attempt: number;
  /** Of the whole call, on the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly redact: Redact;
  readonly reply?: ModelReply;
  readonly error?: ModelError;
}

/** An attempt as it may be recorded: secrets out, as much as the options say, masked last. */
export function recordExchange(
  capture: Capture,
  { record, mask }: Pick<OpenAiSettings, 'record' | 'mask'>,
  end: AttemptEnd,
): Exchange | undefined {
  if (record === 'none') return undefined;
  const whole = wholeExchange(capture, end);
  const exchange = record === 'headers' ? withoutBodies(whole, 'record') : whole;
  if (!mask) return exchange;
  try {
    return Exchange.parse(mask(exchange));
  } catch {
    return withoutContent(exchange);
  }
}

/** An exchange without its bodies, and with the reason why. */
export function withoutBodies(exchange: Exchange, bodyOmitted: 'record' | 'size' | 'mask'): Exchange {
  const { body: _sent, ...request } = exchange.request;
  const { body: _received, ...response } = exchange.response ?? {};
  return {
    ...exchange,
    request: { ...request, bodyOmitted },
    ...(exchange.response && { response: { ...(response as typeof exchange.response), bodyOmitted } }),
  };
}

function wholeExchange(capture: Capture, { attempt, startedAt, redact, reply, error }: AttemptEnd): Exchange {
  const sentBody = parsedOrText(capture.body);
  const usage = reply?.usage ?? (capture.complete ? usageIn(bodyOf(capture)) : undefined);
  return {
    attempt,
    request: {
      method: capture.method,
      url: redact(publicUrl(capture.url)),
      defaulted: typeof sentBody === 'object' && sentBody !== null ? defaultedIn(sentBody) : [],
      headers: publicHeaders(capture.sent.headers ?? capture.asked, redact),
      headersFrom: capture.sent.headers ? 'wire' : 'asked',
      ...(capture.body !== '' && { body: redactJson(sentBody, redact) as Exchange['request']['body'] }),
    },
    ...(capture.status !== undefined && { response: received(capture, capture.status, redact) }),
    ...(error && { error: { code: error.code, message: error.message } }),
    ...(reply?.finishReason !== undefined && { finishReason: reply.finishReason }),
    ...(usage && { usage }),
    ms: millisecondsOf(capture, startedAt),
  };
}

function received(capture: Capture, status: number, redact: Redact): NonNullable<Exchange['response']> {
  return {
    status,
    headers: publicHeaders(capture.received, redact),
    body: redactJson(bodyOf(capture), redact) as Exchange['request']['body'],
    ...(capture.streamed && { events: capture.streamed.events }),
    ...(!capture.complete && { cut: true as const }),
  };
}

// What came in events is put together where it came whole; else what there is of it says more as it came.
function bodyOf({ streamed, text, complete }: Capture): Json {
  const isWhole = streamed !== undefined && complete && streamed.isWhole && streamed.broken === undefined;
  return isWhole ? streamed.body() : parsedOrText(text);
}

function millisecondsOf({ sent, startedAt: asked, endedAt }: Capture, startedAt: number): Exchange['ms'] {
  const total = performance.now() - startedAt;
  const provider = endedAt === undefined ? 0 : endedAt - (sent.at ?? asked);
  return { provider: rounded(provider), library: rounded(total - provider) };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

// A mask that failed has masked nothing.
function withoutContent(exchange: Exchange): Exchange {
  const bare = withoutBodies(exchange, 'mask');
  return {
    ...bare,
    request: { ...bare.request, url: NOT_RECORDED, headers: {} },
    ...(bare.response && { response: { ...bare.response, headers: {} } }),
    ...(bare.error && { error: { ...bare.error, message: NOT_RECORDED } }),
  };
}
