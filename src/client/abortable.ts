import type { Client } from '@temporalio/client';

/** Makes one call that ends when the signal says so. The SDK never lets go of a signal, so each call has its own. */
export async function abortable<T>(client: Client, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await client.withAbortSignal(own.signal, call);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
