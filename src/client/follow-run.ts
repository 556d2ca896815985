import { setTimeout } from 'node:timers/promises';
import { isGrpcServiceError, type Client } from '@temporalio/client';
import { decodeHistory } from '../trace/decode-history';
import { abortable } from './abortable';

/** What the server hands out of a run's history at once: events in their order, never half of what a task did. */
export type Page = readonly unknown[];

const NOT_FOUND = 5;

// A step makes half a dozen events in as many instants; asked for each by itself, many readers would slow a busy run down.
const REST = 25;

/**
 * Reads a run's history from its beginning and waits for what comes, until the run closes.
 *
 * By long poll: the run does not notice, and nothing is asked of a worker.
 *
 * @throws {ServiceError} where the server knows no such run.
 */
export async function* followRun(
  client: Client,
  threadId: string,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const request = {
      namespace: client.options.namespace,
      execution: { workflowId: threadId, runId },
      waitNewEvent: true,
      ...(nextPageToken && { nextPageToken }),
    };
    const reply = await abortable(client, signal, () => client.workflowService.getWorkflowExecutionHistory(request));
    const { events = [] } = await decoded(client, { events: reply.history?.events });
    nextPageToken = reply.nextPageToken;
    if (!events || events.length === 0) continue;
    yield events;
    if (nextPageToken.length > 0) await setTimeout(REST, undefined, { signal });
  } while (nextPageToken && nextPageToken.length > 0);
}

/** The first event of a run; undefined where the server keeps no such run. */
export async function firstEventOf(client: Client, threadId: string, runId: string): Promise<unknown> {
  try {
    const reply = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: threadId, runId },
      maximumPageSize: 1,
    });
    return reply.history?.events?.[0];
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND) return undefined;
    throw error;
  }
}

/** What the client's own payload codecs leave readable. */
export async function decoded<T extends { readonly events?: readonly unknown[] | null }>(
  client: Client,
  holder: T,
): Promise<{ readonly events?: readonly unknown[] | null }> {
  const codecs = [...client.options.loadedDataConverter.payloadCodecs].reverse();
  let readable: { readonly events?: readonly unknown[] | null } = holder;
  for (const codec of codecs) readable = await decodeHistory(readable, codec);
  return readable;
}
