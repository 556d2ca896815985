import { randomUUID } from 'node:crypto';
import type { CheckedDependencies } from '../activities/check-dependencies';
import type { AnyGraph } from '../graph/compiled-graph';
import { encodeAnswer, readDecision, type DecisionRecord, type DecisionRequest } from '../graph/decision';
import { GraphEngine, type Dispatch } from '../graph/engine';
import type { StartOptions } from '../graph/engine-snapshot';
import { AbeyanceError, DecisionRefusedError, GraphRunError, ThreadError, messageOf } from '../graph/errors';
import type { Accepted, DecideOptions, GraphThread, RunResult, StateSnapshot } from '../graph/graph-runner';
import { decodeValues, EMPTY_VIEW, resultOf, tasksShown, viewOf, type RunView, type Stop } from '../graph/run-view';
import { runTaskInMemory } from './run-task-in-memory';

// Node's timers fire at once beyond it.
const LONGEST_TIMER = 2 ** 31 - 1;

/** A thread that lives in this process: one engine, driven as tasks end and decisions come. */
export class MemoryThread implements GraphThread {
  private engine: GraphEngine | undefined;
  private failure: GraphRunError | AbeyanceError | undefined;
  private readonly waiting = new Set<(stop: Stop) => void>();
  private run = randomUUID();
  /** When the question expires that does so next, and the timer for it. */
  private due: string | undefined;
  private timer: NodeJS.Timeout | undefined;
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
    this.run = randomUUID();
    this.failure = undefined;
    this.engine = undefined;
    this.attempt(() => {
      this.engine = GraphEngine.start(this.graph, input, {
        values: this.before?.values,
        step: this.before?.step,
        ...options,
      });
    });
    this.drive();
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
        ...(code && message && { error: { code, message } }),
      },
    };
  }

  async decisions(): Promise<readonly DecisionRecord[]> {
    return this.engine?.decisions ?? [];
  }

  async untilStopped(): Promise<RunResult<any>> {
    const stop = this.stop() ?? (await new Promise<Stop>((resolve) => this.waiting.add(resolve)));
    if (stop.kind === 'failed' && this.failure) throw this.failure;
    return resultOf(this.graph, stop) as RunResult<any>;
  }

  private decide(request: DecisionRequest): Accepted {
    const decision = readDecision(request, 'memory');
    if (!this.engine || !this.isOpen) {
      const message = `The run of thread "${this.id}" has ended; there is nothing to decide. Read it with getState, or start a new run with invoke.`;
      throw new ThreadError('THREAD_FINISHED', message, this.id);
    }
    // A timer may be late.
    this.engine.expire(now());
    const verdict = this.engine.decide(decision, now());
    this.drive();
    if (verdict.kind === 'refused') throw new DecisionRefusedError(verdict.code, verdict.message, verdict.open);
    return verdict;
  }

  private drive(): void {
    this.attempt(() => {
      for (const dispatch of this.engine?.take() ?? []) void this.runTask(dispatch);
    });
    this.watchExpiry();
    const stop = this.stop();
    if (!stop) return;
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

  private async runTask(dispatch: Dispatch): Promise<void> {
    const { engine, graph, dependencies, id: threadId } = this;
    const { id, node } = dispatch.task;
    const idempotencyKey = `${threadId}/${this.run.slice(0, 8)}/${id}`;
    try {
      const result = await runTaskInMemory({ graph, threadId, idempotencyKey, dependencies, dispatch });
      if (this.engine === engine && !this.failure) this.attempt(() => engine?.settle(id, result, now()));
    } catch (thrown) {
      if (this.engine === engine) this.fail(thrown, node);
    }
    if (this.engine === engine) this.drive();
  }

  private stop(): Stop | undefined {
    if (this.failure) return { kind: 'failed', code: this.failure.code, message: this.failure.message };
    if (!this.engine || this.engine.status === 'running') return undefined;
    return { kind: this.engine.status === 'done' ? 'done' : 'paused', view: viewOf(this.engine) };
  }

  private attempt(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  private fail(thrown: unknown, node?: string): void {
    this.failure ??=
      thrown instanceof AbeyanceError
        ? thrown
        : new GraphRunError('RUN_FAILED', `The run failed: ${messageOf(thrown)}`, node);
  }
}

function now(): string {
  return new Date().toISOString();
}
