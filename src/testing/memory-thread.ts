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

/** A thread that lives in this process: one engine, driven as tasks end and decisions come. */
export class MemoryThread implements GraphThread {
  private engine: GraphEngine | undefined;
  private failure: GraphRunError | AbeyanceError | undefined;
  private readonly waiting = new Set<(stop: Stop) => void>();
  private run = randomUUID();
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
        at: now(),
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
    const verdict = this.engine.decide(decision, now());
    if (verdict.kind === 'refused') throw new DecisionRefusedError(verdict.code, verdict.message, verdict.open);
    this.drive();
    return verdict;
  }

  private drive(): void {
    this.attempt(() => {
      for (const dispatch of this.engine?.take() ?? []) void this.runTask(dispatch);
    });
    const stop = this.stop();
    if (!stop) return;
    for (const resolve of this.waiting) resolve(stop);
    this.waiting.clear();
  }

  private async runTask(dispatch: Dispatch): Promise<void> {
    const { engine, dependencies, id: threadId } = this;
    const { id, node } = dispatch.task;
    const idempotencyKey = `${threadId}/${this.run.slice(0, 8)}/${id}`;
    try {
      const result = await runTaskInMemory({ threadId, idempotencyKey, dependencies, dispatch });
      if (this.engine === engine && !this.failure && engine?.isRunning(id))
        this.attempt(() => engine.settle(id, result, now()));
    } catch (thrown) {
      if (this.engine === engine) this.attempt(() => this.handle(thrown, id, node));
    }
    if (this.engine === engine) this.drive();
  }

  private handle(thrown: unknown, task: string, node: string): void {
    const failure = asRunError(thrown, node);
    const { code, message } = failure;
    if (!this.engine?.isRunning(task)) return;
    if (!this.engine.settleFailure(task, { node, code, message }, now())) this.fail(failure);
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

  private fail(thrown: unknown): void {
    this.failure ??= asRunError(thrown);
  }
}

function asRunError(thrown: unknown, node?: string): AbeyanceError {
  if (thrown instanceof AbeyanceError) return thrown;
  return new GraphRunError('RUN_FAILED', `The run failed: ${messageOf(thrown)}`, node);
}

function now(): string {
  return new Date().toISOString();
}
