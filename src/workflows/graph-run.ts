import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  workflowInfo,
} from '@temporalio/workflow';
import type { AnyGraph } from '../graph/compiled-graph';
import type { Decision, DecisionRecord, Verdict } from '../graph/decision';
import { GraphEngine, type Dispatch } from '../graph/engine';
import { GraphDefinitionError, messageOf } from '../graph/errors';
import type { Outcome } from '../graph/outcome';
import { EMPTY_VIEW, OMITTED, sendable, viewOf, type RolledOver, type RunView, type Stop } from '../graph/run-view';
import type { Channels } from '../graph/state-schema';
import type { Carry } from './carry';
import { toNodeFailure, toRunFailure } from './failures';
import { Inbox } from './inbox';
import { PendingInTheOpen, type RunEnd } from './pending-in-the-open';
import { RollOver } from './roll-over';
import { runTask } from './run-task';
import { TaskAllowance } from './task-allowance';
import { turn } from './turn';
import type { GraphWorkflowOptions } from './workflow-options';

/** The end of a task that ran elsewhere, on its way into the engine. */
type Arrival = {
  readonly task: string;
  readonly node: string;
  readonly end: { readonly outcome: Outcome } | { readonly thrown: unknown };
};

/** One run of a graph as a workflow: drives the engine with activity results and decisions until it ends. */
export class GraphRun {
  private stop: Stop | undefined;
  private engine: GraphEngine | undefined;
  private arrivals: Arrival[] = [];
  private readonly backlog: Dispatch[] = [];
  private readonly allowance: TaskAllowance;
  private readonly rollOver: RollOver;
  private readonly inbox = new Inbox();
  private readonly unreadable: DecisionRecord[] = [];
  private readonly open: PendingInTheOpen;
  private carried: Partial<RunView> = {};
  private ended = false;

  constructor(
    readonly graph: AnyGraph,
    private readonly options: GraphWorkflowOptions = {},
  ) {
    this.open = new PendingInTheOpen(graph);
    this.allowance = new TaskAllowance(options.externalStorage);
    const { open, inbox, unreadable } = this;
    const judge = (engine: GraphEngine, decision: Decision): Verdict => this.judge(engine, decision);
    this.rollOver = new RollOver({ options, open, inbox, judge, unreadable });
  }

  /** Where the run stands still, or that it rolls over; undefined while it moves. Whoever waits for a stop watches this. */
  get reached(): Stop | RolledOver | undefined {
    return this.rollOver.isUnderWay ? { kind: 'rolled' } : this.stop;
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
    this.unreadable.unshift(...(carry?.unreadable ?? []));
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
      await this.makeRoom(engine);
      this.runReady(engine);
      if (engine.status === 'done') return;
      if (this.arrivals.length === 0 && this.inbox.isEmpty) this.rest(engine);
      await condition(
        () => this.arrivals.length > 0 || !this.inbox.isEmpty || this.canRollOver || this.rollOver.isOverdue,
      );
      await turn();
      // Decisions are judged only in a turn that brought no results, for they may have overtaken one.
      if (this.arrivals.length > 0) this.settleArrivals(engine);
      else this.inbox.drain((decision) => this.judge(engine, decision));
    }
  }

  // A workflow-side body may settle at once and make the next task ready, hence the loop. What does not fit into this
  // workflow task waits for the next, which the end of a task that did fit will bring. Once it is time to roll over,
  // nothing is begun elsewhere, so that a run whose tasks overlap comes to rest as well.
  private runReady(engine: GraphEngine): void {
    const onlyHere = this.rollOver.isDue;
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

  // Decisions that are in are judged first, after what this turn makes ready in workflow code, as in any other turn.
  private async makeRoom(engine: GraphEngine): Promise<void> {
    if (engine.status === 'done') return;
    if (this.canRollOver && this.inbox.isEmpty) await this.rollOver.attempt(engine);
    if (this.rollOver.isOverdue) throw this.rollOver.tooLarge(engine);
  }

  private get canRollOver(): boolean {
    return this.allowance.inFlight === 0 && this.rollOver.isDue;
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
