import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { forkOf, retryOf, tryEdit } from '../graph/checkpoints';
import type { AnyGraph } from '../graph/compiled-graph';
import type { StateEdit } from '../graph/edit-state';
import { StateError, ThreadError } from '../graph/errors';
import { inMegabytes } from '../graph/size-limit';
import { checkpointsOf } from '../trace/checkpoints-of';
import type { Carry } from '../workflows/carry';
import { snapshotQuery } from '../workflows/messages';
import { readHistories } from './read-histories';
import { askRun, type ThreadFacts } from './read-thread';
import { RunStarter } from './start-run';

// A closed run is worked through anew for its snapshot, and nothing else can be tried in its place.
const PATIENCE = 20_000;

/** A thread that goes on, or begins, in the middle of a graph. */
export interface TakenUp {
  readonly threadId: string;
  readonly edit?: StateEdit;
  readonly recursionLimit?: number;
}

/**
 * Starts a thread's next run where its last, closed one stood: a failed one goes on from where it failed.
 *
 * @throws {ThreadError} `THREAD_UNREACHABLE` when no worker answers, `THREAD_BUSY`. @throws {StateError} `STATE_TOO_LARGE`.
 */
export async function takeUpAgain(
  client: Client,
  facts: ThreadFacts,
  given: Omit<TakenUp, 'threadId'>,
  graph: AnyGraph | undefined,
): Promise<void> {
  const reply = await askRun(client, facts, snapshotQuery, PATIENCE);
  if (reply === null) {
    const message = `The run of thread "${facts.threadId}" failed before it began, so there is nothing to go on from. Start it with invoke and an input.`;
    throw new ThreadError('THREAD_FINISHED', message, facts.threadId);
  }
  if ('omitted' in reply) throw tooLarge(facts.threadId, reply.omitted.bytes);
  const { idempotencyRun } = reply;
  const snapshot = retryOf(reply.snapshot, given.recursionLimit);
  // An edit that cannot be made must not cost the thread its last run.
  if (given.edit && graph) tryEdit(graph, snapshot, given.edit, new Date().toISOString());
  const carry: Carry = {
    snapshot,
    idempotencyRun,
    ...(given.edit && { edit: given.edit }),
  };
  await new RunStarter(client, facts.taskQueue).takeUp(facts, carry);
}

/**
 * Starts a new thread on a checkpoint of another, whose histories are read for it.
 *
 * @throws {ThreadError} `THREAD_UNKNOWN`, `CHECKPOINT_UNKNOWN`, `THREAD_BUSY` where the new thread is there already.
 */
export async function takeUpElsewhere(
  client: Client,
  graph: AnyGraph,
  from: { readonly facts: ThreadFacts; readonly checkpoint: string | undefined; readonly taskQueue: string },
  { threadId, edit }: TakenUp,
): Promise<void> {
  const origin = from.facts.threadId;
  const checkpoint = checkpointsOf(graph, await readHistories(client, origin)).find(from.checkpoint);
  if (!checkpoint) {
    const message = `Thread "${origin}" has no checkpoint "${from.checkpoint ?? ''}". Take one from getStateHistory.`;
    throw new ThreadError('CHECKPOINT_UNKNOWN', message, origin);
  }
  const at = new Date().toISOString();
  const snapshot = forkOf(graph, checkpoint, origin, at);
  if (edit) tryEdit(graph, snapshot, edit, at);
  const carry: Carry = { snapshot, ...(edit && { edit }) };
  try {
    await new RunStarter(client, from.taskQueue).begin(graph.name, threadId, carry);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const message = `Thread "${threadId}" is there already; a fork begins a new one. Use another thread id.`;
    throw new ThreadError('THREAD_BUSY', message, threadId, { cause: error });
  }
}

function tooLarge(threadId: string, bytes: number): StateError {
  const message = `The run of thread "${threadId}" takes ${inMegabytes(bytes)}, too much for a new run to take over. Keep large things outside the state.`;
  return new StateError('STATE_TOO_LARGE', message, 'state');
}
