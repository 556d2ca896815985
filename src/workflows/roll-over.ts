import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { DecisionRecord } from '../graph/decision';
import type { GraphEngine } from '../graph/engine';
import { viewOf } from '../graph/run-view';
import { carryOf, fitsOnePayload, historyTooLarge, type Carry } from './carry';
import { HistoryBudget } from './history-budget';
import type { Desk, Inbox } from './inbox';
import type { PendingInTheOpen } from './pending-in-the-open';
import type { GraphWorkflowOptions } from './workflow-options';

/** What a run that rolls over has to hand. */
export interface RollingRun {
  readonly options: GraphWorkflowOptions;
  readonly open: PendingInTheOpen;
  readonly inbox: Inbox;
  readonly desk: (engine: GraphEngine) => Desk;
  readonly unreadable: readonly DecisionRecord[];
  readonly idempotencyRun: () => string | undefined;
  /** True where nobody has to be told of anything any more. */
  readonly isTold: () => boolean;
}

/** Lets a run go on as the thread's next one, by continue-as-new, before its history grows too long. */
export class RollOver {
  /** Set while the run rolls over: whoever waits for a stop is to ask the next run. */
  isUnderWay = false;
  private readonly budget: HistoryBudget;

  constructor(private readonly run: RollingRun) {
    this.budget = new HistoryBudget(run.options.continueAsNewAfter);
  }

  /** It is time: nothing new should be begun, so that the run comes to rest. */
  get isDue(): boolean {
    return this.budget.isDue;
  }

  /** The run cannot go on much longer, however it stands. */
  get isOverdue(): boolean {
    return this.budget.isExhausted;
  }

  /**
   * Ends this run and starts the next, or returns where what is to be taken over is too much for that.
   *
   * Nothing may be running. Whoever waits for a stop is told to ask the next run; decisions that still come in are judged
   * here and taken along.
   */
  async attempt(engine: GraphEngine): Promise<void> {
    const { inbox, desk, open, isTold } = this.run;
    const isQuiet = (): boolean => allHandlersFinished() && isTold();
    if (!this.fits(this.carry(engine))) return this.budget.postpone();
    this.isUnderWay = true;
    let judged = 0;
    while (!inbox.isEmpty || !isQuiet()) {
      await condition(() => !inbox.isEmpty || isQuiet());
      judged += inbox.drain(desk(engine));
    }
    this.isUnderWay = false;
    const carry = this.carry(engine);
    if (judged > 0 && !this.fits(carry)) return this.budget.postpone();
    await makeContinueAsNewFunc(open.handedOver(viewOf(engine)))({}, carry);
  }

  /** The failure of a run that is overdue: what holds the bytes, and the ways out. */
  tooLarge(engine: GraphEngine): Error {
    const { workflowType, historySize, historyLength } = workflowInfo();
    return historyTooLarge(workflowType, historySize, historyLength, this.carry(engine));
  }

  private fits(carry: Carry): boolean {
    return this.run.options.externalStorage === true || fitsOnePayload(carry);
  }

  private carry(engine: GraphEngine): Carry {
    return carryOf(engine.snapshot(), this.run.unreadable, this.run.idempotencyRun());
  }
}
