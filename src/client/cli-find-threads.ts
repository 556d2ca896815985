import { ServiceError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { messageOf } from '../graph/errors';
import type { Question } from '../graph/question';
import { MEMO_KEY, statusAttribute, type PublishedView } from '../workflows/pending-in-the-open';
import type { ListedThread, ThreadFilter, ThreadStatus } from './cli-threads';

const ENDED: Readonly<Record<string, ThreadStatus>> = {
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed-out',
  CONTINUED_AS_NEW: 'continued',
};

/**
 * Finds threads, each with its newest run, running ones first.
 *
 * A namespace may lack our search attributes, and a run that Temporal's own tools started carries none: the memo tells
 * of those. So none that waits is missed, and no workflow of somebody else's is shown.
 */
export async function* findThreads(client: Client, filter: ThreadFilter): AsyncGenerator<ListedThread> {
  let seen = 0;
  try {
    for await (const thread of matching(client, filter, true)) {
      seen++;
      yield thread;
    }
  } catch (error) {
    if (seen > 0 || !filter.waiting || !lacksAttribute(error)) throw error;
    yield* matching(client, filter, false);
  }
}

async function* matching(client: Client, filter: ThreadFilter, byAttribute: boolean): AsyncGenerator<ListedThread> {
  const shown = new Set<string>();
  for await (const info of client.workflow.list({ query: queryOf(filter, byAttribute) })) {
    const thread = threadOf(info, filter.graph !== undefined);
    if (!thread || shown.has(thread.threadId)) continue;
    if (filter.waiting && thread.status !== 'waiting') continue;
    shown.add(thread.threadId);
    yield thread;
  }
}

function queryOf({ waiting, graph, query }: ThreadFilter, byAttribute: boolean): string | undefined {
  const { name } = statusAttribute;
  const terms = [
    ...(waiting ? ['ExecutionStatus = "Running"'] : []),
    ...(waiting && byAttribute ? [`(${name} = "waiting" OR ${name} IS NULL)`] : []),
    ...(graph === undefined ? [] : [`WorkflowType = ${quoted(graph)}`]),
    ...(query === undefined ? [] : [`(${query})`]),
  ];
  return terms.length > 0 ? terms.join(' AND ') : undefined;
}

/** A text in Temporal's list filter language. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function lacksAttribute(error: unknown): boolean {
  return messageOf(error instanceof ServiceError ? error.cause : error).includes(statusAttribute.name);
}

// Another's workflow may have a memo of that name: nothing of it is taken on trust.
function threadOf(info: WorkflowExecutionInfo, isAskedFor: boolean): ListedThread | undefined {
  const attribute = info.typedSearchAttributes.get(statusAttribute);
  const published = info.memo?.[MEMO_KEY] as Partial<PublishedView> | undefined;
  const isOurs = attribute !== undefined || typeof published?.fingerprint === 'string';
  if (!isOurs && !isAskedFor) return undefined;
  const isRunning = info.status.name === 'RUNNING';
  const questions: readonly Question[] = (isRunning && published?.questions) || [];
  return {
    threadId: info.workflowId,
    runId: info.runId,
    graph: info.type,
    status: isRunning ? (questions.length > 0 ? 'waiting' : 'running') : (ENDED[info.status.name] ?? 'failed'),
    waitingFor: [...new Set(questions.map(({ node }) => node))],
    taskQueue: info.taskQueue,
    startedAt: info.startTime.toISOString(),
    ...(info.closeTime && { closedAt: info.closeTime.toISOString() }),
    questions,
  };
}
