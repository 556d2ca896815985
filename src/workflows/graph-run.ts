import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  sleep,
  workflowInfo,
  type TemporalFailure,
} from '@temporalio/workflow';
import { readReport, type ChildReport } from '../graph/child-report';
import { withoutParent, type ChildDispatch, type SubgraphEnd } from '../graph/child-tasks';
import { compactSnapshot } from '../graph/compact-snapshot';
import type { AnyGraph } from '../graph/compiled-graph';
import { readDecision, type Decision, type DecisionRecord, type Verdict } from '../graph/decision';
import { GraphEngine, type Dispatch } from '../graph/engine';
import { laterOf } from '../graph/duration';
import type { StateEdit } from '../graph/edit-state';
import { GraphDefinitionError, messageOf, ThreadError } from '../graph/errors';
import type { Outcome } from '../graph/outcome';
import { EMPTY_VIEW, OMITTED, sendable, viewOf, type RolledOver, type RunView, type Stop } from '../graph/run-view';
import { bytesOf, MAX_PAYLOAD_BYTES, refuseTooLarge } from '../graph/size-limit';
import { shownOf, type Channels } from '../graph/state-schema';
import { resultWithin } from '../graph/subgraph-result';
import { nodePathOf } from '../graph/task';
import type { Carry } from './carry';
import { ChildRuns, toChildFailure } from './child-runs';
import { ExpiryTimer } from './expiry-timer';
import { toFailure, toNodeFailure, toRunFailure } from './failures';
import { Inbox, type Desk } from './inbox';
import type { PassedOnPayload, SnapshotReply } from './messages';
import { PendingInTheOpen, type RunEnd } from './pending-in-the-open';
import { ReportToParent } from './report-to-parent';
import { RollOver } from './roll-over';
import { runsLocally } from './local-task';
import { runTask } from './run-task';
import { TaskAllowance } from './task-allowance';
import { turn } from './turn';
import type { GraphWorkflowOptions } from './workflow-options';

/** The end of a task that ran elsewhere, or how a subgraph that does stands, on its way into the engine. */
type Arrival =
  | {
      readonly kind: 'end';
      readonly dispatch: Dispatch;
      readonly end: { readonly outcome: Outcome } | { readonly thrown: unknown };
    }
  | {
      readonly kind: 'childEnd';
      readonly task: string;
      readonly end: { readonly left: SubgraphEnd } | { readonly thrown: unknown };
    }
  | { readonly kind: 'report'; readonly report: ChildReport };
type TaskEnd = Extract<Arrival, { kind: 'end' }>;

/** One run of a graph as a workflow: drives the engine with activity results and decisions until it ends. */
export class GraphRun {
  private stop: Stop | undefined;
  private engine: GraphEngine | undefined;
  private arrivals: Arrival[] = [];
  private readonly localArrivals: TaskEnd[] = [];
  private readonly backlog: (Dispatch | ChildDispatch)[] = [];
  private readonly children: ChildRuns;
  private report: ReportToParent | undefined;
  /** Decisions that the run around this one passed on; they may come before this run has begun. */
  private readonly passedOn = new Map<Decision, string>();
  private readonly allowance: TaskAllowance;
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
    this.allowance = new TaskAllowance(options.externalStorage);
    this.children = new ChildRuns(options.externalStorage);
    const { open, inbox, unreadable } = this;
    const desk = (engine: GraphEngine): Desk => this.desk(engine);
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
    return (
      this.arrivals.length > 0 ||
      this.localArrivals.length > 0 ||
      !this.inbox.isEmpty ||
      this.expiry.passed !== undefined
    );
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
    return this.ended ? this.tooLate() : this.inbox.put(decision);
  }

  /** Takes a decision from the run around this one, and tells it the verdict. */
  async decidePassedOn({ token, via, request }: PassedOnPayload): Promise<void> {
    const decision = readDecision(request, via === 'update' ? 'update' : 'signal');
    this.passedOn.set(decision, token);
    const verdict = await this.decide(decision);
    this.report?.judged(decision, verdict);
    await this.report?.allTold();
  }

  /** Hands the report of a child workflow to the loop. */
  hear(told: unknown): void {
    const report = readReport(told);
    if (report) this.arrivals.push({ kind: 'report', report });
    else log.warn('a report of a child workflow cannot be read');
  }

  /** Hands an edit of the state to the loop; resolves once it is made. */
  async edit(edit: StateEdit): Promise<void> {
    if (this.ended) throw this.overForEdits();
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
      await this.close(asStop(failure), isCancellation(failure) ? 'cancelled' : 'failed');
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
    for (;;) {
      await this.makeRoom(engine);
      this.runReady(engine);
      this.children.attend(engine);
      if (engine.status === 'done') return;
      this.expiry.watch(engine.nextExpiry(), now());
      if (this.isStuck) {
        await sleep(1, { summary: 'the next workflow task has room for more' });
        continue;
      }
      if (this.arrivals.length === 0 && this.inbox.isEmpty && !this.allowance.hasLocal) this.rest(engine);
      await condition(() => this.hasNews || this.canRollOver || this.rollOver.isOverdue);
      await turn();
      // Decisions are judged only in a turn that brought no results, for they may have overtaken one.
      if (this.arrivals.length > 0) this.settleArrivals(engine);
      else if (!this.inbox.isEmpty) this.inbox.drain(this.desk(engine));
      else if (this.expiry.passed !== undefined) this.expire(engine, laterOf(this.expiry.passed, now()));
      else this.settleLocal(engine);
    }
  }

  // Local activities end in the workflow task they began in. Where that one has no room left, only a timer brings the next.
  private get isStuck(): boolean {
    return this.backlog.length > 0 && this.allowance.inFlight === 0 && !this.rollOver.isDue && this.inbox.isEmpty;
  }

  // A workflow-side body may settle at once and make the next task ready, hence the loop. What does not fit into this
  // workflow task waits for the next, which the end of a task that did fit will bring. Once it is time to roll over,
  // nothing is begun elsewhere, so that a run whose tasks overlap comes to rest as well.
  private runReady(engine: GraphEngine): void {
    // With a child workflow out the run cannot roll over, and had better go on.
    const onlyHere = this.rollOver.isDue && !this.children.areOut;
    for (let ready = takeFrom(engine); ready.length > 0; ready = takeFrom(engine)) this.backlog.push(...ready);
    for (;;) {
      const next = onlyHere ? this.backlog.findIndex(({ definition }) => definition.kind === 'workflow') : 0;
      const dispatch = this.backlog[next];
      if (!dispatch) return;
      // What a handler has ended while it waited here is not begun any more.
      const isOver = !engine.isRunning(dispatch.task.id);
      if (!isOver && !this.allowance.takes(dispatch)) return;
      this.backlog.splice(next, 1);
      if (isOver) continue;
      if (isChild(dispatch)) this.runChild(engine, dispatch);
      else this.run(engine, dispatch);
      this.backlog.push(...takeFrom(engine));
    }
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
    return this.allowance.inFlight === 0 && this.rollOver.isDue && this.isTold;
  }

  private get isTold(): boolean {
    return this.report?.isDone ?? true;
  }

  private runChild(engine: GraphEngine, dispatch: ChildDispatch): void {
    const { id: task } = dispatch.task;
    const arrive = (end: Extract<Arrival, { kind: 'childEnd' }>['end']): void => {
      this.allowance.release();
      this.arrivals.push({ kind: 'childEnd', task, end });
    };
    try {
      this.children.start(dispatch).then(
        (left) => arrive({ left }),
        (thrown: unknown) => arrive({ thrown }),
      );
    } catch (thrown) {
      this.allowance.release();
      this.settleFailure(engine, task, dispatch.task.node, thrown);
    }
  }

  private run(engine: GraphEngine, dispatch: Dispatch): void {
    const { id, node } = dispatch.task;
    const { workflowId } = workflowInfo();
    const idempotencyKey = `${workflowId}/${this.keyedBy}/${id}`;
    let outcome: Outcome | Promise<Outcome>;
    try {
      const { externalStorage } = this.options;
      outcome = runTask({ threadId: workflowId, idempotencyKey, externalStorage }, dispatch);
    } catch (thrown) {
      this.settleFailure(engine, id, node, thrown);
      this.allowance.release();
      return;
    }
    if (!(outcome instanceof Promise)) {
      this.allowance.release();
      return engine.settle(id, outcome, now());
    }
    const isLocal = runsLocally(dispatch);
    const arrive = (end: TaskEnd['end']): void => {
      if (isLocal) return void this.localArrivals.push({ kind: 'end', dispatch, end });
      this.allowance.release();
      this.arrivals.push({ kind: 'end', dispatch, end });
    };
    outcome.then(
      (settled) => arrive({ outcome: settled }),
      (thrown: unknown) => arrive({ thrown }),
    );
  }

  private settleArrivals(engine: GraphEngine): void {
    const arrivals = this.arrivals;
    this.arrivals = [];
    for (const arrival of arrivals) this.settleArrival(engine, arrival);
  }

  // One at a time, after all else and nothing shown in between: ends of local activities that came one by one come together
  // on a replay.
  private settleLocal(engine: GraphEngine): void {
    const arrival = this.localArrivals.shift();
    if (!arrival) return;
    this.allowance.releaseLocal(arrival.dispatch, 'outcome' in arrival.end ? arrival.end.outcome : null);
    this.settleArrival(engine, arrival);
  }

  private settleArrival(engine: GraphEngine, arrival: Arrival): void {
    switch (arrival.kind) {
      case 'end':
        return this.settleEnd(engine, arrival);
      case 'childEnd':
        return this.settleChildEnd(engine, arrival);
      case 'report':
        this.children.hear(engine, arrival.report, now());
        this.stop = undefined;
        return;
      default:
        arrival satisfies never;
    }
  }

  private settleEnd(engine: GraphEngine, { dispatch: { task }, end }: TaskEnd): void {
    // What a handler has ended may still come in.
    if (!engine.isRunning(task.id)) return;
    if ('thrown' in end) this.settleFailure(engine, task.id, task.node, end.thrown);
    else engine.settle(task.id, end.outcome, now());
  }

  private settleChildEnd(engine: GraphEngine, { task, end }: Extract<Arrival, { kind: 'childEnd' }>): void {
    this.children.ended(engine, task, now());
    if (!engine.isRunning(task)) return;
    // It may have been waiting, and have ended without a word: terminated, say.
    this.stop = undefined;
    if ('thrown' in end) this.settleChildFailure(engine, task, end.thrown);
    else engine.settleSubgraph(task, end.left, now());
  }

  private settleChildFailure(engine: GraphEngine, task: string, thrown: unknown): void {
    const failure = toChildFailure(nodePathOf(task), thrown);
    const [{ node }] = (failure as ApplicationFailure).details as [{ node: string }];
    this.failed(engine, task, node, failure);
  }

  private settleFailure(engine: GraphEngine, task: string, node: string, thrown: unknown): void {
    const failure = toNodeFailure(node, thrown);
    if (isCancellation(failure)) throw failure;
    this.failed(engine, task, node, failure);
  }

  private failed(engine: GraphEngine, task: string, node: string, failure: TemporalFailure): void {
    const code = (failure instanceof ApplicationFailure && failure.type) || 'NODE_FAILED';
    if (!engine.settleFailure(task, { node, code, message: failure.message }, now())) throw failure;
  }

  private desk(engine: GraphEngine): Desk {
    return { judge: (decision) => this.judge(engine, decision), edit: (edit) => this.editState(engine, edit) };
  }

  private editState(engine: GraphEngine, edit: StateEdit): void {
    if (engine.status === 'running') {
      const { workflowId } = workflowInfo();
      const message = `Thread "${workflowId}" is running. Update its state while it waits, or when it has ended.`;
      throw toFailure(new ThreadError('THREAD_BUSY', message, workflowId));
    }
    try {
      engine.edit(edit, now());
    } catch (error) {
      throw toRunFailure(error);
    }
    this.stop = undefined;
    this.open.forget();
  }

  private expire(engine: GraphEngine, at: string): void {
    engine.expire(at);
    this.stop = undefined;
  }

  private judge(engine: GraphEngine, decision: Decision): Verdict | Promise<Verdict> {
    const elsewhere = this.children.passOn(engine, decision, now());
    if (!elsewhere) return this.judgeHere(engine, decision);
    this.stop = undefined;
    return elsewhere;
  }

  private judgeHere(engine: GraphEngine, decision: Decision): Verdict {
    // An update is judged when it comes. A signal may have waited in the history, so the timer's word is awaited.
    if (decision.via === 'update' && isPast(engine.nextExpiry())) this.expire(engine, now());
    const isGone = this.passedOn.has(decision) && engine.foresee(decision).kind === 'kept';
    const verdict = isGone ? NO_LONGER_OPEN : judged(engine, decision);
    this.report?.judged(decision, verdict);
    if (this.rollOver.isUnderWay) this.report?.tell();
    if (verdict.kind === 'accepted') this.stop = undefined;
    if (verdict.kind === 'refused' && decision.via === 'signal')
      log.warn('a decision was refused', { reason: verdict.message });
    return verdict;
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
    if (!this.children.isIdle) await this.children.stop(this.tooLate());
    this.open.publish(this.view(), end);
    this.stop = stop;
    this.inbox.drain({
      judge: () => this.tooLate(),
      edit: () => {
        throw this.overForEdits();
      },
    });
    if (this.report) await this.report.allTold();
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }

  private overForEdits(): Error {
    const { workflowId } = workflowInfo();
    return toFailure(new ThreadError('THREAD_FINISHED', `The run of thread "${workflowId}" has ended.`, workflowId));
  }

  private tooLate(): Verdict {
    const message = `The run has ended; there is nothing left to decide on thread "${workflowInfo().workflowId}". Nothing changed.`;
    return { kind: 'refused', code: 'THREAD_FINISHED', message, open: [] };
  }
}

const NO_LONGER_OPEN: Verdict = {
  kind: 'refused',
  code: 'QUESTION_UNKNOWN',
  message: 'The question is no longer open. Nothing changed.',
  open: [],
};

function isChild(dispatch: Dispatch | ChildDispatch): dispatch is ChildDispatch {
  return dispatch.definition.kind === 'graph';
}

function takeFrom(engine: GraphEngine): readonly (Dispatch | ChildDispatch)[] {
  return [...engine.take(), ...engine.takeChildren(now())];
}

// A decision comes from outside: whatever it makes the engine throw is its own refusal, never the run's end.
function judged(engine: GraphEngine, decision: Decision): Verdict {
  try {
    return engine.decide(decision, now());
  } catch (error) {
    const message = `The decision cannot be judged: ${messageOf(error)}. Nothing changed.`;
    return { kind: 'refused', code: 'DECISION_MALFORMED', message, open: [] };
  }
}

function now(): string {
  return new Date().toISOString();
}

function isPast(moment: string | undefined): boolean {
  return moment !== undefined && moment <= now();
}

function asStop(failure: Error): Stop {
  if (isCancellation(failure)) return { kind: 'failed', code: 'RUN_CANCELLED', message: 'The run was cancelled.' };
  const { type, details } = failure as { type?: string | null; details?: readonly unknown[] | null };
  const node = (details?.[0] as { node?: string } | undefined)?.node;
  return {
    kind: 'failed',
    code: type ?? 'RUN_FAILED',
    message: messageOf(failure),
    ...(node !== undefined && { node }),
  };
}
