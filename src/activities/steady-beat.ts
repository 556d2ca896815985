const EVERY = 50;

/** Calls a function after each change, but at most every 50 ms; the last change is always followed by a call. */
export class SteadyBeat {
  private timer: NodeJS.Timeout | undefined;
  private last = -Infinity;

  constructor(private readonly beat: () => void) {}

  /** Does something that is to be followed by a call, now or soon. */
  after(change: () => void): void {
    change();
    if (this.timer) return;
    const due = this.last + EVERY - performance.now();
    if (due <= 0) this.call();
    else this.timer = setTimeout(() => this.call(), due).unref();
  }

  /** No call is made any more. */
  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private call(): void {
    this.timer = undefined;
    this.last = performance.now();
    this.beat();
  }
}
