import type { DecisionMade, VerdictShown } from './decision-made';
import type { DecisionArrived } from './decisions-of';
import type { Item } from './item';
import { rounded, spanOf, type Clock, type Moment } from './moment';

/** Something between two stops, on its way to an item; nothing where it turned out to belong to another. */
export interface Entry {
  build(clock: Clock): Item | undefined;
}

const UNKNOWN: VerdictShown = {
  kind: 'unknown',
  reason: 'What became of it is no event of the history. Give the graph to learn it.',
};

/** A decision while its place is being found: at a wait, or by itself. */
export class DecisionEntry implements Entry {
  early = false;
  /** Shown at a wait, so not by itself. */
  placed = false;

  constructor(
    readonly arrived: DecisionArrived,
    private verdict: VerdictShown | undefined,
    private from: DecisionMade['verdictFrom'],
  ) {}

  get at(): Moment {
    return this.arrived.event.at;
  }

  get known(): VerdictShown | undefined {
    return this.verdict;
  }

  /** Concludes from what the run did that the decision answered this question. */
  conclude(question: string): void {
    const before = this.verdict?.kind === 'accepted' ? this.verdict.questions : [];
    if (before.includes(question)) return;
    this.verdict = { kind: 'accepted', questions: [...before, question] };
    this.from = 'inference';
  }

  made({ start }: Clock): DecisionMade {
    return {
      ...this.arrived.made,
      offsetMs: rounded(this.at.ms - start.ms),
      ...(this.early && { early: true }),
      verdict: this.verdict ?? UNKNOWN,
      verdictFrom: this.verdict ? this.from : 'nowhere',
    };
  }

  build(clock: Clock): Item | undefined {
    if (this.placed) return undefined;
    return { kind: 'decision', span: spanOf(clock, this.at, this.at), decision: this.made(clock) };
  }
}
