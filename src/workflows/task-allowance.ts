import { workflowInfo } from '@temporalio/workflow';
import type { Dispatch } from '../graph/engine';
import { bytesOf } from '../graph/size-limit';

// Temporal takes some 4 MB of commands at once, and 2,000 activities in flight.
const MAX_BYTES = 3_000_000;
const MAX_RUNNING = 1_000;

/** What may still be scheduled in this workflow task: over it, the task could never be completed. */
export class TaskAllowance {
  private running = 0;
  private bytes = 0;
  private task = -1;

  /** Takes a dispatch on, or says that it must wait for a later workflow task. The first of a task always fits. */
  takes({ state, task }: Dispatch): boolean {
    const { historyLength } = workflowInfo();
    if (historyLength !== this.task) {
      this.task = historyLength;
      this.bytes = 0;
    }
    const bytes = bytesOf([state, task.call, task.answers, task.once]);
    const fits = this.bytes === 0 || this.bytes + bytes <= MAX_BYTES;
    if (!fits || this.running >= MAX_RUNNING) return false;
    this.bytes += bytes;
    this.running += 1;
    return true;
  }

  /** Tells that a dispatch has ended. */
  release(): void {
    this.running -= 1;
  }
}
