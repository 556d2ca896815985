import {
  ApplicationFailure,
  CancelledFailure,
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  executeChild,
  getExternalWorkflowHandle,
  workflowInfo,
  type ChildWorkflowOptions,
  type TemporalFailure,
} from '@temporalio/workflow';
import { TypedSearchAttributes } from '@temporalio/common';
import { isWorkflowId } from '../graph/check-thread-id';
import type { ChildReport } from '../graph/child-report';
import type { ChildDispatch, SubgraphEnd } from '../graph/child-tasks';
import type { Decision, DecisionRequest, Verdict } from '../graph/decision';
import type { Concluded, GraphEngine } from '../graph/engine';
import { GraphRunError, messageOf } from '../graph/errors';
import type { PassedDecision } from '../graph/passed-on';
import { refuseTooLarge } from '../graph/size-limit';
import { endOfResult } from '../graph/subgraph-result';
import { nodePathOf } from '../graph/task';
import type { Carry } from './carry';
import { passedOnSignal } from './messages';
import { statusAttribute } from './pending-in-the-open';

interface Running {
  readonly task: string;
  readonly workflowId: string;
  readonly scope: CancellationScope;
  /** The server may deliver two signals at once in any order, so one waits for the other. */
  sent: Promise<void>;
}

/** The child workflows of a run: the subgraphs that run elsewhere. */
export class ChildRuns {
  private readonly running = new Map<string, Running>();
  private readonly senders = new Map<string, readonly ((verdict: Verdict) => void)[]>();

  constructor(private readonly externalStorage = false) {}

  get areOut(): boolean {
    return this.running.size > 0;
  }

  /** True where none is out and nobody waits for a verdict. */
  get isIdle(): boolean {
    return !this.areOut && this.senders.size === 0;
  }

  /**
   * Starts a subgraph as a child workflow; resolves with what it leaves, or rejects with how it failed.
   *
   * @throws {StateError} `STATE_TOO_LARGE`. @throws {GraphRunError} `RUN_FAILED` where its id would be too long.
   */
  start(dispatch: ChildDispatch): Promise<SubgraphEnd> {
    const { task, graph } = dispatch;
    const args = [{}, carryFor(dispatch)];
    if (!this.externalStorage) refuseTooLarge('The input', args, nodePathOf(task.id));
    const workflowId = `${workflowInfo().workflowId}/${task.id}${task.visit > 1 ? `#${task.visit}` : ''}`;
    // Temporal would fail this workflow task, and every one after it.
    if (!isWorkflowId(workflowId)) throw idTooLong(nodePathOf(task.id));
    const scope = new CancellationScope();
    this.running.set(task.id, { task: task.id, workflowId, scope, sent: Promise.resolve() });
    const ended = (): void => void this.running.delete(task.id);
    const result = scope.run(() => executeChild(graph.name, { ...optionsFor(graph.name), workflowId, args }));
    return result.then(
      (left) => (ended(), endOfResult(left as Record<string, unknown>)),
      (thrown: unknown) => {
        ended();
        throw thrown;
      },
    );
  }

  /** Lets the subgraph that asks judge a decision; undefined where it is this run's own to judge. */
  passOn(engine: GraphEngine, decision: Decision, at: string): Promise<Verdict> | undefined {
    const token = engine.passOn(decision, at);
    if (token === undefined) return undefined;
    // Sent twice before its verdict came, it is one decision all the same.
    return new Promise((tell) => this.senders.set(token, [...(this.senders.get(token) ?? []), tell]));
  }

  /** Sends what is to be passed on, and cancels those that nobody waits for any more. */
  attend(engine: GraphEngine): void {
    for (const passed of engine.takePassed()) this.send(passed);
    for (const { task, scope } of this.running.values()) if (!engine.isRunning(task)) scope.cancel();
  }

  /** Hears what a child workflow tells. */
  hear(engine: GraphEngine, report: ChildReport, at: string): void {
    this.tell(engine.hear(report, at));
  }

  /** A child workflow has ended: what it did not judge is refused. To be called before its end is settled. */
  ended(engine: GraphEngine, task: string, at: string): void {
    this.tell(engine.unheard(task, at));
  }

  /** Cancels all, waits for their ends, and answers whoever still waits for a verdict. */
  async stop(verdict: Verdict): Promise<void> {
    for (const { scope } of this.running.values()) scope.cancel();
    await CancellationScope.nonCancellable(() => condition(() => !this.areOut));
    this.tell([...this.senders.keys()].map((token) => ({ token, verdict })));
  }

  private tell(all: readonly Concluded[]): void {
    for (const { token, verdict } of all) {
      for (const told of this.senders.get(token) ?? []) told(verdict);
      this.senders.delete(token);
    }
  }

  private send({ task, token, decision }: PassedDecision): void {
    const child = this.running.get(task);
    if (!child) return;
    const { via, ...request } = decision;
    const payload = { token, via, request: request as DecisionRequest };
    // One that has ended by now takes no signal; its end tells what becomes of the decision.
    child.sent = child.sent
      .then(() => getExternalWorkflowHandle(child.workflowId).signal(passedOnSignal, payload))
      .catch(() => undefined);
  }
}

function idTooLong(path: string): GraphRunError {
  const message = `Subgraph "${path}" cannot run as a child workflow: its id would be longer than 1,000 bytes. It is made of the thread's id; use a shorter one.`;
  return new GraphRunError('RUN_FAILED', message, path);
}

function carryFor({ state, parent, breakpoints: { before, after } }: ChildDispatch): Carry {
  return {
    values: state,
    parent,
    ...(before.length > 0 && { interruptBefore: before }),
    ...(after.length > 0 && { interruptAfter: after }),
  };
}

// The parent's end terminates what is left of them, and its cancellation is theirs: both are Temporal's defaults.
function optionsFor(graph: string): Pick<ChildWorkflowOptions, 'staticSummary' | 'typedSearchAttributes'> {
  const marked = workflowInfo().typedSearchAttributes.get(statusAttribute) !== undefined;
  return {
    staticSummary: `graph ${graph}`,
    ...(marked && { typedSearchAttributes: new TypedSearchAttributes([{ key: statusAttribute, value: 'running' }]) }),
  };
}

/** The failure of a subgraph's node whose child workflow failed: keeps its code, and names the path to what failed. */
export function toChildFailure(path: string, thrown: unknown): TemporalFailure {
  const cause = thrown instanceof ChildWorkflowFailure ? (thrown.cause ?? thrown) : thrown;
  const failed = (type: string, why: string, details: readonly unknown[]): TemporalFailure =>
    ApplicationFailure.create({
      type,
      message: why,
      nonRetryable: true,
      details: [...details],
      cause: cause instanceof Error ? cause : undefined,
    });
  if (cause instanceof CancelledFailure) {
    return failed('RUN_CANCELLED', `Subgraph "${path}" was cancelled.`, [{ node: path }]);
  }
  if (!(cause instanceof ApplicationFailure)) {
    return failed('NODE_FAILED', `Subgraph "${path}" failed: ${messageOf(cause)}`, [{ node: path }]);
  }
  const { node, path: within = node } = (cause.details?.[0] ?? {}) as { node?: string; path?: string };
  const at = within === undefined ? path : `${path}/${within}`;
  const message = `Subgraph "${path}" failed at "${at}": ${cause.message}`;
  return failed(cause.type ?? 'RUN_FAILED', message, [{ node: node ?? path, path: at }]);
}
