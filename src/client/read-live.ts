import type { Client } from '@temporalio/client';
import { readLive, type Live } from '../graph/live-window';
import type { TaskError } from '../graph/stream-event';
import { errorOf, placeOfActivity } from '../trace/narrate-activity';
import { firstPayload, jsonOf } from '../trace/payload';
import { numberOf, objectOf, textOf } from '../trace/untrusted';
import { abortable } from './abortable';
import { decoded } from './follow-run';

/** A node that runs or is about to be tried again, as the server shows it. */
export interface RunningActivity {
  /** `<task>#<visit>`. */
  readonly id: string;
  readonly attempt: number;
  /** Why the attempt before this one failed. */
  readonly lastError?: TaskError;
  /** What its last heartbeat showed. */
  readonly live?: Live;
}

/** What runs at this moment, from the run's description: no event is spent on it, and no worker asked. */
export async function readLiveActivities(
  client: Client,
  threadId: string,
  runId: string,
  signal: AbortSignal,
): Promise<readonly RunningActivity[]> {
  const { pendingActivities } = await abortable(client, signal, () =>
    client.workflowService.describeWorkflowExecution({
      namespace: client.options.namespace,
      execution: { workflowId: threadId, runId },
    }),
  );
  const { events = [] } = await decoded(client, { events: pendingActivities });
  return (events ?? []).map((raw) => {
    const { activityId, attempt, lastFailure, heartbeatDetails } = objectOf(raw);
    const id = textOf(activityId) ?? '';
    const live = readLive(objectOf(jsonOf(firstPayload(heartbeatDetails))).live);
    return {
      id,
      attempt: numberOf(attempt) ?? 1,
      ...(lastFailure !== undefined &&
        lastFailure !== null && { lastError: errorOf(placeOfActivity(id).task, lastFailure) }),
      ...(live && { live }),
    };
  });
}
