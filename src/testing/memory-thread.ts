import { randomUUID } from 'node:crypto';
import type { CheckedDependencies } from '../activities/check-dependencies';
import { Checkpoints, forkOf, retryOf, stateAt, tryEdit } from '../graph/checkpoints';
import type { AnyGraph } from '../graph/compiled-graph';
import { encodeAnswer, readDecision, type DecisionRecord, type DecisionRequest } from '../graph/decision';
import type { StateEdit } from '../graph/edit-state';
import type { Dispatch } from '../graph/dispatch';
import { GraphEngine } from '../graph/engine';
import type { Watch } from '../graph/engine-news';
import type { EngineSnapshot, StartOptions } from '../graph/engine-snapshot';
import { AbeyanceError, DecisionRefusedError, GraphRunError, ThreadError, messageOf } from '../graph/errors';
import type {
  Accepted,
  DecideOptions,
  GraphThread,
  RunResult,
  StateSnapshot,
  UpdateStateOptions,
} from '../graph/graph-runner';
import { Narrator } from '../graph/narrator';
import { decodeValues, EMPTY_VIEW, resultOf, tasksShown, viewOf, type RunView, type Stop } from '../graph/run-view';
import type { DefaultMode, StreamEvent, StreamMode, StreamOptions, ThreadStreamOptions } from '../graph/stream-event';
import { StreamFilter } from '../graph/stream-filter';
import { positionOf } from '../graph/stream-offset';
import { encodeUpdate } from '../graph/write-state';
import { MemoryLog } from './memory-log';
import { runTaskInMemory } from './run-task-in-memory';

// Node's timers fire at once beyond it.
const LONGEST_TIMER = 2 ** 31 - 1;

/** A thread that lives in this process: one engine, driven as tasks end and decisions come. */
export class MemoryThread implements GraphThread {
  private engine: GraphEngine | undefined;
  private failure: GraphRunError | AbeyanceError | undefined;
  private readonly waiting = new Set<(stop: Stop) => void>();
  private readonly checkpoints = new Checkpoints();
  private readonly log = new MemoryLog();
  private readonly narrator = new Narrator((event) => this.log.add(this.run, event));
  private run = randomUUID();
  /** The run whose idempotency keys are kept: a run that is taken up again may have had its effects. */
  private keyedBy = this.run;
  /** When the question expires that does so next, and the timer for it. */
  private due: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private endIsTold = false;
  /** Where the runs before have left the thread. */
  private before: RunView | undefined;

  constructor(
    readonly id: string,
    readonly graph: AnyGraph,
    private readonly dependencies: CheckedDependencies,
  ) {}

  /** True while the newest run goes on or waits. */
  get isOpen(): boolean {
    return this.engine !== undefined && this.failure === undefined && this.engine.status !== 'done';
  }

  /** Starts a run, on what the one before has left. @throws {StateError} when the input does not fit. */
  begin(input: unknown, options: StartOptions): void {
    if (this.engine) this.before = viewOf(this.engine);
    const { values, step } = this.before ?? {};
    const start = { values, step, at: now(), ...options, inline: true } as const;
    this.open((watch) => GraphEngine.start(this.graph, input, start, watch));
  }

  /** Starts a run on a snapshot: of this thread's failed run, or of another thread's checkpoint. */
  takeUp(snapshot: EngineSnapshot, edit?: StateEdit, keepsKeys = false): void {
    this.open((watch) => {
      const engine = GraphEngine.retry(this.graph, snapshot, now(), watch);
      if (edit) engine.mend(edit, now());
      return engine;
    }, keepsKeys);
  }

  /** Lets the run go on past a breakpoint, or a failed one from where it failed; else nothing. */
  carryOn(recursionLimit: number | undefined): void {
    if (!this.engine) {
      const message = `The run of thread "${this.id}" failed before it began, so there is nothing to go on from. Start it with invoke and an input.`;
      throw new ThreadError('THREAD_FINISHED', message, this.id);
    }
    if (this.failure) return this.takeUp(retryOf(this.engine.peek(), recursionLimit), undefined, true);
    for (const { id, kind } of this.engine.questions())
      if (kind === 'breakpoint') this.decide({ type: 'resume', value: null, question: id });
  }

  /** A checkpoint as another thread begins on it. @throws {ThreadError} `CHECKPOINT_UNKNOWN`. */
  forkAt(checkpoint: string | undefined): EngineSnapshot {
    const found = this.checkpoints.find(checkpoint);
    if (found) return forkOf(this.graph, found, this.id, now());
    const message = `Thread "${this.id}" has no checkpoint "${checkpoint ?? ''}". Take one from getStateHistory.`;
    throw new ThreadError('CHECKPOINT_UNKNOWN', message, this.id);
  }

  async approve(options: DecideOptions = {}): Promise<Accepted> {
    return this.decide({ ...options, type: 'approve' });
  }

  async deny(options: DecideOptions = {}): Promise<Accepted> {
    return this.decide({ ...options, type: 'deny' });
  }

  async edit(args: unknown, options: DecideOptions = {}): Promise<Accepted> {
    return this.decide({ ...options, type: 'edit', args: encodeAnswer(args) as never });
  }

  async respond(response: unknown, options: DecideOptions = {}): Promise<Accepted> {
    return this.decide({ ...options, type: 'respond', response: encodeAnswer(response) as never });
  }

  async resume(value: unknown, options: DecideOptions = {}): Promise<Accepted> {
    return this.decide({ ...options, type: 'resume', value: encodeAnswer(value) as never });
  }

  async getState(): Promise<StateSnapshot<any>> {
    const view = this.engine ? viewOf(this.engine) : (this.before ?? EMPTY_VIEW);
    const { code, message } = this.failure ?? {};
    return {
      values: decodeValues(this.graph, view.values),
      next: view.next,
      tasks: tasksShown(view),
      interrupts: this.failure ? [] : view.questions,
      status: this.failure ? 'failed' : view.status,
      metadata: {
        threadId: this.id,
        graph: this.graph.name,
        step: view.step,
        source: view.status === 'done' ? 'result' : 'run',
        runId: this.run,
        ...(view.origin && { origin: view.origin }),
        ...(code && message && { error: { code, message } }),
      },
    };
  }

  async *getStateHistory(): AsyncGenerator<StateSnapshot<any>> {
    for (const checkpoint of this.checkpoints.newestFirst()) yield stateAt(this.graph, this.id, checkpoint);
  }

  async updateState(values: object, { asNode }: UpdateStateOptions = {}): Promise<StateSnapshot<any>> {
    const edit: StateEdit = { update: encodeUpdate(this.graph.schema, values, 'update'), ...(asNode && { asNode }) };
    this.editState(edit);
    return this.getState();
  }

  /** Edits the state and goes on. */
  private editState(edit: StateEdit): void {
    const { engine } = this;
    if (!engine) throw this.finished();
    if (this.isOpen && engine.status === 'running') {
      const message = `Thread "${this.id}" is running. Update its state while it waits, or when it has ended.`;
      throw new ThreadError('THREAD_BUSY', message, this.id);
    }
    const snapshot = this.isOpen ? engine.peek() : retryOf(engine.peek(), undefined);
    // What the edit throws is the caller's: the thread stays as it was, and nothing is told.
    tryEdit(this.graph, snapshot, edit, now());
    const edited = (watch: Watch): GraphEngine => {
      const next = GraphEngine.restore(this.graph, snapshot, watch);
      next.edit(edit, now());
      return next;
    };
    if (!this.isOpen) return this.open(edited, true);
    this.engine = edited(this.narrator.watching());
    this.drive();
  }

  async *stream<const M extends StreamMode = DefaultMode>({
    after,
    modes,
    signal,
  }: ThreadStreamOptions<M> = {}): AsyncGenerator<StreamEvent<any, M>> {
    const position = after === undefined ? undefined : positionOf(after);
    const first = this.log.firstOf(after === undefined ? this.run : (position?.run ?? ''));
    if (first === undefined) {
      const message = `"${after ?? ''}" is no offset of thread "${this.id}". Take one from an event of its stream.`;
      throw new ThreadError('OFFSET_UNKNOWN', message, this.id);
    }
    const filter = new StreamFilter(this.graph, modes, position, 'end');
    yield* this.log.read(first, filter, signal) as AsyncGenerator<StreamEvent<any, M>>;
  }

  /** Where the next event will stand. */
  get streamEnd(): number {
    return this.log.length;
  }

  /** Where the newest state stands. */
  get newestValues(): number {
    return this.log.newestValues;
  }

  /** Streams from an event on, to the next stop. @throws {GraphRunError} after the last event of a run that fails. */
  async *streamUntilStopped(from: number, { modes, signal }: StreamOptions<StreamMode>): AsyncGenerator<StreamEvent> {
    yield* this.log.read(from, new StreamFilter(this.graph, modes, undefined, 'stop'), signal);
    if (this.failure) throw this.failure;
  }

  async decisions(): Promise<readonly DecisionRecord[]> {
    return this.engine?.decisions ?? [];
  }

  async untilStopped(): Promise<RunResult<any>> {
    const stop = this.stop() ?? (await new Promise<Stop>((resolve) => this.waiting.add(resolve)));
    if (stop.kind === 'failed' && this.failure) throw this.failure;
    return resultOf(this.graph, stop) as RunResult<any>;
  }

  private open(begin: (watch: Watch) => GraphEngine, keepsKeys = false): void {
    this.run = randomUUID();
    if (!keepsKeys) this.keyedBy = this.run;
    this.failure = undefined;
    this.engine = undefined;
    this.endIsTold = false;
    this.attempt(() => {
      this.engine = begin(this.narrator.watching());
    });
    this.drive();
  }

  private decide(request: DecisionRequest): Accepted {
    const decision = readDecision(request, 'memory');
    if (!this.engine || !this.isOpen) throw this.finished();
    // A timer may be late.
    this.engine.expire(now());
    const verdict = this.engine.decide(decision, now());
    if (verdict.kind !== 'refused') this.narrator.decided(verdict);
    this.drive();
    if (verdict.kind === 'refused') throw new DecisionRefusedError(verdict.code, verdict.message, verdict.open);
    return verdict;
  }

  private finished(): ThreadError {
    const message = `The run of thread "${this.id}" has ended; there is nothing to decide. Read it with getState, or start a new run with invoke.`;
    return new ThreadError('THREAD_FINISHED', message, this.id);
  }

  private drive(): void {
    const { engine } = this;
    if (engine && !this.failure) {
      const at = now();
      this.attempt(() => {
        engine.moveOn();
        this.checkpoints.note(this.run, engine, at);
        this.narrator.look(engine, at);
        const ready = engine.take();
        this.narrator.started(ready, at);
        for (const dispatch of ready) void this.runTask(dispatch);
      });
      this.narrator.rest(engine, at);
    }
    this.watchExpiry();
    const stop = this.stop();
    if (!stop) return;
    this.tellEnd(stop);
    for (const resolve of this.waiting) resolve(stop);
    this.waiting.clear();
  }

  private watchExpiry(): void {
    const due = this.isOpen ? this.engine?.nextExpiry() : undefined;
    if (due === this.due) return;
    clearTimeout(this.timer);
    this.due = due;
    if (due === undefined) return;
    const ms = Math.min(Math.max(Date.parse(due) - Date.now(), 0), LONGEST_TIMER);
    this.timer = setTimeout(() => this.expire(), ms).unref();
  }

  private expire(): void {
    this.due = undefined;
    this.engine?.expire(now());
    this.drive();
  }

  private tellEnd(stop: Stop): void {
    if (stop.kind === 'paused' || this.endIsTold) return;
    this.endIsTold = true;
    if (stop.kind === 'done') return this.narrator.ended({ status: 'done' }, now());
    const { code, message, node } = stop;
    this.narrator.ended({ status: 'failed', error: { code, message, ...(node !== undefined && { node }) } }, now());
  }

  private async runTask(dispatch: Dispatch): Promise<void> {
    const { engine, dependencies, id: threadId } = this;
    const { id, node } = dispatch.task;
    const idempotencyKey = `${threadId}/${this.keyedBy.slice(0, 8)}/${id}`;
    const settling = (settle: (engine: GraphEngine) => void): void => {
      if (engine && this.engine === engine && !this.failure && engine.isRunning(id)) this.attempt(() => settle(engine));
    };
    const show = (tell: (narrator: Narrator) => void): void => settling(() => tell(this.narrator));
    try {
      const result = await runTaskInMemory({ threadId, idempotencyKey, dependencies, dispatch, show });
      settling((running) => running.settle(id, result, now()));
    } catch (thrown) {
      settling((running) => this.settleFailure(running, thrown, id, node));
    }
    if (this.engine === engine) this.drive();
  }

  private settleFailure(engine: GraphEngine, thrown: unknown, task: string, node: string): void {
    const failure = asRunError(thrown, node);
    const { code, message } = failure;
    if (!engine.settleFailure(task, { node, code, message }, now())) throw failure;
  }

  private stop(): Stop | undefined {
    if (this.failure) {
      const { code, message } = this.failure;
      const node = 'node' in this.failure ? this.failure.node : undefined;
      return { kind: 'failed', code, message, ...(node !== undefined && { node }) };
    }
    if (!this.engine || this.engine.status === 'running') return undefined;
    return { kind: this.engine.status === 'done' ? 'done' : 'paused', view: viewOf(this.engine) };
  }

  private attempt(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      this.failure ??= asRunError(thrown);
    }
  }
}

function asRunError(thrown: unknown, node?: string): AbeyanceError {
  if (thrown instanceof AbeyanceError) return thrown;
  return new GraphRunError('RUN_FAILED', `The run failed: ${messageOf(thrown)}`, node);
}

function now(): string {
  return new Date().toISOString();
}
