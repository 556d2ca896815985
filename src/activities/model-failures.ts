import type { ErrorCode } from '../graph/errors';
import { isJsonObject, type Json } from '../graph/json';
import { ModelError } from './model-error';

const LONGEST_QUOTE = 300;

const WORTH_ANOTHER_TRY = new Set([408, 409, 425, 429]);
const CONTENT_FILTER =
  /content[_ ]?(?:management |policy )?(?:filter|policy)|responsible ?ai|content_policy_violation/i;
const CONTEXT_LENGTH =
  /context[_ ](?:length|size|window)|maximum context|prompt is too long|too many (?:input )?tokens/i;

/** A response that is no reply. */
export interface RefusedCall {
  readonly host: string;
  readonly status: number;
  readonly body: Json;
  readonly retryAfterMs?: number;
}

/** The error of a response whose status, or whose body, says that the call failed. */
export function refusal({ host, status, body, retryAfterMs }: RefusedCall): ModelError {
  const { message, marks } = providerError(body);
  const said = `The model service ${host} answered ${status}${message ? `: ${quoted(message)}` : ''}.`;
  const retryable = WORTH_ANOTHER_TRY.has(status) || status >= 500;
  if (!retryable && CONTENT_FILTER.test(marks)) {
    return final('MODEL_CONTENT_FILTERED', `${said} Its content filter refused the conversation: change it.`, status);
  }
  if (!retryable && CONTEXT_LENGTH.test(marks)) {
    const remedy = 'The conversation is too long for this model: shorten it, or use a model with a larger context.';
    return final('MODEL_CONTEXT_EXCEEDED', `${said} ${remedy}`, status);
  }
  if (!retryable) return final('MODEL_REFUSED', `${said} ${remedyOf(status)}`, status);
  const wait = retryAfterMs === undefined ? '' : ` It asks to wait ${retryAfterMs / 1000} s.`;
  const message429 = status === 429 ? ' Should it go on, call less often or ask for a higher limit.' : '';
  const tried = `${said}${wait} This is tried again as often as the node's retry policy says.${message429}`;
  return new ModelError('MODEL_UNAVAILABLE', tried, { retryable, status, ...(retryAfterMs && { retryAfterMs }) });
}

/** The error of a call that got no response, or not all of one. */
export function noResponse(host: string, what: string, status?: number): ModelError {
  const message = `The model service ${host} gave no complete response: ${what}. This is tried again as often as the node's retry policy says. Should it go on, check baseURL, network and timeout.`;
  return new ModelError('MODEL_UNAVAILABLE', message, { retryable: true, ...(status !== undefined && { status }) });
}

/** The error of a response that has come whole and makes no sense. Models blunder; another try may go better. */
export function unreadable(host: string, status: number, what: string): ModelError {
  const message = `The model service ${host} answered ${status}, and ${what}. This is tried again as often as the node's retry policy says. Should it go on, check that baseURL is that of a Chat Completions service.`;
  return new ModelError('MODEL_REPLY_INVALID', message, { retryable: true, status });
}

/** The error of a reply that a content filter has cut off. */
export function filtered(host: string, status: number): ModelError {
  const message = `The model service ${host} ended its reply by its content filter. Change the conversation; the same one would end the same way.`;
  return final('MODEL_CONTENT_FILTERED', message, status);
}

/** What a fault on the way was, by the words and the code of its innermost cause. */
export function faultOf(thrown: unknown): string {
  let fault = thrown;
  for (let depth = 0; depth < 8; depth++) {
    const { cause, errors } = Object(fault) as { cause?: unknown; errors?: readonly unknown[] };
    const inner = cause ?? errors?.[0];
    if (inner === undefined) break;
    fault = inner;
  }
  const { message, code } = Object(fault) as { message?: unknown; code?: unknown };
  const words = typeof message === 'string' ? message : String(fault);
  return quoted(typeof code === 'string' && !words.includes(code) ? `${code}: ${words}` : words);
}

/** The error object of a body, in the shapes that OpenAI-compatible services give it. */
export function errorIn(body: Json): Json | undefined {
  if (!isJsonObject(body)) return undefined;
  return body.error ?? undefined;
}

function final(code: ErrorCode, message: string, status: number): ModelError {
  return new ModelError(code, message, { retryable: false, status });
}

function remedyOf(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return 'Check the key: apiKey, or OPENAI_API_KEY, and what it may use.';
    case 404:
      return 'Check the model name and baseURL.';
    default:
      return status >= 300 && status < 400
        ? 'Redirects are not followed, so that no key goes elsewhere: set baseURL to where it points.'
        : 'The same request would fail the same way: look at the request on record and change it.';
  }
}

function providerError(body: Json): { readonly message: string; readonly marks: string } {
  if (typeof body === 'string') return { message: body.trimStart().startsWith('<') ? '' : body, marks: body };
  if (!isJsonObject(body)) return { message: '', marks: '' };
  const error = errorIn(body) ?? body;
  const message = isJsonObject(error) ? (error.message ?? error.detail ?? '') : error;
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const marks = isJsonObject(error) ? [error.code, error.type, error.innererror] : [];
  return { message: text, marks: [text, ...marks.map((mark) => JSON.stringify(mark ?? ''))].join(' ') };
}

function quoted(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}
