import { workflowInfo } from '@temporalio/workflow';

// Temporal terminates a run at 50 MB or 51,200 events.
const MAX_BYTES = 40_000_000;
const MAX_EVENTS = 45_000;

/** After how much history a run rolls over. */
export interface HistoryLimits {
  /** Events of the run; at least 20. */
  readonly events?: number;
  /** Bytes of history, beside what the run began with; at least 10,000. */
  readonly bytes?: number;
}

/** Tells when a run's history is long enough to roll over: when the server suggests it, or earlier where told. */
export class HistoryBudget {
  private readonly atStart = workflowInfo().historySize;
  private notBefore = 0;

  constructor(private readonly own: HistoryLimits = {}) {}

  get isDue(): boolean {
    const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
    if (historyLength < this.notBefore) return false;
    const { events = Infinity, bytes = Infinity } = this.own;
    return continueAsNewSuggested || historyLength >= events || historySize - this.atStart >= bytes;
  }

  /** The server would soon terminate the run. */
  get isExhausted(): boolean {
    const { historyLength, historySize } = workflowInfo();
    return historyLength >= MAX_EVENTS || historySize >= MAX_BYTES;
  }

  /** The run could not roll over: it is due again when its history has grown by a tenth. */
  postpone(): void {
    this.notBefore = Math.ceil(workflowInfo().historyLength * 1.1);
  }
}
