import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** Something that happened in the world outside the run. */
export interface Effect {
  readonly kind: 'step_one_ran' | 'line_before_the_question_ran' | 'order_placed';
  readonly threadId: string;
  readonly text?: string;
}

/** The world outside, as a file: what a worker did stays done, whatever becomes of the worker. */
export class SideEffects {
  constructor(private readonly file: string) {}

  record(effect: Effect): void {
    appendFileSync(this.file, `${JSON.stringify(effect)}\n`);
  }

  /** The effects of a kind on these threads, in the order they happened. */
  of(kind: Effect['kind'], ...threads: readonly string[]): readonly Effect[] {
    if (!existsSync(this.file)) return [];
    const effects = readFileSync(this.file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Effect);
    return effects.filter((effect) => effect.kind === kind && threads.includes(effect.threadId));
  }
}
