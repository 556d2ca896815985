import type { Client } from '@temporalio/client';
import type { AnyGraph } from '../graph/compiled-graph';
import { GraphRunError, ThreadError, type ErrorCode } from '../graph/errors';
import { Narrator } from '../graph/narrator';
import type { StreamEvent, StreamOptions, ThreadStreamOptions } from '../graph/stream-event';
import { StreamFilter, type Until } from '../graph/stream-filter';
import { positionOf, type StreamPosition } from '../graph/stream-offset';
import { objectOf, textOf } from '../trace/untrusted';
import { RunNarration } from '../trace/narrate-run';
import { decoded, firstEventOf } from './follow-run';
import type { ThreadFacts } from './read-thread';
import { RunStream } from './run-stream';

/** A thread to be streamed. */
export interface StreamSource {
  readonly client: Client;
  readonly graph: AnyGraph;
  readonly threadId: string;
}

/** Where a stream begins: with a run, or in a run after an event. */
export type StreamFrom =
  { readonly kind: 'run'; readonly runId: string } | { readonly kind: 'after'; readonly position: StreamPosition };

/** Streams a thread from somewhere on, and on through the runs it rolls over into. @throws the signal's reason. */
export async function* streamThread(
  { client, graph, threadId }: StreamSource,
  from: StreamFrom,
  until: Until,
  { modes, signal }: StreamOptions,
): AsyncGenerator<StreamEvent> {
  signal?.throwIfAborted();
  const done = new AbortController();
  const either = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  const filter = new StreamFilter(graph, modes, from.kind === 'after' ? from.position : undefined, until);
  const live = modes?.some((mode) => mode === 'custom' || mode === 'messages') ?? false;
  let opening = from.kind === 'run';
  try {
    for (let runId: string | undefined = firstOf(from); runId !== undefined && !filter.finished; opening = false) {
      const run: RunStream = new RunStream({ client, graph, threadId, runId, filter, live, opening, signal: either });
      yield* run.read();
      runId = run.nextRun;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    done.abort();
  }
}

/** Streams to the run's next stop. @throws {GraphRunError} after the last event of a run that fails. */
export async function* streamUntilStopped(
  source: StreamSource,
  from: StreamFrom,
  options: StreamOptions,
): AsyncGenerator<StreamEvent> {
  for await (const event of streamThread(source, from, 'stop', options)) {
    yield event;
    if (event.kind !== 'end' || !event.error) continue;
    const { code, message, node } = event.error;
    throw new GraphRunError(code as ErrorCode, message, node);
  }
}

/** Where a reader begins: after its offset, or with the oldest of the newest runs that the server keeps. */
export async function beginningOf(
  client: Client,
  facts: ThreadFacts,
  { after }: Pick<ThreadStreamOptions, 'after'>,
): Promise<StreamFrom> {
  const { threadId } = facts;
  if (after === undefined) return { kind: 'run', runId: await oldestKept(client, facts) };
  const position = positionOf(after);
  if (position && (await firstEventOf(client, threadId, position.run))) return { kind: 'after', position };
  const message = `"${after}" is no offset of thread "${threadId}", or the retention of its run is over. Take one from an event of its stream, or begin without.`;
  throw new ThreadError('OFFSET_UNKNOWN', message, threadId);
}

/** After all that has happened so far. */
export function fromNowOn({ runId: run, events: event }: ThreadFacts): StreamFrom {
  return { kind: 'after', position: { run, event, place: Number.MAX_SAFE_INTEGER, marks: [] } };
}

/** From the newest state on, which is where a run that does nothing stands. */
export async function fromStanding({ client, graph, threadId }: StreamSource, runId: string): Promise<StreamFrom> {
  let event = 0;
  let place = 0;
  let newest: StreamPosition | undefined;
  const narrator = new Narrator((told) => {
    if (told.kind === 'values') newest = { run: runId, event, place: place - 1, marks: [] };
    place += 1;
  });
  const onEvent = (next: number): void => {
    event = next;
    place = 0;
  };
  const history = await client.workflow.getHandle(threadId, runId).fetchHistory();
  new RunNarration({ graph, narrator, opening: true, onEvent }).take((await decoded(client, history)).events ?? []);
  return newest && newest.event > 1 ? { kind: 'after', position: newest } : { kind: 'run', runId };
}

function firstOf(from: StreamFrom): string {
  return from.kind === 'run' ? from.runId : from.position.run;
}

async function oldestKept(client: Client, { threadId, runId, firstRunId }: ThreadFacts): Promise<string> {
  if (await firstEventOf(client, threadId, firstRunId)) return firstRunId;
  for (let run = runId; ;) {
    const { workflowExecutionStartedEventAttributes: started } = objectOf(await firstEventOf(client, threadId, run));
    const before = textOf(objectOf(started).continuedExecutionRunId);
    if (before === undefined || !(await firstEventOf(client, threadId, before))) return run;
    run = before;
  }
}
