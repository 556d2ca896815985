import { checkRecursionLimit } from './check-graph';
import type { AnyGraph } from './compiled-graph';
import type { Decision, DecisionRecord, Verdict } from './decision';
import type { EngineSnapshot, StartOptions } from './engine-snapshot';
import { AbeyanceError, GraphRunError } from './errors';
import { openQuestions } from './judge';
import { laterBy } from './duration';
import { applyKept, decide, expireKept, expireOpen, noteSentBack } from './ledger';
import { toJson, type Json, type JsonObject } from './json';
import type { NodeDefinition } from './node-definition';
import type { CompletedOutcome, Outcome } from './outcome';
import { planNext, planStart, tasksOf, type Plan } from './plan';
import type { AskedQuestion, Question } from './question';
import type { Channels } from './state-schema';
import { writesOf, type Task } from './task';
import { applyWrites, initialChannels, readEncodedUpdate, refuseConflicts } from './write-state';

/** A task to run now, with what it sees. */
export interface Dispatch {
  readonly task: Task;
  readonly definition: NodeDefinition;
  /** Encoded: the keys the node reads, or the input of its Send. */
  readonly state: Json;
}

/** Where a run stands. `waiting`: nothing can go on before somebody answers. */
export type EngineStatus = 'running' | 'waiting' | 'done';

/**
 * One run of a graph, as a machine without clock or network: give it outcomes and decisions, take tasks from it.
 *
 * Synchronous and deterministic; a snapshot taken at any moment restores to the same machine. A task that was
 * running in the snapshot is given out again.
 */
export class GraphEngine {
  private constructor(
    private readonly graph: AnyGraph,
    private state: EngineSnapshot,
  ) {}

  /**
   * Starts a run on an input, encoded as `encodeUpdate` encodes it.
   *
   * @throws {StateError} when the input does not fit the state. @throws {GraphRunError} when a router at START fails.
   */
  static start(graph: AnyGraph, input: unknown, options: StartOptions = {}): GraphEngine {
    const step = (options.step ?? -1) + 1;
    const limit = options.recursionLimit ?? graph.recursionLimit;
    checkRecursionLimit(limit);
    const update = readEncodedUpdate(graph.schema, input ?? {}, 'input');
    const base = { ...initialChannels(graph.schema), ...options.values };
    const channels = applyWrites(graph.schema, base, [{ node: 'input', task: `${step}.input`, index: 0, update }]);
    const engine = new GraphEngine(graph, {
      version: 1,
      graph: graph.name,
      fingerprint: graph.fingerprint,
      limit,
      step,
      taken: 0,
      channels,
      tasks: [],
      pending: { joins: {}, deferred: [] },
      ledger: [],
    });
    engine.enter(planStart(graph, channels), channels);
    return engine;
  }

  /**
   * Carries on from a snapshot.
   *
   * @throws {GraphRunError} `SNAPSHOT_MISMATCH` when it is another graph's, or a task's node is gone.
   */
  static restore(graph: AnyGraph, snapshot: EngineSnapshot): GraphEngine {
    const lost = snapshot.tasks.find(({ node }) => !graph.shape.nodes.has(node));
    if (snapshot.version !== 1 || snapshot.graph !== graph.name || lost) {
      const message = `The snapshot is of graph "${snapshot.graph}"${lost ? ` with node "${lost.node}"` : ''}; it does not fit "${graph.name}".`;
      throw new GraphRunError('SNAPSHOT_MISMATCH', message);
    }
    const tasks = snapshot.tasks.map((task): Task =>
      task.phase === 'running' ? { ...task, phase: 'ready', visit: task.visit - 1 } : task,
    );
    return new GraphEngine(graph, { ...snapshot, tasks });
  }

  /** The run as plain JSON. */
  snapshot(): EngineSnapshot {
    return toJson(this.state) as unknown as EngineSnapshot;
  }

  get status(): EngineStatus {
    if (this.state.tasks.length === 0) return 'done';
    return this.state.tasks.some(({ phase }) => phase === 'ready' || phase === 'running') ? 'running' : 'waiting';
  }

  get step(): number {
    return this.state.step;
  }

  /** The tasks of the current superstep. */
  get tasks(): readonly Task[] {
    return this.state.tasks;
  }

  /** Every decision and what became of it, oldest first. */
  get decisions(): readonly DecisionRecord[] {
    return this.state.ledger;
  }

  /** The questions that wait for an answer. */
  questions(): readonly Question[] {
    return openQuestions(this.state.tasks);
  }

  /** The nodes that have not finished; one name for each Send or tool call. */
  next(): readonly string[] {
    return this.state.tasks.filter(({ phase }) => phase !== 'done').map(({ node }) => node);
  }

  /** The state, with the writes of tasks that have finished in this superstep where they fit without the others'. */
  values(): Channels {
    try {
      return this.written();
    } catch (error) {
      if (error instanceof AbeyanceError) return this.state.channels;
      throw error;
    }
  }

  /** Takes the tasks that can run now; each is given out once. */
  take(): readonly Dispatch[] {
    const ready = this.state.tasks.filter(({ phase }) => phase === 'ready');
    if (ready.length === 0) return [];
    this.update(
      this.state.tasks.map((task) =>
        task.phase === 'ready' ? { ...task, phase: 'running', visit: task.visit + 1 } : task,
      ),
    );
    return this.state.tasks.filter((task) => ready.some(({ id }) => id === task.id)).map((task) => this.dispatch(task));
  }

  /**
   * Tells how a task that was taken has ended, and moves on as far as that allows. `at` is ISO 8601.
   *
   * @throws {StateError} when writes do not fit. @throws {GraphRunError} when a reducer or router fails, or at the limit.
   */
  settle(taskId: string, outcome: Outcome, at: string): void {
    const task = this.state.tasks.find(({ id }) => id === taskId);
    if (task?.phase !== 'running') throw new RangeError(`task ${taskId} is not running`);
    switch (outcome.kind) {
      case 'completed':
        this.complete(task, outcome);
        this.state = expireKept(this.graph, this.state, task, at);
        return;
      case 'interrupted':
        this.replace({ ...task, phase: 'waiting', open: this.asOpen(task, outcome.questions, at), once: outcome.once });
        this.state = applyKept(this.graph, this.state, at);
        return;
      case 'rejected': {
        const answers = task.answers.filter(({ id }) => id !== outcome.question);
        const again = this.reopened(task, outcome.question, outcome.reason);
        this.replace({ ...task, phase: 'waiting', answers, open: [again], once: outcome.once });
        this.state = noteSentBack(this.state, outcome.question, outcome.reason);
        this.state = applyKept(this.graph, this.state, at);
        return;
      }
      default:
        outcome satisfies never;
    }
  }

  /** Judges a decision and, where it is accepted, lets its task run on. `at` is ISO 8601. */
  decide(decision: Decision, at: string): Verdict {
    const { state, verdict } = decide(this.graph, this.state, decision, at);
    this.state = state;
    return verdict;
  }

  /** When the next open question expires, ISO 8601; undefined where all wait for ever. */
  nextExpiry(): string | undefined {
    const due = this.questions().flatMap(({ expiresAt }) => expiresAt ?? []);
    return due.length === 0 ? undefined : due.reduce((one, other) => (one < other ? one : other));
  }

  /** Ends the wait for every question that has expired by then, and lets its task run on. `at` is ISO 8601. */
  expire(at: string): void {
    this.state = expireOpen(this.graph, this.state, at);
  }

  private dispatch(task: Task): Dispatch {
    const definition = this.graph.shape.nodes.get(task.node) as NodeDefinition;
    return { task, definition, state: task.input !== undefined ? task.input : this.seenBy(definition) };
  }

  private seenBy({ reads }: NodeDefinition): JsonObject {
    const { channels } = this.state;
    if (!reads) return channels;
    return Object.fromEntries(
      reads.filter((key) => Object.hasOwn(channels, key)).map((key) => [key, channels[key] as Json]),
    );
  }

  private complete(task: Task, { updates, goto }: CompletedOutcome): void {
    this.replace({ ...task, phase: 'done', open: [], once: {}, outcome: { kind: 'completed', updates, goto } });
    if (this.state.tasks.every(({ phase }) => phase === 'done')) this.advance();
    // Two writers of one value will never agree, so nobody is to answer their siblings first.
    else refuseConflicts(this.graph.schema, this.state.tasks.flatMap(writesOf));
  }

  private written(): Channels {
    const writes = this.state.tasks.flatMap(writesOf);
    return writes.length === 0 ? this.state.channels : applyWrites(this.graph.schema, this.state.channels, writes);
  }

  // Tool nodes without a call are done when they are planned, so one call may pass several supersteps.
  private advance(): void {
    const { channels, tasks, pending } = this.state;
    const plan = planNext(this.graph, channels, tasks, pending);
    this.enter(plan, this.written());
  }

  // The writes and the next tasks come in together: where the limit is met, the finished tasks still hold their writes.
  private enter(plan: Plan, channels: Channels): void {
    const { step, taken, limit } = this.state;
    const empty = plan.nodes.length === 0 && plan.sends.length === 0;
    if (!empty && taken >= limit) {
      const message = `"${this.graph.name}" took ${limit} supersteps and has more to do (${plan.nodes.join(', ')}). Give it an end, or raise recursionLimit.`;
      throw new GraphRunError('GRAPH_RECURSION_LIMIT', message, plan.nodes[0]);
    }
    const tasks = empty ? [] : tasksOf(this.graph, plan, step + 1, channels);
    this.state = {
      ...this.state,
      channels,
      tasks,
      pending: plan.pending,
      step: empty ? step : step + 1,
      taken: empty ? taken : taken + 1,
    };
    if (tasks.length > 0 && tasks.every(({ phase }) => phase === 'done')) this.advance();
  }

  private asOpen(task: Task, asked: readonly AskedQuestion[], at: string): readonly Question[] {
    return asked.map((question) => ({
      ...question,
      node: task.node,
      task: task.id,
      askedAt: at,
      ...(question.deadline !== undefined && { expiresAt: laterBy(at, question.deadline) }),
    }));
  }

  private reopened(task: Task, id: string, reason: string): Question {
    const question = task.answered.find((one) => one.id === id);
    if (!question) throw new RangeError(`task ${task.id} sent back an answer to ${id}, which was not asked`);
    return { ...question, rejected: reason };
  }

  private replace(task: Task): void {
    this.update(this.state.tasks.map((one) => (one.id === task.id ? task : one)));
  }

  private update(tasks: readonly Task[]): void {
    this.state = { ...this.state, tasks };
  }
}
