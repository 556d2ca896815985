import type { Context } from '@temporalio/activity';

const LONGEST_SILENCE = 10_000;

/**
 * Heartbeats for a running node, so that a lost worker is noticed, until the returned function is called.
 *
 * Beats three times within the node's heartbeat timeout, and at least every ten seconds. `details` is what a next
 * attempt will find.
 */
export function keepAlive(context: Context, details: () => unknown): () => void {
  const timeout = context.info.heartbeatTimeoutMs;
  if (!timeout || context.info.isLocal) return () => undefined;
  const timer = setInterval(() => context.heartbeat(details()), Math.min(LONGEST_SILENCE, timeout / 3));
  timer.unref();
  return () => clearInterval(timer);
}
