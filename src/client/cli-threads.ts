import type { StateSnapshot } from '../graph/graph-runner';
import type { Question } from '../graph/question';
import type { Output } from './cli-output';

export type ThreadStatus = StateSnapshot['status'] | 'continued';

/** A thread as a list shows it: the shape of its JSON is documented. */
export interface ThreadRow {
  readonly threadId: string;
  readonly runId: string;
  readonly graph: string;
  readonly status: ThreadStatus;
  /** The nodes whose questions are open. */
  readonly waitingFor: readonly string[];
  readonly taskQueue: string;
  readonly startedAt: string;
  readonly closedAt?: string;
}

/** A thread with what it last published. */
export interface ListedThread extends ThreadRow {
  readonly questions: readonly Question[];
}

/** Which threads to look for. */
export interface ThreadFilter {
  readonly waiting?: boolean;
  readonly graph?: string;
  /** In Temporal's list filter language. */
  readonly query?: string;
}

/** At most so many of a list, and whether there were more. */
export async function take<T>(list: AsyncIterable<T>, limit: number): Promise<{ items: readonly T[]; more: boolean }> {
  const items: T[] = [];
  for await (const item of list) {
    if (items.length === limit) return { items, more: true };
    items.push(item);
  }
  return { items, more: false };
}

/** A status in its colour. */
export function statusText(status: ThreadStatus, { colours }: Output): string {
  switch (status) {
    case 'waiting':
      return colours.yellow(status);
    case 'running':
    case 'continued':
      return colours.cyan(status);
    case 'done':
      return colours.green(status);
    case 'failed':
    case 'cancelled':
    case 'terminated':
    case 'timed-out':
      return colours.red(status);
  }
}
