import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';

/** The head of a request as it left the machine, and when. */
export interface SentHead {
  headers?: Record<string, string>;
  /** On the clock of `performance.now()`. */
  at?: number;
}

interface UndiciRequest {
  readonly contentLength?: number | null;
}

const caller = new AsyncLocalStorage<SentHead>();
// By request: a head may be written when its connection frees up, in the context of another's end.
const heads = new WeakMap<UndiciRequest, SentHead>();
let listening = false;

/**
 * Notes what fetch really sends while `body` runs: Node's own, and undici's, say so on diagnostics channels.
 *
 * The head stays empty where the fetch is another. The last request counts, should there be several.
 */
export function noteSentHead<T>(head: SentHead, body: () => Promise<T>): Promise<T> {
  listen();
  return caller.run(head, body);
}

function listen(): void {
  if (listening) return;
  listening = true;
  subscribe('undici:request:create', (message) => {
    const head = caller.getStore();
    if (head) heads.set((message as { request: UndiciRequest }).request, head);
  });
  subscribe('undici:client:sendHeaders', (message) => {
    const { request, headers } = message as { request: UndiciRequest; headers: unknown };
    const head = heads.get(request);
    if (!head || typeof headers !== 'string') return;
    head.at = performance.now();
    head.headers = { ...parseHead(headers), ...contentLength(request) };
  });
}

// Undici writes it after it has told of the rest.
function contentLength({ contentLength: length }: UndiciRequest): Record<string, string> {
  return typeof length === 'number' ? { 'content-length': String(length) } : {};
}

function parseHead(head: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
