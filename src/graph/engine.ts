import { beginRun } from './begin-run';
import { withRemembered } from './cache';
import { standing, recordedAround, type ChildReport } from './child-report';
import {
  childDispatch,
  concluded,
  frameAround,
  isChildTask,
  passKept,
  passOn,
  type ChildDispatch,
  type SubgraphEnd,
} from './child-tasks';
import type { AnyGraph } from './compiled-graph';
import type { Decision, DecisionRecord, Verdict } from './decision';
import { dispatchesIn, type Dispatch } from './dispatch';
import { afterDropping } from './dropped-tasks';
import { editState, type StateEdit } from './edit-state';
import type { Watch } from './engine-news';
import type { EngineSnapshot, StartOptions } from './engine-snapshot';
import { handled, handlerOf } from './error-handler';
import { AbeyanceError, GraphRunError } from './errors';
import { frameOf, type Frame } from './frame';
import { toJson } from './json';
import { judge, openQuestions, ownQuestions } from './judge';
import { applyKept, decide, expireKept, expireOpen, noteSentBack, withRecord } from './ledger';
import { lostNode } from './lost-node';
import type { GraphNode, NodeFailure } from './node-definition';
import { keptOf, type CompletedOutcome, type Outcome } from './outcome';
import { PassedOn, type PassedDecision } from './passed-on';
import { paused, sentBack } from './pause-task';
import { planStart } from './plan';
import type { Question } from './question';
import { leafAt, leavesOf, scopeOf, someLeaf, withLeaves, withTask } from './scope';
import { shownOf, type Channels } from './state-schema';
import { definitionAt, graphAround, outcomeOfSubgraph } from './subgraph';
import { enter, progress, refuseConflictsOf, written } from './superstep';
import { isAtWork, nodePathOf, type Task } from './task';

/** Where a run stands. `waiting`: nothing can go on before somebody answers. */
export type EngineStatus = 'running' | 'waiting' | 'done';

/**
 * One run of a graph, as a machine without clock or network: give it outcomes and decisions, take tasks from it.
 *
 * Synchronous and deterministic; a snapshot taken at any moment restores to the same machine. A task that was
 * running in the snapshot is given out again.
 */
export class GraphEngine {
  private readonly passed = new PassedOn();

  private constructor(
    private readonly graph: AnyGraph,
    private state: EngineSnapshot,
    private readonly watch?: Watch,
  ) {}

  /**
   * Starts a run on an input, encoded as `encodeUpdate` encodes it.
   *
   * @throws {StateError} when the input does not fit the state. @throws {GraphRunError} when a router at START fails.
   */
  static start(graph: AnyGraph, input: unknown, options: StartOptions = {}, watch?: Watch): GraphEngine {
    const begun = beginRun(graph, input, options);
    const { step, channels } = begun;
    const engine = new GraphEngine(graph, begun, watch);
    watch?.({ kind: 'begun', step, values: channels }, options.at ?? '');
    engine.state = enter(engine.frame(options.at ?? ''), engine.state, planStart(graph, channels), channels);
    return engine;
  }

  /**
   * Carries on from a snapshot.
   *
   * @throws {GraphRunError} `SNAPSHOT_MISMATCH` when it is another graph's, or a task's node is gone.
   */
  static restore(graph: AnyGraph, snapshot: EngineSnapshot, watch?: Watch): GraphEngine {
    const lost = lostNode(graph, snapshot);
    if (snapshot.version !== 1 || snapshot.graph !== graph.name || lost !== undefined) {
      const message = `The snapshot is of graph "${snapshot.graph}"${lost === undefined ? '' : ` with node "${lost}"`}; it does not fit "${graph.name}".`;
      throw new GraphRunError('SNAPSHOT_MISMATCH', message);
    }
    const again = (task: Task): Task => {
      if (task.child) return startedAnew(task);
      return task.phase === 'running' ? { ...task, phase: 'ready', visit: task.visit - 1 } : task;
    };
    return new GraphEngine(graph, withLeaves(snapshot, again), watch);
  }

  /** Takes up a failed run: what has finished and could not be followed up is followed up with the first `take`. */
  static retry(graph: AnyGraph, snapshot: EngineSnapshot, at: string, watch?: Watch): GraphEngine {
    const engine = GraphEngine.restore(graph, snapshot, watch);
    watch?.({ kind: 'begun', step: snapshot.step, values: engine.values() }, at);
    engine.state = { ...engine.state, due: at };
    return engine;
  }

  /** The run as it is now, not a copy: nobody may change it. */
  peek(): EngineSnapshot {
    return this.state;
  }

  /** Names where the run stands: a new name for each superstep, each edit and the end. */
  get checkpoint(): string {
    const { step, edits } = this.state;
    return `${step}${edits ? `.e${edits}` : ''}${this.status === 'done' ? '.end' : ''}`;
  }

  /** The run as plain JSON. */
  snapshot(): EngineSnapshot {
    return toJson(this.state) as unknown as EngineSnapshot;
  }

  get status(): EngineStatus {
    if (this.state.tasks.length === 0) return 'done';
    if (!this.passed.isEmpty) return 'running';
    return someLeaf(this.state, ({ phase }) => phase === 'ready' || phase === 'running') ? 'running' : 'waiting';
  }

  get step(): number {
    return this.state.step;
  }

  /** The tasks of the current superstep; subgraphs run in theirs. */
  get tasks(): readonly Task[] {
    return this.state.tasks;
  }

  /** Every decision and what became of it, oldest first. */
  get decisions(): readonly DecisionRecord[] {
    return this.state.ledger;
  }

  /** The questions that wait for an answer. */
  questions(): readonly Question[] {
    return openQuestions(this.state);
  }

  /** The nodes that have not finished; one name for each Send or tool call. */
  next(): readonly string[] {
    return this.state.tasks.filter(({ phase }) => phase !== 'done').map(({ node }) => node);
  }

  /** What callers see of the state, with the writes of tasks that have finished in this superstep where they fit without the others'. */
  values(): Channels {
    try {
      return shownOf(this.graph.schema, written(this.graph, this.state));
    } catch (error) {
      if (error instanceof AbeyanceError) return shownOf(this.graph.schema, this.state.channels);
      throw error;
    }
  }

  /** Moves on as far as the decisions so far let it; `take` does it too. @throws as `settle`. */
  moveOn(): void {
    const { due, ...state } = this.state;
    if (due !== undefined) this.state = progress(this.frame(due), state);
  }

  /** Takes the tasks that can run now; each is given out once. @throws as `settle`, where the run has to move on first. */
  take(): readonly Dispatch[] {
    this.moveOn();
    if (!someLeaf(this.state, ({ phase }) => phase === 'ready')) return [];
    const ready = new Set(
      leavesOf(this.state).flatMap((task) =>
        task.phase === 'ready' && !isChildTask(this.graph, this.state, task) ? [task.id] : [],
      ),
    );
    if (ready.size === 0) return [];
    this.state = withLeaves(this.state, (task) =>
      ready.has(task.id) ? { ...task, phase: 'running', visit: task.visit + 1 } : task,
    );
    return dispatchesIn(this.graph, this.state, ready);
  }

  /** Takes the subgraphs that are to run elsewhere now; each is given out once. @throws where what they start on does not fit. */
  takeChildren(at: string): readonly ChildDispatch[] {
    if (!someLeaf(this.state, ({ phase }) => phase === 'ready')) return [];
    const ready = leavesOf(this.state).filter(
      (task) => task.phase === 'ready' && isChildTask(this.graph, this.state, task),
    );
    const dispatches = ready.map((task) =>
      childDispatch(this.frame(at), this.state, {
        ...task,
        phase: 'running',
        visit: task.visit + 1,
        child: { tasks: [] },
      }),
    );
    for (const { task } of dispatches) {
      this.replace(task);
      this.watch?.({ kind: 'entered', task }, at);
    }
    return dispatches;
  }

  /**
   * Tells how a task that was taken has ended, and moves on as far as that allows. `at` is ISO 8601.
   *
   * @throws {StateError} when writes do not fit. @throws {GraphRunError} when a reducer or router fails, or at the limit.
   */
  settle(taskId: string, outcome: Outcome, at: string): void {
    const task = this.running(taskId);
    switch (outcome.kind) {
      case 'completed':
        this.state = withRemembered(this.graph, this.state, { task, outcome, at });
        return this.finish(task, keptOf(outcome), at);
      case 'interrupted': {
        const waiting = paused(task, outcome, at);
        this.replace(waiting);
        this.watch?.({ kind: 'paused', task: waiting }, at);
        return this.judgeKept(at);
      }
      case 'rejected': {
        const waiting = sentBack(task, outcome);
        this.replace(waiting);
        this.watch?.({ kind: 'sent-back', task: waiting, reason: outcome.reason }, at);
        this.state = noteSentBack(this.state, outcome.question, outcome.reason);
        return this.judgeKept(at);
      }
      default:
        outcome satisfies never;
    }
  }

  /** Tells what the run of a subgraph that was taken has left, and moves on. @throws as `settle`, and where `output` fails. */
  settleSubgraph(taskId: string, end: SubgraphEnd, at: string): void {
    const task = this.running(taskId);
    const definition = definitionAt(this.graph, nodePathOf(taskId)) as GraphNode;
    this.finish(task, outcomeOfSubgraph(frameAround(this.frame(at), task), task, definition, end), at);
  }

  /** What this run leaves to the run whose subgraph it is, once it has ended. */
  get left(): SubgraphEnd {
    const { channels, written: writes, toParent } = this.state;
    return { channels, ...(writes && { written: writes }), ...(toParent && { toParent }) };
  }

  /**
   * Hears where the run of a subgraph stands: its questions are shown as this run's. Gives the decisions on which the
   * last verdict has come.
   */
  hear(report: ChildReport, at: string): readonly Concluded[] {
    const task = leavesOf(this.state).find(({ id }) => id === report.task);
    // It is of a run that another one has replaced, and what it knows by a token is no decision of this run.
    if (task && task.visit !== report.visit) return [];
    if (task && isAtWork(task)) this.replace(standing(task, report));
    for (const record of report.records) {
      this.state = withRecord(this.state, recordedAround(report.task, record));
    }
    const all = report.verdicts.flatMap(({ token, verdict }) => this.conclude(report.task, token, verdict, at));
    this.state = passKept(this.graph, this.state, this.passed, at);
    return all;
  }

  /** Refuses what was passed on to the run of a subgraph that ended before it judged. To be called before its end is settled. */
  unheard(taskId: string, at: string): readonly Concluded[] {
    const message = `Subgraph "${nodePathOf(taskId)}" ended before the decision reached it. Nothing changed.`;
    const verdict: Verdict = { kind: 'refused', code: 'THREAD_FINISHED', message, open: [] };
    return this.passed.awaiting(taskId).flatMap((token) => this.conclude(taskId, token, verdict, at));
  }

  /**
   * Passes a decision on to the subgraphs that ask what it decides, for their verdict counts; `hear` gives it under this
   * token. Undefined where this run is to `decide`.
   */
  passOn(decision: Decision, at: string): string | undefined {
    const { decisionId: id } = decision;
    if (id !== undefined && this.state.ledger.some((one) => one.decision.decisionId === id)) return undefined;
    const sent = this.passed.sentAs(decision);
    if (sent) return sent.isSame ? sent.token : undefined;
    const next = passOn(this.graph, this.state, this.passed, decision);
    if (!next) return undefined;
    this.state = { ...next.state, due: at };
    return next.token;
  }

  /** Takes the decisions to be sent to runs of subgraphs. */
  takePassed(): readonly PassedDecision[] {
    return this.passed.take();
  }

  /** The verdict that a decision would get now. */
  foresee(decision: Decision): Verdict {
    return judge({ ...this.state, graph: this.graph }, decision).verdict;
  }

  /**
   * Tells that a task has failed for good. Its node's `onError`, or that of a subgraph's node around it, stands in.
   *
   * @returns false where nobody handles it: the run has failed, and asks anew if it is retried.
   * @throws as `settle`, and what the handler throws.
   */
  settleFailure(taskId: string, failure: NodeFailure, at: string): boolean {
    const failed = this.running(taskId);
    this.watch?.({ kind: 'failed', task: failed, failure }, at);
    const handler = handlerOf(this.graph, this.state, taskId);
    if (!handler) {
      this.reset(failed);
      return false;
    }
    // If the handler fails, the run has failed, and asks anew if it is retried.
    this.reset(failed);
    this.finish(handler.task, keptOf(handled(handler, failure)), at);
    return true;
  }

  /** Judges a decision and, where it is accepted, lets its task run on with the next `take`. `at` is ISO 8601. */
  decide(decision: Decision, at: string): Verdict {
    const isReused = this.passed.sentAs(decision)?.isSame === false;
    const { state, verdict } = decide(this.graph, this.state, decision, at, isReused);
    this.state = verdict.kind === 'accepted' ? { ...state, due: at } : state;
    return verdict;
  }

  /**
   * Writes to the state from outside, as `asNode` if one is named; only while nothing runs.
   *
   * @throws {StateError} `STATE_UPDATE_CONFLICT` where that would drop a waiting task, and as for any write. @throws as
   *   `settle`, where a router or reducer fails on it. Then nothing has changed.
   */
  edit(edit: StateEdit, at: string): void {
    this.moveOn();
    const frame = this.frame(at);
    const before = this.state;
    const edited = editState(frame, before, edit);
    const next = progress(frame, edited);
    this.state = edited;
    this.watch?.({ kind: 'values', step: this.step, values: this.values() }, at);
    const why = `the state was updated as "${edit.asNode ?? ''}"`;
    this.state = afterDropping(this.graph, before, next, { why, at });
  }

  /** As `edit`, on a run that was taken up, before it goes on: so what made it fail can be mended. @throws as `edit`. */
  mend(edit: StateEdit, at: string): void {
    const before = this.state;
    const { due: _, ...standing } = before;
    this.state = standing;
    try {
      this.edit(edit, at);
    } catch (error) {
      this.state = before;
      throw error;
    }
  }

  /** When the next open question expires, ISO 8601; undefined where all wait for ever. */
  nextExpiry(): string | undefined {
    const due = ownQuestions(this.state).flatMap(({ expiresAt }) => expiresAt ?? []);
    return due.length === 0 ? undefined : due.reduce((one, other) => (one < other ? one : other));
  }

  /** Ends the wait for every question that has expired by then, and lets its task run on. `at` is ISO 8601. */
  expire(at: string): void {
    this.state = expireOpen(this.graph, this.state, at);
  }

  /** True while the task was taken and has not been settled: what a handler has ended settles no more. */
  isRunning(taskId: string): boolean {
    const task = leafAt(this.state, taskId);
    return task !== undefined && isAtWork(task);
  }

  private running(taskId: string): Task {
    const task = leafAt(this.state, taskId);
    if (!task || !isAtWork(task)) throw new RangeError(`task ${taskId} is not running`);
    return task;
  }

  // The task is done before the run moves on: where that fails, what it wrote is kept.
  private finish(task: Task, outcome: CompletedOutcome, at: string): void {
    const { inner, child: _, ...own } = task;
    const done: Task = { ...own, phase: 'done', open: [], once: {}, outcome };
    this.replace(done);
    this.watch?.({ kind: 'done', task: done }, at);
    // Two writers of one value will never agree, so nobody is to answer their siblings first.
    refuseConflictsOf(graphAround(this.graph, nodePathOf(task.id)), scopeOf(this.state, task.id), task.id);
    this.advance(at);
    this.state = expireKept(this.graph, this.state, [task], at);
    if (inner) {
      const why = `a node of "${nodePathOf(task.id)}" failed, and its onError went on without it`;
      this.state = afterDropping(this.graph, inner, this.state, { why, at });
    } else if (task.child) {
      const why = `the run of "${nodePathOf(task.id)}" ended`;
      this.state = afterDropping(this.graph, { ...this.state, tasks: [task] }, this.state, { why, at });
    }
    this.judgeKept(at);
  }

  // A failed task asks anew if the run is retried, perhaps on another state.
  private reset({ cacheKey: _, ...task }: Task): void {
    this.replace({ ...startedAnew(task), phase: 'ready', answers: [], answered: [] });
  }

  private advance(at: string): void {
    this.state = progress(this.frame(at), this.state);
  }

  // A decision that was kept for a breakpoint lets the run move on at once.
  private judgeKept(at: string): void {
    const judged = applyKept(this.graph, this.state, at);
    if (judged === this.state) return;
    this.state = judged;
    this.advance(at);
  }

  private conclude(task: string, token: string, told: Verdict, at: string): readonly Concluded[] {
    const judged = this.passed.judged(task, token, told);
    if (!judged) return [];
    const { state, verdict } = concluded(this.graph, this.state, judged, at);
    this.state = state;
    return [{ token, verdict }];
  }

  private replace(task: Task): void {
    this.state = withTask(this.state, task.id, () => task);
  }

  private frame(at: string): Frame {
    return frameOf(this.graph, this.state, at, this.watch);
  }
}

/** A decision that was passed on, with what became of it. */
export interface Concluded {
  readonly token: string;
  readonly verdict: Verdict;
}

// A subgraph that ran elsewhere has ended with the run around it: the next one is another.
function startedAnew({ child, ...task }: Task): Task {
  return child ? { ...task, phase: task.phase === 'done' ? 'done' : 'ready', open: [] } : task;
}
