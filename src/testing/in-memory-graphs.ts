import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { checkDependencies, type CheckedDependencies, type GraphDependencies } from '../activities/check-dependencies';
import { checkRunOptions } from '../graph/check-graph';
import { checkThreadId } from '../graph/check-thread-id';
import { tryEdit } from '../graph/checkpoints';
import { isCommand, type Command } from '../graph/commands';
import type { AnyGraph, CompiledGraph } from '../graph/compiled-graph';
import { answerIn } from '../graph/decision';
import { GraphDefinitionError, ThreadError } from '../graph/errors';
import type { ForkOptions, GraphRunner, GraphThread, RunOptions, RunResult } from '../graph/graph-runner';
import { activityNodesOf } from '../graph/implement';
import { provideNodeRunStorage, type NodeRun } from '../graph/node-run';
import type { NodeMap, NodePath } from '../graph/state-graph';
import type { Fields, ShownFields, UpdateOf } from '../graph/state-schema';
import type { DefaultMode, StreamEvent, StreamMode, StreamOptions } from '../graph/stream-event';
import { encodeInput, encodeUpdate } from '../graph/write-state';
import { MemoryThread } from './memory-thread';

/**
 * Runs graphs in this process: the same engine, node bodies, models and tools, without a server.
 *
 * The words are those of `GraphClient`. Threads live as long as this object; nothing survives the process, retries do
 * not wait, and time does not skip. For unit tests, and for looking at a graph.
 *
 * @throws {GraphDefinitionError} `MISSING_IMPLEMENTATION`, `DUPLICATE_REGISTRATION`.
 * @example
 * const graphs = new InMemoryGraphs({ nodes: [orderNodes] });
 * const paused = await graphs.invoke(order, { order_total: 500 }, { threadId: 'order-42' });
 * await graphs.thread(order, 'order-42').approve({ by: 'ana@example.com' });
 */
export class InMemoryGraphs implements GraphRunner {
  private readonly dependencies: CheckedDependencies;
  private readonly threads = new Map<string, MemoryThread>();

  constructor(dependencies: GraphDependencies) {
    provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());
    this.dependencies = checkDependencies(dependencies);
  }

  async start<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<ShownFields<F>>,
    { threadId = randomUUID(), ...options }: RunOptions<NodePath<N>['at']> = {},
  ): Promise<GraphThread<F, keyof N & string>> {
    checkRunOptions(graph.shape, options);
    checkThreadId(threadId);
    const encoded = encodeInput(graph.schema, input);
    const thread = this.threadFor(graph, threadId);
    thread.begin(encoded, options);
    return thread;
  }

  async invoke<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<ShownFields<F>> | Command<UpdateOf<F>> | null,
    options: RunOptions<NodePath<N>['at']> = {},
  ): Promise<RunResult<F>> {
    if (input === null) {
      checkRunOptions(graph.shape, options);
      const thread = this.known(graph, options.threadId);
      thread.carryOn(options.recursionLimit);
      return thread.untilStopped() as Promise<RunResult<F>>;
    }
    if (!isCommand(input)) return (await this.start(graph, input, options)).untilStopped();
    const thread = this.known(graph, options.threadId);
    const { answer, details } = answerIn(graph.schema, input);
    await thread.resume(answer, details);
    return thread.untilStopped() as Promise<RunResult<F>>;
  }

  async *stream<Name extends string, F extends Fields, N extends NodeMap, const M extends StreamMode = DefaultMode>(
    graph: CompiledGraph<Name, F, N>,
    input: UpdateOf<F> | Command<UpdateOf<F>> | null,
    { modes, signal, ...options }: RunOptions<NodePath<N>['at']> & StreamOptions<M> = {},
  ): AsyncGenerator<StreamEvent<F, M>> {
    signal?.throwIfAborted();
    const { thread, from } = await this.setGoing(graph, input, options);
    yield* thread.streamUntilStopped(from, { modes, signal }) as AsyncGenerator<StreamEvent<F, M>>;
  }

  /** Starts or answers a run; tells from which event on it is news. */
  private async setGoing(
    graph: AnyGraph,
    input: object | null,
    options: RunOptions,
  ): Promise<{ readonly thread: MemoryThread; readonly from: number }> {
    if (input !== null && !isCommand(input)) {
      const known = options.threadId === undefined ? undefined : this.threads.get(options.threadId);
      const from = known?.streamEnd ?? 0;
      const { id } = await this.start(graph, input, options);
      return { thread: this.known(graph, id), from };
    }
    const thread = this.known(graph, options.threadId);
    const before = thread.streamEnd;
    checkRunOptions(graph.shape, options);
    if (input === null) thread.carryOn(options.recursionLimit);
    else {
      const { answer, details } = answerIn(graph.schema, input);
      await thread.resume(answer, details);
    }
    return { thread, from: thread.streamEnd > before ? before : thread.newestValues };
  }

  async fork<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    threadId: string,
    { checkpoint, threadId: newId = randomUUID(), update, asNode }: ForkOptions<F, keyof N & string> = {},
  ): Promise<GraphThread<F, keyof N & string>> {
    const encoded = encodeUpdate(graph.schema, update ?? {}, 'update');
    const snapshot = this.known(graph, threadId).forkAt(checkpoint);
    const edit = update || asNode ? { update: encoded, ...(asNode && { asNode }) } : undefined;
    checkThreadId(newId);
    // An edit that cannot be made begins no thread.
    if (edit) tryEdit(graph, snapshot, edit, new Date().toISOString());
    if (this.threads.has(newId)) {
      const message = `Thread "${newId}" is there already; a fork begins a new one. Use another thread id.`;
      throw new ThreadError('THREAD_BUSY', message, newId);
    }
    const thread = this.threadFor(graph, newId);
    thread.takeUp(snapshot, edit);
    return thread;
  }

  /** A handle on a thread that was started here. @throws {ThreadError} `THREAD_UNKNOWN`, `THREAD_OF_OTHER_GRAPH`. */
  thread<Name extends string, F extends Fields, N extends NodeMap>(
    graph: CompiledGraph<Name, F, N>,
    id: string,
  ): GraphThread<F, keyof N & string>;
  thread(id: string): GraphThread;
  thread(graphOrId: AnyGraph | string, id?: string): GraphThread {
    return typeof graphOrId === 'string' ? this.known(undefined, graphOrId) : this.known(graphOrId, id);
  }

  private threadFor(graph: AnyGraph, id: string): MemoryThread {
    if (this.dependencies.graphs.get(graph.name) !== graph) {
      const how =
        activityNodesOf(graph).length > 0
          ? `nodes: [implement(${graph.name}, { … })]`
          : `graphs: [${graph.name}], with the models and tools it names`;
      const message = `Graph "${graph.name}" was not given to these InMemoryGraphs. Add it: ${how}.`;
      throw new GraphDefinitionError('MISSING_IMPLEMENTATION', message);
    }
    const thread = this.threads.get(id) ?? new MemoryThread(id, graph, this.dependencies);
    if (thread.graph !== graph) throw otherGraph(thread, graph);
    if (thread.isOpen) {
      const message = `Thread "${id}" is running, or waits for an answer; new input would drop that. Answer with approve, deny or resume, or use another thread id.`;
      throw new ThreadError('THREAD_BUSY', message, id);
    }
    this.threads.set(id, thread);
    return thread;
  }

  private known(graph: AnyGraph | undefined, id: string | undefined): MemoryThread {
    const thread = id === undefined ? undefined : this.threads.get(id);
    if (!thread) {
      const message = `There is no thread "${id ?? ''}" here. Check the id, or start it with invoke.`;
      throw new ThreadError('THREAD_UNKNOWN', message, id ?? '');
    }
    if (graph && thread.graph !== graph) throw otherGraph(thread, graph);
    return thread;
  }
}

function otherGraph({ id, graph }: MemoryThread, asked: AnyGraph): ThreadError {
  const message = `Thread "${id}" runs graph "${graph.name}", not "${asked.name}". Use another thread id.`;
  return new ThreadError('THREAD_OF_OTHER_GRAPH', message, id);
}
