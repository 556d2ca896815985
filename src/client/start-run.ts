import {
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { checkRunOptions } from '../graph/check-graph';
import { checkThreadId } from '../graph/check-thread-id';
import type { AnyGraph } from '../graph/compiled-graph';
import { messageOf, StateError, ThreadError } from '../graph/errors';
import { inMegabytes } from '../graph/size-limit';
import { encodeInput } from '../graph/write-state';
import type { RunOptions } from '../graph/graph-runner';
import type { Carry } from '../workflows/carry';
import { stateQuery } from '../workflows/messages';
import { statusAttribute } from '../workflows/pending-in-the-open';
import { askRun, lookUp, type ThreadFacts } from './read-thread';

/** A run to start: on which thread, with what. Without the graph's schema the input goes as it is, as JSON. */
export interface RunRequest {
  readonly graph: Pick<AnyGraph, 'name'> & Partial<Pick<AnyGraph, 'schema' | 'shape'>>;
  readonly threadId: string;
  readonly input: unknown;
  /** What the run is told beside its input. */
  readonly options?: Omit<RunOptions, 'threadId'>;
}

/** The options a run is launched with; the client adds the call. */
export type LaunchOptions = WorkflowStartOptions & { workflowIdConflictPolicy: WorkflowIdConflictPolicy };

/** Starts runs on threads: fresh ones, and finished ones on what they left. */
export class RunStarter {
  private marksStatus = true;

  constructor(
    private readonly client: Client,
    private readonly taskQueue: string,
  ) {}

  /**
   * Launches a run. A finished thread gets a new run on its last values; a busy one is left alone.
   *
   * @throws {StateError} when the input does not fit. @throws {ThreadError} `THREAD_BUSY`, `THREAD_OF_OTHER_GRAPH`.
   * @throws {GraphDefinitionError} `INVALID_OPTION` for a limit that would be none, `UNKNOWN_NODE` for a breakpoint at no node.
   */
  async start<T>(request: RunRequest, launch: (options: LaunchOptions) => Promise<T>): Promise<T> {
    // On the way, JSON would turn NaN or Infinity into none, and the graph's own limit would stand.
    const { schema, shape } = request.graph;
    checkRunOptions(shape, request.options ?? {});
    const input = schema ? encodeInput(schema, request.input) : request.input;
    const given = Object.entries(request.options ?? {}).filter(([, value]) => value !== undefined);
    const own: Omit<RunOptions, 'threadId'> = Object.fromEntries(given);
    try {
      return await this.launch(
        request,
        [input, ...(given.length > 0 ? [own] : [])],
        WorkflowIdReusePolicy.REJECT_DUPLICATE,
        launch,
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    const carry = { ...(await this.carryOf(request)), ...own };
    try {
      return await this.launch(request, [input, carry], WorkflowIdReusePolicy.ALLOW_DUPLICATE, launch);
    } catch (error) {
      throw error instanceof WorkflowExecutionAlreadyStartedError ? busy(request.threadId, error) : error;
    }
  }

  /** Starts a closed thread's next run on what it takes over. @throws {ThreadError} `THREAD_BUSY`. */
  async takeUp({ graph, threadId, status }: ThreadFacts, carry: Carry): Promise<void> {
    // Of two that take a failed run up, the second finds it done.
    const reuse =
      status === 'COMPLETED'
        ? WorkflowIdReusePolicy.ALLOW_DUPLICATE
        : WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY;
    try {
      await this.begin(graph, threadId, carry, reuse);
    } catch (error) {
      throw error instanceof WorkflowExecutionAlreadyStartedError ? busy(threadId, error) : error;
    }
  }

  /** Starts a new thread on what it takes over. @throws {WorkflowExecutionAlreadyStartedError} */
  async begin(
    graph: string,
    threadId: string,
    carry: Carry,
    reuse: WorkflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE,
  ): Promise<void> {
    await this.launch({ graph: { name: graph }, threadId }, [{}, carry], reuse, (options) =>
      this.client.workflow.start(graph, options),
    );
  }

  private async launch<T>(
    { graph, threadId }: Pick<RunRequest, 'graph' | 'threadId'>,
    args: unknown[],
    workflowIdReusePolicy: WorkflowIdReusePolicy,
    launch: (options: LaunchOptions) => Promise<T>,
  ): Promise<T> {
    checkThreadId(threadId);
    const options: LaunchOptions = {
      workflowId: threadId,
      taskQueue: this.taskQueue,
      args,
      workflowIdReusePolicy,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      staticSummary: `graph ${graph.name}`,
    };
    if (!this.marksStatus) return launch(options);
    try {
      return await launch({
        ...options,
        typedSearchAttributes: new TypedSearchAttributes([{ key: statusAttribute, value: 'running' }]),
      });
    } catch (error) {
      if (!isUnknownAttribute(error)) throw error;
      this.marksStatus = false;
      return launch(options);
    }
  }

  private async carryOf({ graph, threadId }: RunRequest): Promise<Carry> {
    const facts = await lookUp(this.client, threadId);
    if (facts.graph !== graph.name) {
      const message = `Thread "${threadId}" runs graph "${facts.graph}", not "${graph.name}". Use another thread id.`;
      throw new ThreadError('THREAD_OF_OTHER_GRAPH', message, threadId);
    }
    if (facts.isRunning)
      throw busy(
        threadId,
        undefined,
        facts.published?.questions.map(({ id }) => id),
      );
    const { published } = facts;
    // A finished run left all there is to know; a failed one may have gone on since it last published.
    if (published?.status === 'done' && published.values) return { values: published.values, step: published.step };
    const { values, step, omitted } = await askRun(this.client, facts, stateQuery);
    if (!omitted) return { values, step };
    const message = `The values of thread "${threadId}" take ${inMegabytes(omitted.bytes)}, too much for a new run to take over. Use another thread id.`;
    throw new StateError('STATE_TOO_LARGE', message, 'input');
  }
}

function busy(threadId: string, cause: unknown, questions: readonly string[] = []): ThreadError {
  const waits = questions.length > 0 ? `waits for an answer to ${questions.join(', ')}` : 'is running';
  const message = `Thread "${threadId}" ${waits}; new input would drop that. Answer with approve, deny or resume, or use another thread id.`;
  return new ThreadError('THREAD_BUSY', message, threadId, { cause });
}

// A namespace without our search attributes refuses the start; the run does without them.
function isUnknownAttribute(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return messageOf(cause).includes(statusAttribute.name);
}
