import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { AnyGraph } from '../graph/compiled-graph';
import type { Decision, DecisionRecord, Verdict } from '../graph/decision';
import { GraphEngine, type Dispatch } from '../graph/engine';
import { GraphDefinitionError, messageOf } from '../graph/errors';
import type { Outcome } from '../graph/outcome';
import { EMPTY_VIEW, OMITTED, sendable, viewOf, type RolledOver, type RunView, type Stop } from '../graph/run-view';
import type { Channels } from '../graph/state-schema';
import { carryOf, fitsOnePayload, historyTooLarge, type Carry } from './carry';
import { toNodeFailure, toRunFailure } from './failures';
import { HistoryBudget, type HistoryLimits } from './history-budget';
import { Inbox } from './inbox';
import { PendingInTheOpen, type RunEnd } from './pending-in-the-open';
import { runTask } from './run-task';
import { TaskAllowance } from './task-allowance';
import { turn } from './turn';

/** How a graph runs as a workflow. */
export interface GraphWorkflowOptions {
  /** Rolls over, with continue-as-new, after so much history; default only when the server suggests it. */
  readonly continueAsNewAfter?: HistoryLimits;
  /**
   * Large payloads are stored elsewhere: lifts the limits on what a state, a result or an answer may take. Only for runs
   * whose workers and clients all have an `ExternalStorage` in their data converter.
   */
  readonly externalStorage?: boolean;
}

/** The end of a task that ran elsewhere, on its way into the engine. */
type Arrival = {
  readonly task: string;
  readonly node: string;
  readonly end: { readonly outcome: Outcome } | { readonly thrown: unknown };
};

/** One run of a graph as a workflow: drives the engine with activity results and decisions until it ends. */
export class GraphRun {
  private stop: Stop | undefined;
  private rolling = false;
  private engine: GraphEngine | undefined;
  private arrivals: Arrival[] = [];
  private readonly backlog: Dispatch[] = [];
  private readonly allowance: TaskAllowance;
  private readonly budget: HistoryBudget;
  private readonly inbox = new Inbox();
  private unreadable: DecisionRecord[] = [];
  private readonly open: PendingInTheOpen;
  private carried: Partial<RunView> = {};
  private ended = false;

  constructor(
    readonly graph: AnyGraph,
    private readonly options: GraphWorkflowOptions = {},
  ) {
    this.open = new PendingInTheOpen(graph);
    this.budget = new HistoryBudget(options.continueAsNewAfter);
    this.allowance = new TaskAllowance(options.externalStorage);
  }

  /** Where the run stands still, or that it rolls over; undefined while it moves. Whoever waits for a stop watches this. */
  get reached(): Stop | RolledOver | undefined {
    return this.rolling ? { kind: 'rolled' } : this.stop;
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

  /** Keeps a signal that made no sense, for there is nobody to refuse it to. */
  recordUnreadable(type: Decision['type'], verdict: Extract<Verdict, { kind: 'refused' }>): void {
    log.warn('a decision was refused', { reason: verdict.message });
    const decision = { type, value: null, via: 'signal' } as Decision;
    this.unreadable.push({ decision, digest: '', verdict, at: now() });
  }

  /** Runs to the end: resolves with the plain values, or throws the failure that ends the workflow. */
  async execute(input: unknown, carry: Carry | undefined): Promise<Channels> {
    // A run that fails on its input must leave what it was given to the thread's next.
    const { snapshot, values = snapshot?.channels ?? {}, step = snapshot?.step ?? 0 } = carry ?? {};
    this.carried = { values, step };
    this.unreadable = [...(carry?.unreadable ?? [])];
    try {
      this.checkName();
      const engine = (this.engine = this.engineOf(input, carry));
      await this.drive(engine);
      const view = this.shown();
      await this.close({ kind: 'done', view }, 'done');
      return view.omitted ? { [OMITTED]: view.omitted } : engine.values();
    } catch (thrown) {
      if (thrown instanceof ContinueAsNew) throw thrown;
      const failure = isCancellation(thrown) ? (thrown as Error) : toRunFailure(thrown);
      await this.close(asStop(failure), isCancellation(failure) ? 'cancelled' : 'failed');
      throw failure;
    }
  }

  private checkName(): void {
    const { workflowType } = workflowInfo();
    if (workflowType === this.graph.name) return;
    const message = `Graph "${this.graph.name}" is exported as "${workflowType}". Export it under its own name: export const ${this.graph.name} = graphWorkflow(…).`;
    throw new GraphDefinitionError('GRAPH_NAME_MISMATCH', message);
  }

  private engineOf(input: unknown, carry: Carry | undefined): GraphEngine {
    const external = this.options.externalStorage ? { externalStorage: true as const } : {};
    if (!carry?.snapshot) return GraphEngine.start(this.graph, input, { ...carry, ...external });
    const engine = GraphEngine.restore(this.graph, { ...carry.snapshot, ...external });
    this.open.takeOver(viewOf(engine));
    return engine;
  }

  private async drive(engine: GraphEngine): Promise<void> {
    for (;;) {
      if (this.canRollOver && this.inbox.isEmpty) await this.rollOver(engine);
      if (this.budget.isExhausted) throw this.tooLarge(engine);
      // Once it is time to roll over, nothing new is begun, so that a run whose tasks overlap comes to rest as well.
      this.runReady(engine, this.budget.isDue);
      if (engine.status === 'done') return;
      if (this.arrivals.length === 0 && this.inbox.isEmpty) this.rest(engine);
      await condition(
        () => this.arrivals.length > 0 || !this.inbox.isEmpty || this.canRollOver || this.budget.isExhausted,
      );
      await turn();
      // Decisions are judged only in a turn that brought no results, for they may have overtaken one.
      if (this.arrivals.length > 0) this.settleArrivals(engine);
      else this.inbox.drain((decision) => this.judge(engine, decision));
    }
  }

  // A workflow-side body may settle at once and make the next task ready, hence the loop. What does not fit into this
  // workflow task waits for the next, which the end of a task that did fit will bring.
  private runReady(engine: GraphEngine, onlyHere: boolean): void {
    for (let ready = engine.take(); ready.length > 0; ready = engine.take()) this.backlog.push(...ready);
    for (;;) {
      const next = onlyHere ? this.backlog.findIndex(({ definition }) => definition.kind === 'workflow') : 0;
      const dispatch = this.backlog[next];
      if (!dispatch || !this.allowance.takes(dispatch)) return;
      this.backlog.splice(next, 1);
      this.run(engine, dispatch);
      this.backlog.push(...engine.take());
    }
  }

  private get canRollOver(): boolean {
    return this.allowance.inFlight === 0 && this.budget.isDue;
  }

  /**
   * Goes on as the thread's next run, or returns where what it holds is too much to be taken over.
   *
   * Whoever waits for a stop is told to ask the next run; decisions that still come in are judged here and taken along.
   */
  private async rollOver(engine: GraphEngine): Promise<void> {
    if (!this.fits(this.carry(engine))) return this.budget.postpone();
    this.rolling = true;
    let judged = 0;
    while (!this.inbox.isEmpty || !allHandlersFinished()) {
      await condition(() => !this.inbox.isEmpty || allHandlersFinished());
      judged += this.inbox.drain((decision) => this.judge(engine, decision));
    }
    this.rolling = false;
    const carry = this.carry(engine);
    if (judged > 0 && !this.fits(carry)) return this.budget.postpone();
    await makeContinueAsNewFunc(this.open.handedOver(viewOf(engine)))({}, carry);
  }

  private fits(carry: Carry): boolean {
    return this.options.externalStorage === true || fitsOnePayload(carry);
  }

  private carry(engine: GraphEngine): Carry {
    return carryOf(engine.snapshot(), this.unreadable);
  }

  private tooLarge(engine: GraphEngine): Error {
    const { historySize, historyLength } = workflowInfo();
    return historyTooLarge(this.graph.name, historySize, historyLength, this.carry(engine));
  }

  private run(engine: GraphEngine, dispatch: Dispatch): void {
    const { id, node } = dispatch.task;
    const { workflowId, firstExecutionRunId } = workflowInfo();
    const idempotencyKey = `${workflowId}/${firstExecutionRunId.slice(0, 8)}/${id}`;
    let outcome: Outcome | Promise<Outcome>;
    try {
      const { externalStorage } = this.options;
      outcome = runTask({ graph: this.graph, threadId: workflowId, idempotencyKey, externalStorage }, dispatch);
    } catch (thrown) {
      throw toNodeFailure(node, thrown);
    }
    if (!(outcome instanceof Promise)) {
      this.allowance.release();
      return engine.settle(id, outcome, now());
    }
    const arrive = (end: Arrival['end']): void => {
      this.allowance.release();
      this.arrivals.push({ task: id, node, end });
    };
    outcome.then(
      (settled) => arrive({ outcome: settled }),
      (thrown: unknown) => arrive({ thrown }),
    );
  }

  private settleArrivals(engine: GraphEngine): void {
    const arrivals = this.arrivals;
    this.arrivals = [];
    for (const { task, node, end } of arrivals) {
      if ('thrown' in end) throw toNodeFailure(node, end.thrown);
      engine.settle(task, end.outcome, now());
    }
  }

  private judge(engine: GraphEngine, decision: Decision): Verdict {
    const verdict = judged(engine, decision);
    if (verdict.kind === 'accepted') this.stop = undefined;
    if (verdict.kind === 'refused' && decision.via === 'signal')
      log.warn('a decision was refused', { reason: verdict.message });
    return verdict;
  }

  /** Nothing more can be done in this turn: show the open questions, and stop if nothing runs either. */
  private rest(engine: GraphEngine): void {
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
    this.open.publish(this.view(), end);
    this.stop = stop;
    this.inbox.drain(() => this.tooLate());
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }

  private tooLate(): Verdict {
    const message = `The run has ended; there is nothing left to decide on thread "${workflowInfo().workflowId}". Nothing changed.`;
    return { kind: 'refused', code: 'THREAD_FINISHED', message, open: [] };
  }
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
