interface Latch {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** Holds bodies back until the test lets them go; each latch by its name, usually a thread id. */
export class Latches {
  private readonly latches = new Map<string, Latch>();
  private readonly reachedBy = new Map<string, Latch>();

  /** Waits, in a body, until the latch is open. Latches nobody has closed are open. */
  async pass(name: string): Promise<void> {
    of(this.reachedBy, name).open();
    await this.latches.get(name)?.opened;
  }

  /** Closes a latch, before anybody comes to it. */
  close(name: string): void {
    of(this.latches, name);
  }

  open(name: string): void {
    of(this.latches, name).open();
  }

  /** Resolves when a body has come to the latch. */
  reached(name: string): Promise<void> {
    return of(this.reachedBy, name).opened;
  }
}

function of(latches: Map<string, Latch>, name: string): Latch {
  const known = latches.get(name);
  if (known) return known;
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const latch = { opened, open };
  latches.set(name, latch);
  return latch;
}
