import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { isCommand, type Command } from '../graph/commands';
import type { AnyGraph, CompiledGraph } from '../graph/compiled-graph';
import { answerIn } from '../graph/decision';
import { ThreadError } from '../graph/errors';
import type { GraphRunner, GraphThread, RunOptions, RunResult } from '../graph/graph-runner';
import { resultOf } from '../graph/run-view';
import type { NodeMap } from '../graph/state-graph';
import type { Fields, UpdateOf } from '../graph/state-schema';
import { untilStoppedUpdate } from '../workflows/messages';
import { ServerThread } from './server-thread';
import { RunStarter } from './start-run';
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
  private readonly starter: RunStarter;

  constructor(
    private readonly client: Client,
    options: GraphClientOptions,
  ) {
    this.starter = new RunStarter(client, options.taskQueue);
  }

  async start<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<F>,
    { threadId = randomUUID(), ...own }: RunOptions = {},
  ): Promise<GraphThread<F>> {
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
    input: UpdateOf<F> | Command,
    { threadId, ...own }: RunOptions = {},
  ): Promise<RunResult<F>> {
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

  /** A handle on a thread; typed by the graph, or untyped by its id alone. No call is made. */
  thread<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    id: string,
  ): GraphThread<F>;
  thread(id: string): GraphThread;
  thread(graphOrId: AnyGraph | string, id?: string): GraphThread {
    if (typeof graphOrId === 'string') return new ServerThread(this.client, graphOrId);
    return new ServerThread(this.client, id as string, graphOrId);
  }

  private async answer(graph: AnyGraph, command: Command, threadId: string | undefined): Promise<RunResult<any>> {
    if (threadId === undefined) {
      throw new ThreadError('THREAD_UNKNOWN', 'A Command answers a thread, and none was named. Pass { threadId }.', '');
    }
    return new ServerThread(this.client, threadId, graph).resumeUntilStopped(answerIn(command));
  }
}
