import type { Narrated } from '../graph/narrator';
import type { StreamEvent } from '../graph/stream-event';
import type { StreamFilter } from '../graph/stream-filter';

interface Entry {
  readonly run: string;
  readonly event: Narrated;
}

/** All that has happened on a thread in memory, for readers that come now or later. */
export class MemoryLog {
  private readonly entries: Entry[] = [];
  private readonly waiting = new Set<() => void>();

  add(run: string, event: Narrated): void {
    this.entries.push({ run, event });
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }

  /** How many events there are: the number of the next one. */
  get length(): number {
    return this.entries.length;
  }

  /** The number of a run's first event; undefined where it has none. */
  firstOf(run: string): number | undefined {
    const first = this.entries.findIndex((entry) => entry.run === run);
    return first < 0 ? undefined : first;
  }

  /** The number of the newest event with the run's values. */
  get newestValues(): number {
    return Math.max(
      0,
      this.entries.findLastIndex(({ event }) => event.kind === 'values'),
    );
  }

  /** Reads from an event on, as far as the filter wants. @throws the signal's reason. */
  async *read(from: number, filter: StreamFilter, signal: AbortSignal | undefined): AsyncGenerator<StreamEvent> {
    for (let n = from; !filter.finished; n++) {
      while (n >= this.entries.length) await this.next(signal);
      signal?.throwIfAborted();
      const { run, event } = this.entries[n] as Entry;
      const shown = filter.take(event, { run, event: n, place: 0 });
      if (shown) yield shown;
    }
  }

  private async next(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve) => {
      this.waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    signal?.throwIfAborted();
  }
}
