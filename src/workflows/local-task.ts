import { ApplicationFailure, proxyLocalActivities, type LocalActivityOptions } from '@temporalio/workflow';
import type { Dispatch } from '../graph/dispatch';
import type { NodeActivityOptions, NodeDefinition } from '../graph/node-definition';
import type { Json } from '../graph/json';
import type { NodeCall } from '../graph/node-call';
import type { Outcome } from '../graph/outcome';
import { bytesOf, MAX_LOCAL_BYTES } from '../graph/size-limit';

const DEFAULTS = { startToCloseTimeout: '10 seconds', cancellationType: 'TRY_CANCEL' } as const;

/** A task to run, wherever it does. */
export type GivenOut = Pick<Dispatch, 'task' | 'state'> & { readonly definition: NodeDefinition };

/** True for a task that runs in this worker as a local activity: one of a local node that reads no more than fits. */
export function runsLocally({ definition, task, state }: GivenOut): boolean {
  if (definition.kind !== 'activity' || definition.run !== 'local') return false;
  return bytesOf([state, task.answers, task.once]) <= MAX_LOCAL_BYTES / 2;
}

/** A local activity to run. */
export interface LocalCall {
  readonly type: string;
  readonly activityId: string;
  readonly options: Omit<NodeActivityOptions, 'retry'> & Pick<LocalActivityOptions, 'retry'>;
  readonly args: readonly [Json, NodeCall];
}

type LocalActivity = {
  executeWithOptions(
    options: LocalActivityOptions,
    args: readonly unknown[],
  ): Promise<Outcome & { readonly given?: unknown }>;
};

/**
 * Runs a task as a local activity.
 *
 * Its marker has neither input nor id: the result tells of the input, and the marker's summary is the id.
 */
export async function runLocally({ type, activityId, options, args }: LocalCall): Promise<Outcome> {
  const { taskQueue: _queue, heartbeatTimeout: _beats, ...known } = options;
  const activities = proxyLocalActivities<Record<string, never>>({ ...DEFAULTS, ...known });
  const activity = activities[type] as unknown as LocalActivity;
  try {
    const { given: _given, ...outcome } = await activity.executeWithOptions({ summary: activityId }, args);
    return outcome;
  } catch (thrown) {
    // So the SDK says that this worker does not have it.
    if (!(thrown instanceof ReferenceError)) throw thrown;
    throw ApplicationFailure.nonRetryable(thrown.message, 'NotFoundError');
  }
}
