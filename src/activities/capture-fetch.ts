import { StreamedReply } from './openai-stream';
import { noteSentHead, type SentHead } from './sent-headers';

/** A fetch: Node's own, or one with a proxy or a certificate of your own. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** One request and its response, raw, as far as they got. */
export interface Capture {
  url: string;
  method: string;
  /** The headers that were asked for. */
  readonly asked: Record<string, string>;
  /** What fetch made of them. */
  readonly sent: SentHead;
  body: string;
  /** On the clock of `performance.now()`. */
  startedAt: number;
  endedAt?: number;
  status?: number;
  statusText?: string;
  received: Record<string, string>;
  text: string;
  /** False until the whole of the response has arrived. */
  complete: boolean;
  /** Whoever called hung up before that. */
  aborted: boolean;
  /** What the body makes together, where it came in events. */
  streamed?: StreamedReply;
}

/** An exchange that has not begun. */
export function newCapture(): Capture {
  return {
    url: '',
    method: 'POST',
    asked: {},
    sent: {},
    body: '',
    startedAt: performance.now(),
    received: {},
    text: '',
    complete: false,
    aborted: false,
  };
}

/**
 * A fetch that keeps what goes over the wire, and hands on a response without its body, which is in the capture.
 *
 * With `onText`, a body that comes in events is put together as it comes, and its text handed on bit by bit.
 *
 * Redirects are not followed: neither key nor conversation goes to another host.
 */
export function capturingFetch(fetch: Fetch, capture: Capture, onText?: (text: string) => void): Fetch {
  return async (input, init) => {
    capture.url = input instanceof Request ? input.url : String(input);
    capture.method = init?.method ?? 'GET';
    capture.body = typeof init?.body === 'string' ? init.body : '';
    Object.assign(capture.asked, Object.fromEntries(new Headers(init?.headers)));
    capture.startedAt = performance.now();
    try {
      const response = await noteSentHead(capture.sent, () => fetch(input, { ...init, redirect: 'manual' }));
      capture.status = response.status;
      capture.statusText = response.statusText;
      capture.received = receivedHeaders(response.headers);
      if (onText && isEventStream(response)) capture.streamed = new StreamedReply(onText);
      await readInto(capture, response.body);
      return new Response(null, { status: response.status, headers: response.headers });
    } finally {
      capture.endedAt = performance.now();
      capture.aborted = !capture.complete && init?.signal?.aborted === true;
    }
  };
}

function add(capture: Capture, text: string): void {
  capture.text += text;
  capture.streamed?.take(text);
}

function isEventStream({ ok, headers }: Response): boolean {
  return ok && headers.get('content-type')?.includes('text/event-stream') === true;
}

// Cookies are the one header whose values cannot stand on one line.
function receivedHeaders(headers: Headers): Record<string, string> {
  const cookies = headers.getSetCookie().join('\n');
  return { ...Object.fromEntries(headers), ...(cookies && { 'set-cookie': cookies }) };
}

async function readInto(capture: Capture, body: Response['body']): Promise<void> {
  const decoder = new TextDecoder();
  // Chunk by chunk, so that of a response that is cut short the beginning is on record.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    add(capture, decoder.decode(chunk, { stream: true }));
  }
  add(capture, decoder.decode());
  capture.streamed?.end();
  capture.complete = true;
}
