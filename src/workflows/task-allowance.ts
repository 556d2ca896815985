import { workflowInfo } from '@temporalio/workflow';
import type { Dispatch } from '../graph/dispatch';
import { bytesOf, MAX_LOCAL_BYTES, MAX_PAYLOAD_BYTES } from '../graph/size-limit';
import type { GivenOut } from './local-task';

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
  /** Child workflows: their results are awaited, perhaps for long, so they take no room from the rest. */
  private children = 0;
  private bytes = 0;
  /** Held for local activities: what they put on record falls to the workflow task in which they end. */
  private held = 0;
  /** What local activities that ended in this workflow task put on record. */
  private ended = 0;
  private task = -1;

  constructor(private readonly externalStorage = false) {}

  /** How many tasks run, child workflows among them. */
  get inFlight(): number {
    return this.running + this.children;
  }

  /** Local activities run, or have ended and not been seen to yet. */
  get hasLocal(): boolean {
    return this.held > 0;
  }

  /** What has ended here fills this workflow task, and the next has room, which no end of another task need bring soon. */
  get isFullOfLocal(): boolean {
    return this.ended > 0 && this.held === 0 && this.running < this.mostRunning();
  }

  /** Takes a dispatch on, or says that it must wait for a later workflow task. The first of a task always fits. */
  takes(dispatch: GivenOut, isLocal: boolean): boolean {
    this.begin();
    const { state, task } = dispatch;
    const given = isLocal ? MAX_LOCAL_BYTES : bytesOf([state, task.call, task.answers, task.once]);
    const bytes = this.externalStorage ? Math.min(given, STORED_FROM) : given;
    const used = this.bytes + this.held;
    const fits = used === 0 || used + bytes <= MAX_BYTES;
    const isChild = dispatch.definition.kind === 'graph';
    const hasPlace = isChild ? this.children < MAX_RUNNING : this.running < this.mostRunning();
    if (!fits || !hasPlace) return false;
    if (isLocal) this.held += MAX_LOCAL_BYTES;
    else this.bytes += bytes;
    if (isChild) this.children += 1;
    else this.running += 1;
    return true;
  }

  private begin(): void {
    const { historyLength } = workflowInfo();
    if (historyLength === this.task) return;
    this.task = historyLength;
    this.bytes = 0;
    this.ended = 0;
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

  /** Tells that a child workflow has ended. */
  releaseChild(): void {
    this.children -= 1;
  }

  /** Tells that a local activity has ended: all it was given and gave is in a command of this workflow task. */
  releaseLocal({ state, task }: Dispatch, outcome: unknown): void {
    this.begin();
    this.held -= MAX_LOCAL_BYTES;
    const bytes = bytesOf([state, task.answers, task.once, outcome]);
    this.bytes += bytes;
    this.ended += bytes;
    this.running -= 1;
  }
}
