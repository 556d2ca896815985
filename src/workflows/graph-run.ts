import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  log,
  workflowInfo,
} from '@temporalio/workflow';
import type { AnyGraph } from '../graph/compiled-graph';
import type { Decision, DecisionRecord, Verdict } from '../graph/decision';
import { GraphEngine, type Dispatch } from '../graph/engine';
import { laterOf } from '../graph/duration';
import { GraphDefinitionError, messageOf } from '../graph/errors';
import type { Outcome } from '../graph/outcome';
import { refuseTooLarge } from '../graph/size-limit';
import { EMPTY_VIEW, sendable, viewOf, type RunView, type Stop } from '../graph/run-view';
import type { Channels } from '../graph/state-schema';
import { ExpiryTimer } from './expiry-timer';
import { toNodeFailure, toRunFailure } from './failures';
import { Inbox } from './inbox';
import { PendingInTheOpen, type RunEnd } from './pending-in-the-open';
import { runTask } from './run-task';
import { TaskAllowance } from './task-allowance';
import { turn } from './turn';

/** What a run takes over from the thread's earlier run. */
export interface Carry {
  readonly values?: Channels;
  readonly step?: number;
  readonly recursionLimit?: number;
}

/** The end of a task that ran elsewhere, on its way into the engine. */
type Arrival = {
  readonly task: string;
  readonly node: string;
  readonly end: { readonly outcome: Outcome } | { readonly thrown: unknown };
};

/** One run of a graph as a workflow: drives the engine with activity results and decisions until it ends. */
export class GraphRun {
  /** Where the run stands still; undefined while it moves. Whoever waits for a stop watches this. */
  stop: Stop | undefined;
  private engine: GraphEngine | undefined;
  private arrivals: Arrival[] = [];
  private readonly backlog: Dispatch[] = [];
  private readonly allowance = new TaskAllowance();
  private readonly inbox = new Inbox();
  private readonly expiry = new ExpiryTimer();
  private readonly unreadable: DecisionRecord[] = [];
  private readonly open: PendingInTheOpen;
  private carried: Partial<RunView> = {};
  private ended = false;

  constructor(readonly graph: AnyGraph) {
    this.open = new PendingInTheOpen(graph);
  }

  view(): RunView {
    return this.engine ? viewOf(this.engine) : { ...EMPTY_VIEW, ...this.carried };
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
    this.carried = { values: carry?.values ?? {}, step: carry?.step ?? 0 };
    try {
      this.checkName();
      const engine = (this.engine = GraphEngine.start(this.graph, input, carry));
      await this.drive(engine);
      refuseTooLarge('The result', engine.values(), this.graph.name);
      await this.close({ kind: 'done', view: sendable(this.view()) }, 'done');
      return engine.values();
    } catch (thrown) {
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

  private async drive(engine: GraphEngine): Promise<void> {
    for (;;) {
      this.runReady(engine);
      if (engine.status === 'done') return;
      this.expiry.watch(engine.nextExpiry(), now());
      if (this.arrivals.length === 0 && this.inbox.isEmpty) this.rest(engine);
      await condition(() => this.arrivals.length > 0 || !this.inbox.isEmpty || this.expiry.passed !== undefined);
      await turn();
      // Decisions are judged only in a turn that brought no results, for they may have overtaken one.
      if (this.arrivals.length > 0) this.settleArrivals(engine);
      else if (!this.inbox.isEmpty) this.inbox.drain((decision) => this.judge(engine, decision));
      else if (this.expiry.passed !== undefined) this.expire(engine, laterOf(this.expiry.passed, now()));
    }
  }

  // A workflow-side body may settle at once and make the next task ready, hence the loop. What does not fit into this
  // workflow task waits for the next, which the end of a task that did fit will bring.
  private runReady(engine: GraphEngine): void {
    for (let ready = engine.take(); ready.length > 0; ready = engine.take()) this.backlog.push(...ready);
    while (this.backlog.length > 0 && this.allowance.takes(this.backlog[0] as Dispatch)) {
      this.run(engine, this.backlog.shift() as Dispatch);
      this.backlog.push(...engine.take());
    }
  }

  private run(engine: GraphEngine, dispatch: Dispatch): void {
    const { id, node } = dispatch.task;
    const { workflowId, firstExecutionRunId } = workflowInfo();
    const idempotencyKey = `${workflowId}/${firstExecutionRunId.slice(0, 8)}/${id}`;
    let outcome: Outcome | Promise<Outcome>;
    try {
      outcome = runTask({ graph: this.graph, threadId: workflowId, idempotencyKey }, dispatch);
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

  private expire(engine: GraphEngine, at: string): void {
    engine.expire(at);
    this.stop = undefined;
  }

  private judge(engine: GraphEngine, decision: Decision): Verdict {
    // An update is judged when it comes. A signal may have waited in the history, so the timer's word is awaited.
    if (decision.via === 'update' && isPast(engine.nextExpiry())) this.expire(engine, now());
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
    if (view.status === 'waiting') this.stop = { kind: 'paused', view: sendable(view) };
  }

  // Handlers that wait for a stop must reply before the run closes, or their callers get an error instead.
  private async close(stop: Stop, end: RunEnd): Promise<void> {
    this.ended = true;
    this.expiry.watch(undefined, now());
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
