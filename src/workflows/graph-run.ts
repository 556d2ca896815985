import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import { readReport } from '../graph/child-report';
import { withoutParent } from '../graph/child-tasks';
import { compactSnapshot } from '../graph/compact-snapshot';
import type { AnyGraph } from '../graph/compiled-graph';
import { readDecision, type Decision, type DecisionRecord, type Verdict } from '../graph/decision';
import { laterOf } from '../graph/duration';
import type { StateEdit } from '../graph/edit-state';
import { GraphEngine } from '../graph/engine';
import { GraphDefinitionError } from '../graph/errors';
import { EMPTY_VIEW, OMITTED, sendable, viewOf, type RolledOver, type RunView, type Stop } from '../graph/run-view';
import { bytesOf, MAX_PAYLOAD_BYTES, refuseTooLarge } from '../graph/size-limit';
import { shownOf, type Channels } from '../graph/state-schema';
import { resultWithin } from '../graph/subgraph-result';
import type { Carry } from './carry';
import { now } from './clock';
import { closedDesk, DecisionDesk, tooLate, tooLateForEdits } from './decision-desk';
import { ExpiryTimer } from './expiry-timer';
import { stopOfFailure, toRunFailure } from './failures';
import { Inbox, type Desk } from './inbox';
import type { PassedOnPayload, SnapshotReply } from './messages';
import { PendingInTheOpen, type RunEnd } from './pending-in-the-open';
import { ReportToParent } from './report-to-parent';
import { RollOver } from './roll-over';
import { turn } from './turn';
import { WorkGivenOut } from './work-given-out';
import type { GraphWorkflowOptions } from './workflow-options';

/** One run of a graph as a workflow: drives the engine with activity results and decisions until it ends. */
export class GraphRun {
  private stop: Stop | undefined;
  private engine: GraphEngine | undefined;
  private readonly work: WorkGivenOut;
  private report: ReportToParent | undefined;
  /** Decisions that the run around this one passed on; they may come before this run has begun. */
  private readonly passedOn = new Map<Decision, string>();
  private readonly rollOver: RollOver;
  private readonly inbox = new Inbox();
  private readonly unreadable: DecisionRecord[] = [];
  private readonly expiry = new ExpiryTimer();
  private readonly open: PendingInTheOpen;
  private carried: Partial<RunView> = {};
  private ended = false;
  private idempotencyRun: string | undefined;

  constructor(
    readonly graph: AnyGraph,
    private readonly options: GraphWorkflowOptions = {},
  ) {
    this.open = new PendingInTheOpen(graph);
    this.work = new WorkGivenOut(options.externalStorage, () => this.keyedBy);
    const { open, inbox, unreadable } = this;
    const desk = (engine: GraphEngine): Desk => this.deskOf(engine);
    const idempotencyRun = (): string | undefined => this.idempotencyRun;
    const isTold = (): boolean => this.isTold;
    this.rollOver = new RollOver({ options, open, inbox, desk, unreadable, idempotencyRun, isTold });
  }

  /** Where the run stands still, or that it rolls over; undefined while it moves. Whoever waits for a stop watches this. */
  get reached(): Stop | RolledOver | undefined {
    if (this.rollOver.isUnderWay) return { kind: 'rolled' };
    // What has come in with the question of whoever waits may well end the pause.
    return this.ended || !this.hasNews ? this.stop : undefined;
  }

  private get hasNews(): boolean {
    const { work, inbox, expiry } = this;
    return work.hasArrivals || work.hasLocalEnds || !inbox.isEmpty || expiry.passed !== undefined;
  }

  view(): RunView {
    return this.engine ? viewOf(this.engine) : { ...EMPTY_VIEW, ...this.carried };
  }

  /** Where the run stands, as far as a reply can carry it. */
  shown(): RunView {
    return this.sendable(this.view());
  }

  decisions(): readonly DecisionRecord[] {
    return [...(this.engine?.decisions ?? []), ...this.unreadable];
  }

  /** Hands a decision to the loop; resolves with its verdict. */
  async decide(decision: Decision): Promise<Verdict> {
    return this.ended ? tooLate() : this.inbox.put(decision);
  }

  /** Takes a decision from the run around this one, and tells it the verdict. */
  async decidePassedOn({ token, via, request }: PassedOnPayload): Promise<void> {
    const decision = readDecision(request, via === 'update' ? 'update' : 'signal');
    this.passedOn.set(decision, token);
    const verdict = await this.decide(decision);
    // The desk has told it already, unless a subgraph further in was to judge.
    this.report?.judged(decision, verdict);
    this.passedOn.delete(decision);
    await this.report?.allTold();
  }

  /** Hands the report of a child workflow to the loop. */
  hear(told: unknown): void {
    const report = readReport(told);
    if (report) this.work.hear(report);
    else log.warn('a report of a child workflow cannot be read');
  }

  /** Hands an edit of the state to the loop; resolves once it is made. */
  async edit(edit: StateEdit): Promise<void> {
    if (this.ended) throw tooLateForEdits();
    return this.inbox.putEdit(edit);
  }

  /** The whole run, for one that takes it up. */
  snapshot(): SnapshotReply | null {
    if (!this.engine) return null;
    const reply = { snapshot: compactSnapshot(this.engine.snapshot()), idempotencyRun: this.keyedBy };
    const bytes = bytesOf(reply);
    return bytes > MAX_PAYLOAD_BYTES && !this.options.externalStorage ? { omitted: { bytes } } : reply;
  }

  /** Keeps a signal that made no sense, for there is nobody to refuse it to. */
  recordUnreadable(type: Decision['type'], verdict: Extract<Verdict, { kind: 'refused' }>): void {
    log.warn('a decision was refused', { reason: verdict.message });
    const decision = { type, value: null, via: 'signal' } as Decision;
    this.unreadable.push({ decision, digest: '', verdict, at: now() });
  }

  /** Runs to the end: resolves with the plain values, or throws the failure that ends the workflow. */
  async execute(input: unknown, carry: Carry | undefined): Promise<Channels> {
    // A run that fails on its input must leave what it was given to the thread's next.
    const { snapshot, values, step = snapshot?.step ?? 0 } = carry ?? {};
    this.carried = { values: values ?? shownOf(this.graph.schema, snapshot?.channels ?? {}), step };
    this.unreadable.unshift(...(carry?.unreadable ?? []));
    this.idempotencyRun = carry?.idempotencyRun;
    try {
      this.checkName();
      const engine = (this.engine = this.engineOf(input, carry));
      this.report = this.reportOf(engine);
      if (carry?.edit) engine.mend(carry.edit, now());
      await this.drive(engine);
      const result = this.resultOf(engine);
      await this.close({ kind: 'done', view: this.shown() }, 'done');
      return result;
    } catch (thrown) {
      if (thrown instanceof ContinueAsNew) throw thrown;
      const failure = isCancellation(thrown) ? (thrown as Error) : toRunFailure(thrown);
      await this.close(stopOfFailure(failure), isCancellation(failure) ? 'cancelled' : 'failed');
      throw failure;
    }
  }

  private reportOf(engine: GraphEngine): ReportToParent | undefined {
    const { parent: around } = workflowInfo();
    const { parent } = engine.peek();
    return parent && around ? new ReportToParent(parent, around.workflowId, engine, this.passedOn) : undefined;
  }

  private resultOf(engine: GraphEngine): Channels {
    const { omitted } = this.shown();
    if (!engine.peek().parent) return omitted ? { [OMITTED]: omitted } : engine.values();
    const result = resultWithin(engine.values(), engine.left);
    if (!this.options.externalStorage) refuseTooLarge('The result', result, this.graph.name);
    return result as Channels;
  }

  private checkName(): void {
    const { workflowType } = workflowInfo();
    if (workflowType === this.graph.name) return;
    const message = `Graph "${this.graph.name}" is exported as "${workflowType}". Export it under its own name: export const ${this.graph.name} = graphWorkflow(…).`;
    throw new GraphDefinitionError('GRAPH_NAME_MISMATCH', message);
  }

  private engineOf(input: unknown, carry: Carry | undefined): GraphEngine {
    const external = this.options.externalStorage ? { externalStorage: true as const } : {};
    const { parent, continuedFromExecutionRunId } = workflowInfo();
    if (!carry?.snapshot) {
      const options = parent ? carry : withoutParent(carry ?? {});
      return GraphEngine.start(this.graph, input, { ...options, ...external, at: now() });
    }
    const snapshot = parent ? carry.snapshot : withoutParent(carry.snapshot);
    const engine = GraphEngine.retry(this.graph, { ...snapshot, ...external }, now());
    // A run that takes up another thread's checkpoint, or a failed run, has not shown anything yet.
    if (continuedFromExecutionRunId !== undefined) this.open.takeOver(viewOf(engine));
    return engine;
  }

  private async drive(engine: GraphEngine): Promise<void> {
    const { work, inbox, expiry, rollOver } = this;
    for (;;) {
      await this.makeRoom(engine);
      // Once it is time to roll over, nothing is begun elsewhere, so that a run whose tasks overlap comes to rest as well.
      // With a child workflow out it cannot, and had better go on.
      work.begin(engine, this.isComingToRest);
      work.children.attend(engine);
      if (engine.status === 'done') return;
      expiry.watch(engine.nextExpiry(), now());
      if (this.isStuck) {
        await sleep(1, { summary: 'the next workflow task has room for more' });
        continue;
      }
      if (!work.hasArrivals && inbox.isEmpty && !work.hasLocal) this.rest(engine);
      await condition(() => this.hasNews || this.canRollOver || rollOver.isOverdue);
      await turn();
      this.takeIn(engine);
    }
  }

  // Decisions are judged only in a turn that brought no results, for they may have overtaken one.
  private takeIn(engine: GraphEngine): void {
    const { work, inbox, expiry } = this;
    if (work.hasArrivals) {
      work.settle(engine);
      this.stop = undefined;
    } else if (!inbox.isEmpty) inbox.drain(this.deskOf(engine));
    else if (expiry.passed !== undefined) {
      engine.expire(laterOf(expiry.passed, now()));
      this.stop = undefined;
    } else work.settleLocal(engine);
  }

  // Local activities end in the workflow task they began in. Where that one has no room left, only a timer brings the next.
  private get isStuck(): boolean {
    return this.work.isStuck && !this.isComingToRest && this.inbox.isEmpty;
  }

  private get isComingToRest(): boolean {
    return this.rollOver.isDue && !this.work.children.areOut;
  }

  private get keyedBy(): string {
    return this.idempotencyRun ?? workflowInfo().firstExecutionRunId.slice(0, 8);
  }

  // Decisions that are in are judged first, after what this turn makes ready in workflow code, as in any other turn.
  private async makeRoom(engine: GraphEngine): Promise<void> {
    if (engine.status === 'done') return;
    if (this.canRollOver && this.inbox.isEmpty) await this.rollOver.attempt(engine);
    if (this.rollOver.isOverdue) throw this.rollOver.tooLarge(engine);
  }

  private get canRollOver(): boolean {
    return this.work.isHome && this.rollOver.isDue && this.isTold;
  }

  private get isTold(): boolean {
    return this.report?.isDone ?? true;
  }

  private deskOf(engine: GraphEngine): Desk {
    return new DecisionDesk({
      engine,
      children: this.work.children,
      report: this.report,
      isPassedOn: (decision) => this.passedOn.has(decision),
      isRollingOver: () => this.rollOver.isUnderWay,
      onMove: () => (this.stop = undefined),
      onEdit: () => {
        this.stop = undefined;
        this.open.forget();
      },
    });
  }

  /** Nothing more can be done in this turn: show the open questions, and stop if nothing runs either. */
  private rest(engine: GraphEngine): void {
    this.report?.tell();
    // What the state is by now takes its time to tell, so only where somebody is told.
    if (engine.status !== 'waiting' && !this.open.differs(engine.questions())) return;
    const view = viewOf(engine);
    this.open.publish(view);
    if (view.status === 'waiting') this.stop = { kind: 'paused', view: this.sendable(view) };
  }

  private sendable(view: RunView): RunView {
    return this.options.externalStorage ? view : sendable(view);
  }

  // Handlers that wait for a stop must reply before the run closes, or their callers get an error instead.
  private async close(stop: Stop, end: RunEnd): Promise<void> {
    this.ended = true;
    this.stop = undefined;
    this.expiry.watch(undefined, now());
    if (!this.work.children.isIdle) await this.work.children.stop(tooLate());
    this.open.publish(this.view(), end);
    this.stop = stop;
    this.inbox.drain(closedDesk);
    if (this.report) await this.report.allTold();
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }
}
