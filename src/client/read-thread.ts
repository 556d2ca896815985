import {
  isGrpcDeadlineError,
  WorkflowFailedError,
  type Client,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { CancelledFailure, TerminatedFailure, TimeoutFailure, type QueryDefinition } from '@temporalio/common';
import type { AnyGraph } from '../graph/compiled-graph';
import { ThreadError } from '../graph/errors';
import type { StateSnapshot } from '../graph/graph-runner';
import { SUBGRAPH } from '../graph/subgraph-result';
import { decodeValues, EMPTY_VIEW, OMITTED, tasksShown, type RunView, type Stop } from '../graph/run-view';
import type { Channels } from '../graph/state-schema';
import { stateQuery } from '../workflows/messages';
import { MEMO_KEY, type PublishedView } from '../workflows/pending-in-the-open';
import { isNotRunning, toRunError, unknownThread } from './temporal-errors';

// A run with a worker answers in milliseconds; one without keeps a query until the deadline.
const QUERY_TIMEOUT = 5_000;
const QUERY_TIMEOUT_WITH_MEMO = 1_000;

const STATUS: Readonly<Record<string, StateSnapshot['status']>> = {
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed-out',
};

/** What the server knows of a thread without any worker. */
export interface ThreadFacts {
  readonly threadId: string;
  readonly runId: string;
  /** The first of the runs that rolled over one into the other. */
  readonly firstRunId: string;
  readonly graph: string;
  readonly taskQueue: string;
  readonly isRunning: boolean;
  /** How many events its history has. */
  readonly events: number;
  readonly status: string;
  /** What the run last published in its memo. */
  readonly published?: PublishedView;
}

/**
 * Looks a thread's newest run up on the server, or the one named; where that has rolled over, the one it goes on as.
 *
 * @throws {ThreadError} `THREAD_UNKNOWN`.
 */
export async function lookUp(client: Client, threadId: string, ofRun?: string): Promise<ThreadFacts> {
  const facts = await describe(client, threadId, ofRun);
  if (facts.status !== 'CONTINUED_AS_NEW') return facts;
  const newest = await describe(client, threadId);
  return newest.firstRunId === facts.firstRunId ? newest : facts;
}

async function describe(client: Client, threadId: string, ofRun?: string): Promise<ThreadFacts> {
  let description: WorkflowExecutionDescription;
  try {
    description = await client.workflow.getHandle(threadId, ofRun).describe();
  } catch (error) {
    throw isNotRunning(error) ? unknownThread(threadId, error) : error;
  }
  const { runId, type, status, memo, raw, taskQueue, historyLength: events } = description;
  const published = memo?.[MEMO_KEY] as PublishedView | undefined;
  return {
    threadId,
    runId,
    firstRunId: raw.workflowExecutionInfo?.firstRunId ?? runId,
    graph: type,
    taskQueue,
    status: status.name,
    isRunning: status.name === 'RUNNING',
    events,
    published,
  };
}

/** Asks a run, also a closed one. @throws {ThreadError} `THREAD_UNREACHABLE` when no worker answers. */
export async function askRun<T>(
  client: Client,
  { threadId, runId, graph, taskQueue }: ThreadFacts,
  query: QueryDefinition<T>,
  timeout = QUERY_TIMEOUT,
): Promise<T> {
  const handle = client.workflow.getHandle(threadId, runId);
  const end = Date.now() + timeout;
  const ask = (deadline: number): Promise<T> => client.withDeadline(deadline, () => handle.query(query));
  try {
    return await ask(Math.min(end, Date.now() + QUERY_TIMEOUT)).catch((error: unknown) => {
      // The server may lose a query to a closed run; asked again, it is answered.
      if (!isGrpcDeadlineError(error) || Date.now() >= end) throw error;
      return ask(end);
    });
  } catch (error) {
    const message = `No worker answered for thread "${threadId}". Start one that serves graph "${graph}" on task queue "${taskQueue}".`;
    throw new ThreadError('THREAD_UNREACHABLE', message, threadId, { cause: error });
  }
}

/** How a thread's closed run ended. */
export async function endOf(client: Client, facts: ThreadFacts): Promise<Stop> {
  try {
    const result = (await client.workflow.getHandle(facts.threadId, facts.runId).result()) as Channels;
    const { [OMITTED]: omitted, [SUBGRAPH]: _, ...values } = result;
    const view: RunView = { ...EMPTY_VIEW, status: 'done', step: facts.published?.step ?? 0, values };
    return { kind: 'done', view: omitted ? { ...view, omitted: omitted as { bytes: number } } : view };
  } catch (error) {
    return failedStop(error);
  }
}

function failedStop(error: unknown): Stop {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const { cause } = error;
  if (cause instanceof CancelledFailure)
    return { kind: 'failed', code: 'RUN_CANCELLED', message: 'The run was cancelled.' };
  if (cause instanceof TerminatedFailure)
    return { kind: 'failed', code: 'RUN_TERMINATED', message: `The run was terminated: ${cause.message}` };
  if (cause instanceof TimeoutFailure) return { kind: 'failed', code: 'RUN_TERMINATED', message: 'The run timed out.' };
  const { code, message, node } = toRunError(cause);
  return { kind: 'failed', code, message, ...(node !== undefined && { node }) };
}

/**
 * Tells where a thread stands: from its run, or while no worker answers from what it last published.
 *
 * @throws {ThreadError} `THREAD_UNREACHABLE` when neither worker nor memo can tell.
 */
export async function readState(
  client: Client,
  facts: ThreadFacts,
  graph: AnyGraph | undefined,
): Promise<StateSnapshot> {
  const end = facts.isRunning || facts.status === 'CONTINUED_AS_NEW' ? undefined : await endOf(client, facts);
  const { view, source } =
    end?.kind === 'done' ? { view: end.view, source: 'result' as const } : await viewOfRun(client, facts);
  // The result of a run does not say where its thread came from; its memo does.
  const origin = view.origin ?? facts.published?.origin;
  return {
    values: decodeValues(graph, view.values),
    next: view.next,
    tasks: tasksShown(view),
    interrupts: facts.isRunning ? view.questions : [],
    status: STATUS[facts.status] ?? view.status,
    metadata: {
      threadId: facts.threadId,
      graph: facts.graph,
      step: view.step,
      source,
      runId: facts.runId,
      ...(origin && { origin }),
      ...(view.omitted && { omitted: view.omitted }),
      ...(end?.kind === 'failed' && { error: { code: end.code, message: end.message } }),
    },
  };
}

async function viewOfRun(
  client: Client,
  facts: ThreadFacts,
): Promise<{ readonly view: RunView; readonly source: 'run' | 'memo' }> {
  const { published } = facts;
  try {
    const timeout = published?.values ? QUERY_TIMEOUT_WITH_MEMO : QUERY_TIMEOUT;
    return { view: await askRun(client, facts, stateQuery, timeout), source: 'run' };
  } catch (error) {
    if (!published?.values) throw error;
    return { view: viewOfMemo(published, published.values), source: 'memo' };
  }
}

// How a run ended is told by the server; a view knows only where it stood.
function viewOfMemo({ status, ...published }: PublishedView, values: RunView['values']): RunView {
  const stood = status === 'running' || status === 'waiting' ? status : 'done';
  return { ...published, status: stood, values, tasks: [] };
}
