import { CancellationScope, sleep } from '@temporalio/workflow';
import { EXPIRY_TIMER } from '../graph/question-terms';

/** The one timer of a run: for the question that expires next. Without one, there is none. */
export class ExpiryTimer {
  private waiting: { readonly due: string; readonly scope: CancellationScope; fired: boolean } | undefined;

  /** The moment waited for, ISO 8601, once it has come. */
  get passed(): string | undefined {
    return this.waiting?.fired ? this.waiting.due : undefined;
  }

  /** Waits for this moment from now on, and for no other. */
  watch(due: string | undefined, now: string): void {
    if (this.waiting?.due === due) return;
    this.waiting?.scope.cancel();
    if (due === undefined) {
      this.waiting = undefined;
      return;
    }
    const waiting = { due, scope: new CancellationScope(), fired: false };
    this.waiting = waiting;
    const ms = Date.parse(due) - Date.parse(now);
    waiting.scope
      .run(() => sleep(ms, { summary: EXPIRY_TIMER }))
      .then(
        () => (waiting.fired = true),
        () => undefined,
      );
  }
}
