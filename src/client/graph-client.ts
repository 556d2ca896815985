import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { checkRunOptions } from '../graph/check-graph';
import { isCommand, type Command } from '../graph/commands';
import type { AnyGraph, CompiledGraph } from '../graph/compiled-graph';
import { answerIn } from '../graph/decision';
import { ThreadError } from '../graph/errors';
import type { ForkOptions, GraphRunner, GraphThread, RunOptions, RunResult } from '../graph/graph-runner';
import { resultOf } from '../graph/run-view';
import type { NodeMap, NodePath } from '../graph/state-graph';
import type { Fields, ShownFields, UpdateOf } from '../graph/state-schema';
import type { DefaultMode, StreamEvent, StreamMode, StreamOptions } from '../graph/stream-event';
import { encodeUpdate } from '../graph/write-state';
import { untilStoppedUpdate } from '../workflows/messages';
import { ServerThread } from './server-thread';
import { RunStarter } from './start-run';
import { takeUpElsewhere } from './take-up';
import { streamUntilStopped, type StreamFrom } from './thread-stream';
import { endedMeanwhile, fromUpdateError, isTakenBack } from './temporal-errors';

/** How a graph client is set up. */
export interface GraphClientOptions {
  /** The task queue whose workers serve the graphs. */
  readonly taskQueue: string;
}

/**
 * Starts, answers and reads runs of graphs through an ordinary Temporal client.
 *
 * It holds no state: any process that knows a thread's id can decide and read, whoever started it.
 *
 * @example
 * const graphs = new GraphClient(new Client({ connection }), { taskQueue: 'orders' });
 * const paused = await graphs.invoke(order, { order_total: 500 }, { threadId: 'order-42' });
 * if (isInterrupted(paused)) await graphs.thread(order, 'order-42').approve({ by: 'ana@example.com' });
 */
export class GraphClient implements GraphRunner {
  private readonly taskQueue: string;
  private readonly starter: RunStarter;

  constructor(
    private readonly client: Client,
    { taskQueue }: GraphClientOptions,
  ) {
    this.taskQueue = taskQueue;
    this.starter = new RunStarter(client, taskQueue);
  }

  async start<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<ShownFields<F>>,
    { threadId = randomUUID(), ...own }: RunOptions<NodePath<N>['at']> = {},
  ): Promise<GraphThread<F, keyof N & string>> {
    await this.starter.start({ graph, threadId, input, options: own }, (options) =>
      this.client.workflow.start(graph.name, options),
    );
    return this.thread(graph, threadId);
  }

  /**
   * Starts a run, or with a `Command` answers one, and returns where it next stops.
   *
   * A pause is returned, not thrown: `isInterrupted(result)` tells. The wait for the stop has no limit; a caller that
   * goes away loses nothing, the run goes on and `thread(graph, id).untilStopped()` takes the wait up again.
   *
   * @throws {StateError} when the input does not fit the state.
   * @throws {ThreadError} `THREAD_BUSY` for input to a thread that runs or waits, `THREAD_OF_OTHER_GRAPH`; for a
   *   command also `THREAD_UNKNOWN` and `THREAD_FINISHED`.
   * @throws {DecisionRefusedError} when the answer was refused. @throws {GraphRunError} when the run fails.
   */
  async invoke<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<ShownFields<F>> | Command<UpdateOf<F>> | null,
    { threadId, ...own }: RunOptions<NodePath<N>['at']> = {},
  ): Promise<RunResult<F>> {
    if (input === null) {
      checkRunOptions(graph.shape, own);
      const thread = this.named(graph, threadId);
      await thread.carryOn(own.recursionLimit);
      return thread.untilStopped() as Promise<RunResult<F>>;
    }
    if (isCommand(input)) return this.answer(graph, input, threadId) as Promise<RunResult<F>>;
    const request = { graph, threadId: threadId ?? randomUUID(), input, options: own };
    try {
      const stop = await this.starter.start(request, (options) =>
        this.client.workflow.executeUpdateWithStart(untilStoppedUpdate, {
          startWorkflowOperation: new WithStartWorkflowOperation(graph.name, options),
          args: [{ graph: graph.name }],
        }),
      );
      if (stop.kind === 'rolled') return await this.thread(graph, request.threadId).untilStopped();
      return resultOf(graph, stop) as RunResult<F>;
    } catch (error) {
      if (endedMeanwhile(error) || isTakenBack(error)) return this.thread(graph, request.threadId).untilStopped();
      throw fromUpdateError(error, request.threadId);
    }
  }

  /** Does what `invoke` does once it is iterated, and streams what the run does until it stops. Needs no open update. */
  async *stream<Name extends string, F extends Fields, N extends NodeMap, const M extends StreamMode = DefaultMode>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<F> | Command<UpdateOf<F>> | null,
    { modes, signal, ...options }: RunOptions<NodePath<N>['at']> & StreamOptions<M> = {},
  ): AsyncGenerator<StreamEvent<F, M>> {
    signal?.throwIfAborted();
    const { threadId, from } = await this.setGoing(graph, input, options);
    const source = { client: this.client, graph, threadId };
    yield* streamUntilStopped(source, from, { modes, signal }) as AsyncGenerator<StreamEvent<F, M>>;
  }

  /** Starts, answers or carries on; tells from where on the run is to be streamed. */
  private async setGoing(
    graph: AnyGraph,
    input: object | null,
    { threadId, ...options }: RunOptions,
  ): Promise<{ readonly threadId: string; readonly from: StreamFrom }> {
    if (input === null || isCommand(input)) {
      checkRunOptions(graph.shape, options);
      const thread = this.named(graph, threadId);
      const going = input
        ? thread.answerAndStream(answerIn(graph.schema, input))
        : thread.carryOnAndStream(graph, options.recursionLimit);
      return { threadId: thread.id, from: await going };
    }
    const request = { graph, threadId: threadId ?? randomUUID(), input, options };
    const { firstExecutionRunId: runId } = await this.starter.start(request, (launch) =>
      this.client.workflow.start(graph.name, launch),
    );
    return { threadId: request.threadId, from: { kind: 'run', runId } };
  }

  /**
   * Begins a new thread on a checkpoint of another. Its history is read for it, and worked through with the graph.
   *
   * @throws {ThreadError} `THREAD_UNKNOWN`, `THREAD_OF_OTHER_GRAPH`, `CHECKPOINT_UNKNOWN`; `THREAD_BUSY` where the new
   *   thread is there already. @throws {StateError} when the update does not fit.
   */
  async fork<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    threadId: string,
    { checkpoint, threadId: newId = randomUUID(), update, asNode }: ForkOptions<F, keyof N & string> = {},
  ): Promise<GraphThread<F, keyof N & string>> {
    const edit = { update: encodeUpdate(graph.schema, update ?? {}, 'update'), ...(asNode && { asNode }) };
    const facts = await this.named(graph, threadId).facts();
    const from = { facts, checkpoint, taskQueue: this.taskQueue };
    await takeUpElsewhere(this.client, graph, from, { threadId: newId, ...((update || asNode) && { edit }) });
    return this.thread(graph, newId);
  }

  /** A handle on a thread; typed by the graph, or untyped by its id alone. No call is made. */
  thread<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    id: string,
  ): GraphThread<F, keyof N & string>;
  thread(id: string): GraphThread;
  thread(graphOrId: AnyGraph | string, id?: string): GraphThread {
    if (typeof graphOrId === 'string') return new ServerThread(this.client, graphOrId);
    return new ServerThread(this.client, id as string, graphOrId);
  }

  private async answer(graph: AnyGraph, command: Command, threadId: string | undefined): Promise<RunResult<any>> {
    const thread = this.named(graph, threadId);
    const { answer, details } = answerIn(graph.schema, command);
    return thread.resumeUntilStopped(answer, details);
  }

  private named(graph: AnyGraph, threadId: string | undefined): ServerThread {
    if (threadId !== undefined) return new ServerThread(this.client, threadId, graph);
    throw new ThreadError('THREAD_UNKNOWN', 'This goes on with a thread, and none was named. Pass { threadId }.', '');
  }
}
