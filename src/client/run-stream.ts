import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { AnyGraph } from '../graph/compiled-graph';
import { ThreadError } from '../graph/errors';
import type { Live } from '../graph/live-window';
import { Narrator, type AttemptPlace, type Narrated } from '../graph/narrator';
import type { StreamEvent } from '../graph/stream-event';
import type { EventPlace, StreamFilter } from '../graph/stream-filter';
import { placeOfActivity } from '../trace/narrate-activity';
import { RunNarration } from '../trace/narrate-run';
import { followRun, type Page } from './follow-run';
import { readLiveActivities, type RunningActivity } from './read-live';

// As often as a worker's heartbeats come while something is shown; less and less often while nothing is.
const SHORTEST_WAIT = 50;
const LONGEST_WAIT = 500;

/** A run to be read: whose it is, and for whom. */
export interface RunReading {
  readonly client: Client;
  readonly graph: AnyGraph;
  readonly threadId: string;
  readonly runId: string;
  readonly filter: StreamFilter;
  /** Ask for what nodes show while they run. */
  readonly live: boolean;
  /** The reader knows nothing of the thread yet. */
  readonly opening: boolean;
  readonly signal: AbortSignal;
}

/** Reads one run for one reader: what its history tells, and between that what its nodes show. */
export class RunStream {
  /** The run that goes on with this one. */
  nextRun: string | undefined;
  private readonly queue: StreamEvent[] = [];
  private readonly narrator = new Narrator((event) => this.tell(event));
  private readonly running = new Set<string>();
  private narration: RunNarration | undefined;
  private event = 0;
  private place = 0;
  /** Where the last event that the history told stands; what nodes show is told there too. */
  private last: EventPlace;
  private wait = SHORTEST_WAIT;

  constructor(private readonly reading: RunReading) {
    this.last = { run: reading.runId, event: 0, place: 0 };
  }

  async *read(): AsyncGenerator<StreamEvent> {
    const { client, threadId, runId, filter, signal } = this.reading;
    const pages = followRun(client, threadId, runId, signal);
    for (let page = await pages.next(); !page.done;) {
      this.take(page.value);
      yield* this.drain();
      if (filter.finished) return;
      const next = pages.next();
      // Handled where it is awaited, which may be never.
      next.catch(() => undefined);
      while (this.asksLive && (await this.isQuiet(next))) {
        this.show(await readLiveActivities(client, threadId, runId, signal));
        yield* this.drain();
      }
      page = await next;
    }
  }

  private *drain(): Generator<StreamEvent> {
    for (let event = this.queue.shift(); event; event = this.queue.shift()) yield event;
  }

  private take(page: Page): void {
    this.narration ??= new RunNarration({
      graph: this.reading.graph,
      narrator: this.narrator,
      opening: this.reading.opening,
      onEvent: (event) => {
        this.event = event;
        this.place = 0;
      },
    });
    try {
      this.narration.take(page);
    } catch (error) {
      throw doesNotFit(this.reading, error);
    }
    this.nextRun = this.narration.nextRun;
    this.wait = SHORTEST_WAIT;
  }

  private tell(event: Narrated): void {
    if (event.kind === 'task-start') this.running.add(`${event.task}#${event.visit}`);
    if (event.kind === 'task-end') this.running.delete(`${event.task}#${event.visit}`);
    this.last = { run: this.reading.runId, event: this.event, place: this.place };
    this.place += 1;
    const shown = this.reading.filter.take(event, this.last);
    if (shown) this.queue.push(shown);
  }

  private get asksLive(): boolean {
    return this.reading.live && this.running.size > 0;
  }

  // True where the time to look again comes before the history goes on.
  private async isQuiet(next: Promise<unknown>): Promise<boolean> {
    const timer = new AbortController();
    const came = next.then(
      () => false,
      () => false,
    );
    const quiet = setTimeout(this.wait, true, { signal: timer.signal }).catch(() => false);
    try {
      return await Promise.race([came, quiet]);
    } finally {
      timer.abort();
    }
  }

  /** Tells what running nodes show. It stands at the last event of the history, and is told apart by how much was seen. */
  private show(activities: readonly RunningActivity[]): void {
    const at = new Date().toISOString();
    let isNews = false;
    const live = new Narrator((event) => {
      isNews = this.passLive(event) || isNews;
    });
    for (const activity of activities) if (this.running.has(activity.id)) narrateRunning(live, activity, at);
    this.wait = isNews ? SHORTEST_WAIT : Math.min(LONGEST_WAIT, this.wait * 1.5);
  }

  private passLive(event: Narrated): boolean {
    const shown = this.reading.filter.takeLive(event, this.last);
    if (shown) this.queue.push(shown);
    return shown !== undefined;
  }
}

function narrateRunning(narrator: Narrator, { id, attempt, lastError, live }: RunningActivity, at: string): void {
  const place = placeOfActivity(id);
  const failed = { ...place, attempt: attempt - 1 };
  // A heartbeat outlives its attempt, until the next attempt has one of its own.
  const isStale = live !== undefined && live.attempt < attempt;
  if (lastError && !isStale) narrator.attemptFailed(failed, lastError, at);
  if (live) narrateLive(narrator, { ...place, attempt: live.attempt }, live, at);
  if (lastError && isStale) narrator.attemptFailed(failed, lastError, at);
}

function narrateLive(narrator: Narrator, place: AttemptPlace, { written, said }: Live, at: string): void {
  const { from, chunks } = written ?? { from: 0, chunks: [] };
  for (const [index, chunk] of chunks.entries()) narrator.wrote(place, from + index, chunk, at);
  if (said) narrator.said(place, said.from, said.text, at);
}

function doesNotFit({ threadId, graph }: RunReading, error: unknown): ThreadError {
  const message = `The history of thread "${threadId}" does not fit graph "${graph.name}" as it is here: ${String(error)}. Stream it with the graph that it runs.`;
  return new ThreadError('THREAD_OF_OTHER_GRAPH', message, threadId, { cause: error });
}
