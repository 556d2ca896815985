import { ApplicationFailure, isCancellation, workflowInfo, type TemporalFailure } from '@temporalio/workflow';
import type { ChildReport } from '../graph/child-report';
import type { ChildDispatch, SubgraphEnd } from '../graph/child-tasks';
import type { Dispatch } from '../graph/dispatch';
import type { GraphEngine } from '../graph/engine';
import type { Outcome } from '../graph/outcome';
import { nodePathOf } from '../graph/task';
import { ChildRuns, toChildFailure } from './child-runs';
import { now } from './clock';
import { toNodeFailure } from './failures';
import { runsLocally } from './local-task';
import { runTask } from './run-task';
import { TaskAllowance } from './task-allowance';

type Ended<T> = T | { readonly thrown: unknown };

type TaskEnd = {
  readonly kind: 'end';
  readonly dispatch: Dispatch;
  readonly end: Ended<{ readonly outcome: Outcome }>;
};

type ChildEnd = {
  readonly kind: 'childEnd';
  readonly task: string;
  readonly end: Ended<{ readonly left: SubgraphEnd }>;
};

/** The end of a task that ran elsewhere, or how a subgraph that does stands, on its way into the engine. */
type Arrival = TaskEnd | ChildEnd | { readonly kind: 'report'; readonly report: ChildReport };

/** Gives the tasks of a run out, as far as workflow tasks have room, and settles what comes back. */
export class WorkGivenOut {
  readonly children: ChildRuns;
  private arrivals: Arrival[] = [];
  private readonly localEnds: TaskEnd[] = [];
  private readonly backlog: (Dispatch | ChildDispatch)[] = [];
  private readonly allowance: TaskAllowance;

  constructor(
    private readonly externalStorage: boolean | undefined,
    /** What the idempotency keys of the run begin with, after its thread. */
    private readonly keyedBy: () => string,
  ) {
    this.allowance = new TaskAllowance(externalStorage);
    this.children = new ChildRuns(externalStorage);
  }

  /** Something came back that is not settled yet, from elsewhere. */
  get hasArrivals(): boolean {
    return this.arrivals.length > 0;
  }

  /** A local activity has ended, and that is not settled yet. */
  get hasLocalEnds(): boolean {
    return this.localEnds.length > 0;
  }

  /** Local activities run, or have ended and not been settled yet. */
  get hasLocal(): boolean {
    return this.allowance.hasLocal;
  }

  /** Nothing is out. */
  get isHome(): boolean {
    return this.allowance.inFlight === 0;
  }

  /** Something waits for room, and nothing is out whose end would soon bring the next workflow task. */
  get isStuck(): boolean {
    return this.backlog.length > 0 && (this.isHome || this.allowance.isFullOfLocal);
  }

  /**
   * Begins what the engine has ready; with `onlyHere`, only what runs in workflow code.
   *
   * A workflow-side body may settle at once and make the next task ready. What does not fit into this workflow task waits
   * for the next, which the end of a task that did fit will bring, or the caller where it `isStuck`.
   */
  begin(engine: GraphEngine, onlyHere: boolean): void {
    for (let ready = takeFrom(engine); ready.length > 0; ready = takeFrom(engine)) this.backlog.push(...ready);
    for (;;) {
      const next = onlyHere ? this.backlog.findIndex(({ definition }) => definition.kind === 'workflow') : 0;
      const dispatch = this.backlog[next];
      if (!dispatch) return;
      // What a handler has ended while it waited here is not begun any more.
      const isOver = !engine.isRunning(dispatch.task.id);
      const isLocal = !isOver && runsLocally(dispatch);
      if (!isOver && !this.allowance.takes(dispatch, isLocal)) return;
      this.backlog.splice(next, 1);
      if (isOver) continue;
      if (isChild(dispatch)) this.runChild(engine, dispatch);
      else this.run(engine, dispatch, isLocal);
      this.backlog.push(...takeFrom(engine));
    }
  }

  /** Takes in what a child workflow tells. */
  hear(report: ChildReport): void {
    this.arrivals.push({ kind: 'report', report });
  }

  /** Settles all that came back from elsewhere, in the order it came. @throws the failure that ends the run. */
  settle(engine: GraphEngine): void {
    const arrivals = this.arrivals;
    this.arrivals = [];
    for (const arrival of arrivals) this.settleOne(engine, arrival);
  }

  /**
   * Settles the end of one local activity. @throws the failure that ends the run.
   *
   * One at a time, after all else and nothing shown in between: ends that came one by one come together on a replay.
   */
  settleLocal(engine: GraphEngine): void {
    const arrival = this.localEnds.shift();
    if (!arrival) return;
    this.allowance.releaseLocal(arrival.dispatch, 'outcome' in arrival.end ? arrival.end.outcome : null);
    this.settleEnd(engine, arrival);
  }

  private runChild(engine: GraphEngine, dispatch: ChildDispatch): void {
    const { id: task, node } = dispatch.task;
    const arrive = (end: ChildEnd['end']): void => {
      this.allowance.releaseChild();
      this.arrivals.push({ kind: 'childEnd', task, end });
    };
    try {
      this.children.start(dispatch).then(
        (left) => arrive({ left }),
        (thrown: unknown) => arrive({ thrown }),
      );
    } catch (thrown) {
      this.allowance.releaseChild();
      settleFailure(engine, task, node, thrown);
    }
  }

  private run(engine: GraphEngine, dispatch: Dispatch, isLocal: boolean): void {
    const { id, node } = dispatch.task;
    const { workflowId: threadId } = workflowInfo();
    const idempotencyKey = `${threadId}/${this.keyedBy()}/${id}`;
    const release = (): void => (isLocal ? this.allowance.releaseLocal(dispatch, null) : this.allowance.release());
    let outcome: Outcome | Promise<Outcome>;
    try {
      outcome = runTask({ threadId, idempotencyKey, externalStorage: this.externalStorage, isLocal }, dispatch);
    } catch (thrown) {
      release();
      return settleFailure(engine, id, node, thrown);
    }
    if (!(outcome instanceof Promise)) {
      release();
      return engine.settle(id, outcome, now());
    }
    const arrive = (end: TaskEnd['end']): void => {
      if (isLocal) return void this.localEnds.push({ kind: 'end', dispatch, end });
      this.allowance.release();
      this.arrivals.push({ kind: 'end', dispatch, end });
    };
    outcome.then(
      (settled) => arrive({ outcome: settled }),
      (thrown: unknown) => arrive({ thrown }),
    );
  }

  private settleOne(engine: GraphEngine, arrival: Arrival): void {
    switch (arrival.kind) {
      case 'end':
        return this.settleEnd(engine, arrival);
      case 'childEnd':
        return this.settleChildEnd(engine, arrival);
      case 'report':
        return this.children.hear(engine, arrival.report, now());
      default:
        arrival satisfies never;
    }
  }

  // What a handler has ended may still come in.
  private settleEnd(engine: GraphEngine, { dispatch: { task }, end }: TaskEnd): void {
    if (!engine.isRunning(task.id)) return;
    if ('thrown' in end) settleFailure(engine, task.id, task.node, end.thrown);
    else engine.settle(task.id, end.outcome, now());
  }

  private settleChildEnd(engine: GraphEngine, { task, end }: ChildEnd): void {
    this.children.ended(engine, task, now());
    if (!engine.isRunning(task)) return;
    if ('left' in end) return engine.settleSubgraph(task, end.left, now());
    const failure = toChildFailure(nodePathOf(task), end.thrown);
    const [{ node }] = (failure as ApplicationFailure).details as [{ node: string }];
    settleFailed(engine, task, node, failure);
  }
}

function settleFailure(engine: GraphEngine, task: string, node: string, thrown: unknown): void {
  const failure = toNodeFailure(node, thrown);
  if (isCancellation(failure)) throw failure;
  settleFailed(engine, task, node, failure);
}

function settleFailed(engine: GraphEngine, task: string, node: string, failure: TemporalFailure): void {
  const code = (failure instanceof ApplicationFailure && failure.type) || 'NODE_FAILED';
  if (!engine.settleFailure(task, { node, code, message: failure.message }, now())) throw failure;
}

function isChild(dispatch: Dispatch | ChildDispatch): dispatch is ChildDispatch {
  return dispatch.definition.kind === 'graph';
}

function takeFrom(engine: GraphEngine): readonly (Dispatch | ChildDispatch)[] {
  return [...engine.take(), ...engine.takeChildren(now())];
}
