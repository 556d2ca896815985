import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type Json } from '../graph/json';
import { writeAnswer, type OpenAiAnswer } from './openai-answer';

/** A request the server received. */
export interface OpenAiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Parsed; the text itself where it is no JSON. */
  readonly body: Json;
  /** True once the caller hung up before the answer was written. */
  readonly aborted: boolean;
}

/**
 * What the server answers: the n-th of a list, or what a function says of the request and its number, from 0.
 *
 * A list is in the order of requests. With `by: 'conversation'` it is in the order of a conversation's turns: the number
 * of assistant messages in the request picks, so that any number of threads may ask at the same time.
 */
export type OpenAiScript = readonly OpenAiAnswer[] | ((request: OpenAiRequest, n: number) => OpenAiAnswer | undefined);

/** How the server is set up. */
export interface OpenAiServerOptions {
  /** What counts in a list: every request (default), or the turns of each conversation. */
  readonly by?: 'request' | 'conversation';
  /** The only key that is let in; default any. */
  readonly apiKey?: string;
}

/** A Chat Completions service on this machine. */
export interface OpenAiServer {
  /** The base URL, for `openaiModel({ baseURL })` or `OPENAI_BASE_URL`. */
  readonly url: string;
  /** What was asked so far. */
  readonly requests: readonly OpenAiRequest[];
  /** Ends, and cuts what is still open. */
  close(): Promise<void>;
}

/**
 * Starts a Chat Completions service that follows a script, on a real socket of 127.0.0.1; nobody has to pay for it.
 *
 * It answers with completions, in one piece or streamed as the request asks, errors, delays, broken JSON and cut
 * connections. Once the script has ended it answers
 * 400, which nobody tries again, and says so.
 *
 * @example
 * const server = await startOpenAiServer([{ status: 429, headers: { 'retry-after': '1' } }, { content: 'Done.' }]);
 * const planner = openaiModel({ baseURL: server.url, apiKey: 'any', model: 'test' });
 */
export async function startOpenAiServer(
  script: OpenAiScript,
  options: OpenAiServerOptions = {},
): Promise<OpenAiServer> {
  const requests: OpenAiRequest[] = [];
  const server = createServer((incoming, response) => {
    serve(incoming, response, { script, options, requests }).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, requests, close: () => close(server) };
}

interface Serving {
  readonly script: OpenAiScript;
  readonly options: OpenAiServerOptions;
  readonly requests: OpenAiRequest[];
}

async function serve(incoming: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url = '', headers } = incoming;
  const gone = new AbortController();
  const request = { method, path: url, headers, body: parsed(Buffer.concat(chunks).toString()), aborted: false };
  const answer = refused(request, serving.options) ?? answerTo(request, serving);
  response.once('close', () => {
    request.aborted = !response.writableEnded && answer.cut === undefined;
    gone.abort();
  });
  await writeAnswer(response, request.body, answer, gone.signal);
}

function answerTo(request: OpenAiRequest, { script, options, requests }: Serving): OpenAiAnswer {
  const n = options.by === 'conversation' ? turnOf(request.body) : requests.length;
  requests.push(request);
  const answer = typeof script === 'function' ? script(request, n) : script[n];
  if (answer) return answer;
  const turns = typeof script === 'function' ? 'no answer to' : `${script.length} answers, and none to`;
  return refusing(400, `The script has ${turns} number ${n + 1}. Add one to the script of startOpenAiServer.`);
}

function refused(
  { method, path, headers, body }: OpenAiRequest,
  { apiKey }: OpenAiServerOptions,
): OpenAiAnswer | undefined {
  const route = path.split('?')[0];
  if (method !== 'POST' || route !== '/v1/chat/completions') {
    return refusing(404, `There is nothing at ${method} ${route}; this server knows POST /v1/chat/completions.`);
  }
  if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`) return refusing(401, 'Incorrect API key.');
  if (!isJsonObject(body)) return refusing(400, 'The body is no JSON object.');
  return undefined;
}

function refusing(status: number, message: string): OpenAiAnswer {
  return { status, error: { message, type: 'invalid_request_error' } };
}

function turnOf(body: Json): number {
  const messages = isJsonObject(body) && Array.isArray(body.messages) ? (body.messages as readonly Json[]) : [];
  return messages.filter((message) => isJsonObject(message) && message.role === 'assistant').length;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
