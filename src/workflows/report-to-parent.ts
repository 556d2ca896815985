import { CancellationScope, condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import type { ChildReport } from '../graph/child-report';
import { withoutLargeAnswer } from '../graph/compact-snapshot';
import type { Decision, DecisionRecord, Verdict } from '../graph/decision';
import type { GraphEngine } from '../graph/engine';
import type { ParentTask } from '../graph/engine-snapshot';
import { viewOf, withoutContent } from '../graph/run-view';
import { bytesOf, MAX_PAYLOAD_BYTES } from '../graph/size-limit';
import { childReportSignal } from './messages';

const NOTHING_ASKED = 'running';

/**
 * Tells the run around a subgraph's own run, by signal, where that stands: each time its open questions change, and what
 * was decided. One report at a time, so that none overtakes another.
 */
export class ReportToParent {
  private told = NOTHING_ASKED;
  private readonly recorded: Set<number>;
  private verdicts: ChildReport['verdicts'] = [];
  private sending = false;

  constructor(
    private readonly parent: ParentTask,
    private readonly workflowId: string,
    private readonly engine: GraphEngine,
    /** Decisions that the run around passed on and that are not judged yet, with the token by which it knows them. */
    private readonly passedOn: Map<Decision, string>,
  ) {
    // What an earlier run of this thread judged, that one has told.
    this.recorded = new Set(engine.decisions.flatMap((record, index) => (isAccepted(record) ? [index] : [])));
  }

  /** True where there is nothing that the run around does not know of. */
  get isDone(): boolean {
    return !this.sending && !this.hasNews;
  }

  /** Tells what has changed, if anything has. */
  tell(): void {
    if (this.sending || !this.hasNews) return;
    this.sending = true;
    void this.send();
  }

  /** What became of a decision: of one that was passed on, it is to be told. */
  judged(decision: Decision, verdict: Verdict): void {
    const token = this.passedOn.get(decision);
    if (token === undefined) return;
    this.passedOn.delete(decision);
    this.recorded.add(this.engine.decisions.findLastIndex((record) => record.decision === decision));
    // What is open is told by its own name around, and once is enough of what it asks.
    const told = verdict.kind === 'refused' ? { ...verdict, open: [] } : verdict;
    this.verdicts = [...this.verdicts, { token, verdict: told }];
  }

  /** Tells all there is left to tell, and resolves when the run around knows. */
  async allTold(): Promise<void> {
    this.tell();
    await CancellationScope.nonCancellable(() => condition(() => this.isDone));
  }

  private get hasNews(): boolean {
    return this.verdicts.length > 0 || this.unrecorded().length > 0 || this.standing() !== this.told;
  }

  private async send(): Promise<void> {
    while (this.hasNews) {
      const report = this.next();
      try {
        const parent = getExternalWorkflowHandle(this.workflowId);
        await CancellationScope.nonCancellable(() => parent.signal(childReportSignal, report));
      } catch {
        // It has ended: there is nobody left to tell.
      }
    }
    this.sending = false;
  }

  private next(): ChildReport {
    const { verdicts } = this;
    const unrecorded = this.unrecorded();
    this.verdicts = [];
    this.told = this.standing();
    for (const index of unrecorded) this.recorded.add(index);
    const { questions, tasks } = viewOf(this.engine);
    const { task, visit } = this.parent;
    const records = unrecorded.map((index) => withoutLargeAnswer(this.engine.decisions[index] as DecisionRecord));
    const report: ChildReport = { task, visit, status: this.status, questions, tasks, records, verdicts };
    return bytesOf(report) <= MAX_PAYLOAD_BYTES ? report : { ...report, questions: questions.map(withoutContent) };
  }

  private unrecorded(): readonly number[] {
    return this.engine.decisions.flatMap((record, index) =>
      isAccepted(record) && !this.recorded.has(index) && !this.passedOn.has(record.decision) ? [index] : [],
    );
  }

  // An end is told by the end itself.
  private standing(): string {
    if (this.engine.status === 'done') return this.told;
    const asked = this.engine.questions().map(({ id, digest, rejected }) => `${id} ${digest} ${rejected ?? ''}`);
    return [this.status, ...asked].join('\n');
  }

  // A run that has failed between two steps waits for nobody: it asks nothing.
  private get status(): ChildReport['status'] {
    return this.engine.status === 'waiting' && this.engine.questions().length > 0 ? 'waiting' : 'running';
  }
}

function isAccepted({ verdict }: DecisionRecord): boolean {
  return verdict.kind === 'accepted';
}
