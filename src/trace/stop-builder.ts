import type { Entry } from './decision-entry';
import type { Item } from './item';
import { spanOf, type Clock, type Moment } from './moment';
import type { Checkpoint, Stop } from './trace';
import { defined } from './untrusted';

const NAMES: Readonly<Record<Stop['began'], string>> = {
  start: 'run',
  decision: 'resume',
  continued: 'continue',
  other: 'end',
};

/** A stop while its run is being read. */
export class StopBuilder {
  checkpoint: Checkpoint | undefined;
  ended: Stop['ended'] = 'running';
  private to: Moment | undefined;
  private pause: { readonly from: Moment; to?: Moment } | undefined;
  private readonly entries: Entry[] = [];

  constructor(
    private readonly began: Stop['began'],
    readonly from: Moment,
  ) {}

  get isPaused(): boolean {
    return this.pause !== undefined && this.pause.to === undefined;
  }

  get pausedAt(): Moment | undefined {
    return this.pause?.from;
  }

  add(...entries: readonly Entry[]): void {
    this.entries.push(...entries);
  }

  end(how: Stop['ended'], at: Moment): void {
    this.ended = how;
    this.to = at;
    if (how === 'paused') this.pause = { from: at };
  }

  /** The pause is over. */
  goOn(at: Moment): void {
    if (this.pause) this.pause.to ??= at;
  }

  build(clock: Clock, number: number): Stop {
    const items = this.entries.flatMap((entry): Item[] => {
      const item = entry.build(clock);
      return item ? [item] : [];
    });
    return defined({
      number,
      name: this.began === 'start' && this.ended === 'paused' ? 'pause' : NAMES[this.began],
      began: this.began,
      ended: this.ended,
      span: spanOf(clock, this.from, this.to),
      items: items.sort((a, b) => a.span.offsetMs - b.span.offsetMs),
      checkpoint: this.checkpoint,
      pause: this.pause && spanOf(clock, this.pause.from, this.pause.to),
    });
  }
}
