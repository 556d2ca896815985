import type { Decision, Verdict } from '../graph/decision';

interface Item {
  readonly decision: Decision;
  readonly settle: (verdict: Verdict) => void;
}

/** Decisions that have come in and not been judged. Handlers only put them here; the loop takes them out. */
export class Inbox {
  private items: Item[] = [];

  get isEmpty(): boolean {
    return this.items.length === 0;
  }

  /** Resolves with the verdict, once the loop has judged. */
  put(decision: Decision): Promise<Verdict> {
    return new Promise((settle) => this.items.push({ decision, settle }));
  }

  /** Judges everything that is in, in the order it came; gives how many there were. */
  drain(judge: (decision: Decision) => Verdict): number {
    const items = this.items;
    this.items = [];
    for (const { decision, settle } of items) settle(judge(decision));
    return items.length;
  }
}
