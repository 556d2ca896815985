import { workflowInfo } from '@temporalio/workflow';
import type { Dispatch } from '../graph/engine';
import { bytesOf, MAX_PAYLOAD_BYTES } from '../graph/size-limit';

// Temporal takes some 4 MB of commands at once, and 2,000 activities in flight.
const MAX_BYTES = 3_000_000;
const MAX_RUNNING = 1_000;

// Of the 50 MB at which it terminates a run.
const MAX_HISTORY = 45_000_000;

// The SDK's default; what is larger goes to the external storage, where there is one.
const STORED_FROM = 256 * 1024;

/** What may still be scheduled in this workflow task: over it, the task could never be completed. */
export class TaskAllowance {
  private running = 0;
  private bytes = 0;
  private task = -1;

  constructor(private readonly externalStorage = false) {}

  /** How many tasks run. */
  get inFlight(): number {
    return this.running;
  }

  /** Takes a dispatch on, or says that it must wait for a later workflow task. The first of a task always fits. */
  takes({ state, task }: Pick<Dispatch, 'state' | 'task'>): boolean {
    const { historyLength } = workflowInfo();
    if (historyLength !== this.task) {
      this.task = historyLength;
      this.bytes = 0;
    }
    const given = bytesOf([state, task.call, task.answers, task.once]);
    const bytes = this.externalStorage ? Math.min(given, STORED_FROM) : given;
    const fits = this.bytes === 0 || this.bytes + bytes <= MAX_BYTES;
    if (!fits || this.running >= this.mostRunning()) return false;
    this.bytes += bytes;
    this.running += 1;
    return true;
  }

  // In a run that is long already and could not roll over, results of the largest size must find room.
  private mostRunning(): number {
    const { continueAsNewSuggested, historySize } = workflowInfo();
    if (!continueAsNewSuggested || this.externalStorage) return MAX_RUNNING;
    return Math.min(MAX_RUNNING, Math.max(1, Math.floor((MAX_HISTORY - historySize) / MAX_PAYLOAD_BYTES)));
  }

  /** Tells that a dispatch has ended. */
  release(): void {
    this.running -= 1;
  }
}
