import {
  Command,
  ThreadError,
  type ForkOptions,
  type GraphRunner,
  type GraphThread,
  type RunOptions,
  type StateSnapshot,
} from 'abeyance';
import type { TestGraph } from '../graph/support/build-graph';
import { latchesOf, notesOf } from './backstage';
import type { Scene } from './scene';

/** What a run gave back. */
export type Values = Record<string, any>;

/** One thread of a scene's graph on one driver: what a case is played on. */
export class Stage {
  readonly graph: TestGraph;
  readonly latches: ReturnType<typeof latchesOf>;

  constructor(
    readonly graphs: GraphRunner,
    private readonly scene: Scene,
    readonly threadId: string,
  ) {
    this.graph = scene.graph();
    this.latches = latchesOf(threadId);
  }

  /** Starts a run and waits for its first stop. */
  invoke(input: object = {}, options: RunOptions = {}): Promise<Values> {
    return this.graphs.invoke(this.graph, input, { threadId: this.threadId, ...options });
  }

  start(input: object = {}, options: RunOptions = {}): Promise<GraphThread> {
    return this.graphs.start(this.graph, input, { threadId: this.threadId, ...options });
  }

  /** Answers by a command, as a LangGraph program does. */
  command(resume: unknown, update?: Values): Promise<Values> {
    const command = new Command({ resume, ...(update && { update }) });
    return this.graphs.invoke(this.graph, command, { threadId: this.threadId });
  }

  /** Carries on: past a breakpoint, or with a failed run. */
  carryOn(options: RunOptions = {}): Promise<Values> {
    return this.graphs.invoke(this.graph, null, { threadId: this.threadId, ...options });
  }

  /** Writes to the state from outside. */
  update(values: Values, asNode?: string): Promise<StateSnapshot<any>> {
    return this.thread().updateState(values, { ...(asNode !== undefined && { asNode }) });
  }

  /** The thread's checkpoints, newest first. */
  async history(): Promise<StateSnapshot<any>[]> {
    const all: StateSnapshot<any>[] = [];
    for await (const state of this.thread().getStateHistory()) all.push(state);
    return all;
  }

  /** Forks the thread; the stage of the new one. */
  async fork(options: ForkOptions = {}): Promise<Stage> {
    const { id } = await this.graphs.fork(this.graph, this.threadId, { threadId: `${this.threadId}-fork`, ...options });
    return new Stage(this.graphs, this.scene, id);
  }

  thread(): GraphThread {
    return this.graphs.thread(this.graph, this.threadId);
  }

  /** Answers and waits for the next stop. */
  async resume(value: unknown, options: object = {}): Promise<Values> {
    await this.thread().resume(value, options);
    return this.stop();
  }

  async approve(options: object = {}): Promise<Values> {
    await this.thread().approve(options);
    return this.stop();
  }

  async deny(options: object = {}): Promise<Values> {
    await this.thread().deny(options);
    return this.stop();
  }

  async edit(args: unknown, options: object = {}): Promise<Values> {
    await this.thread().edit(args, options);
    return this.stop();
  }

  async respond(response: unknown, options: object = {}): Promise<Values> {
    await this.thread().respond(response, options);
    return this.stop();
  }

  stop(): Promise<Values> {
    return this.thread().untilStopped();
  }

  async state(): Promise<StateSnapshot<any>> {
    // While the worker is busy the memo stands in for the run; the cases are about the run.
    for (let tries = 0; tries < 20; tries++) {
      const state = await this.thread().getState();
      if (state.metadata.source !== 'memo') return state;
    }
    return this.thread().getState();
  }

  /** The ids of the open questions. */
  async open(): Promise<string[]> {
    return (await this.state()).interrupts.map(({ id }) => id);
  }

  /** What became of each decision: type and verdict, with the code where it was refused. */
  async verdicts(): Promise<string[]> {
    const decisions = await patiently(() => this.thread().decisions());
    return decisions.map(({ decision, verdict }) =>
      [decision.type, verdict.kind, ...(verdict.kind === 'refused' ? [verdict.code] : [])].join(' '),
    );
  }

  /** What the bodies wrote down, in order. */
  notes(): readonly string[] {
    return notesOf(this.threadId);
  }
}

// With many cases at once, a query can wait longer for the worker than a caller would.
async function patiently<T>(ask: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (tries <= 1 || !(error instanceof ThreadError) || error.code !== 'THREAD_UNREACHABLE') throw error;
    return patiently(ask, tries - 1);
  }
}

/** What a call was refused with; throws where it was not refused. */
export async function refusal(call: () => unknown): Promise<any> {
  let result: unknown;
  try {
    result = await call();
  } catch (error) {
    return error;
  }
  throw new Error(`nothing was refused: ${JSON.stringify(result)}`);
}
