import { eventIdOf, type HistoryEvent } from './history-event';
import type { Attempt } from './item';
import { rounded, spanOf, type Clock } from './moment';
import { failureOf, nearestCause } from './read-failure';
import type { Failure, Span } from './recorded';
import { defined, numberOf, objectOf, textOf } from './untrusted';

/** The events of one activity. */
export interface ActivityEvents {
  readonly scheduled: HistoryEvent;
  readonly started?: HistoryEvent;
  readonly closed?: HistoryEvent;
}

/** How far an activity has come, and how it went. */
export interface ActivityCourse {
  readonly eventId: string;
  readonly status: Attempt['status'] | 'scheduled';
  readonly span: Span;
  readonly queueMs?: number;
  readonly runMs?: number;
  readonly attempts: readonly Attempt[];
  readonly maximumAttempts?: number;
  readonly failure?: Failure;
  readonly taskQueue?: string;
}

const CLOSED: Readonly<Record<string, Attempt['status']>> = {
  activityTaskCompleted: 'completed',
  activityTaskFailed: 'failed',
  activityTaskTimedOut: 'timed-out',
  activityTaskCanceled: 'cancelled',
};

/** True for an event that ends an activity. */
export function closesActivity({ kind }: HistoryEvent): boolean {
  return kind in CLOSED;
}

/** The activities of a run, by the id of the event that scheduled them. */
export function activitiesOf(events: readonly HistoryEvent[]): ReadonlyMap<string, ActivityEvents> {
  const activities = new Map<string, ActivityEvents>();
  for (const event of events) {
    if (event.kind === 'activityTaskScheduled') activities.set(event.id, { scheduled: event });
    const id = eventIdOf(event.attributes.scheduledEventId);
    const activity = activities.get(id);
    if (!activity) continue;
    if (event.kind === 'activityTaskStarted') activities.set(id, { ...activity, started: event });
    else if (closesActivity(event)) activities.set(id, { ...activity, closed: event });
  }
  return activities;
}

/** How an activity went, from its events alone. */
export function courseOf(activity: ActivityEvents, clock: Clock): ActivityCourse {
  const { scheduled, started, closed } = activity;
  const status = closed ? (CLOSED[closed.kind] ?? 'completed') : started ? 'running' : 'scheduled';
  const failure = nearestCause(failureOf(closed?.attributes.failure)) ?? cancelled(closed);
  const { retryPolicy, taskQueue } = scheduled.attributes;
  return defined({
    eventId: scheduled.id,
    status,
    span: spanOf(clock, scheduled.at, closed?.at),
    queueMs: started && rounded(started.at.ms - scheduled.at.ms),
    runMs: started && closed && rounded(closed.at.ms - started.at.ms),
    attempts: attemptsOf(activity, failure),
    maximumAttempts: numberOf(objectOf(retryPolicy).maximumAttempts) || undefined,
    failure,
    taskQueue: textOf(objectOf(taskQueue).name),
  });
}

// A cancelled activity has no failure of its own, but its run ends with one.
function cancelled(closed: HistoryEvent | undefined): Failure | undefined {
  if (closed?.kind !== 'activityTaskCanceled') return undefined;
  return { kind: 'cancelled', message: 'The activity was cancelled.', causes: [] };
}

function attemptsOf({ started, closed }: ActivityEvents, failure: Failure | undefined): readonly Attempt[] {
  if (!started) return [];
  const last = Math.max(1, numberOf(started.attributes.attempt) ?? 1);
  const before = nearestCause(failureOf(started.attributes.lastFailure));
  return Array.from({ length: Math.min(last, 1000) }, (_, index): Attempt => {
    const number = last <= 1000 ? index + 1 : last - 999 + index;
    if (number < last)
      return defined({ number, status: 'failed' as const, failure: number === last - 1 ? before : undefined });
    return defined({
      number,
      status: closed ? (CLOSED[closed.kind] ?? 'completed') : 'running',
      from: started.at.iso,
      to: closed?.at.iso,
      durationMs: closed && rounded(closed.at.ms - started.at.ms),
      failure,
      worker: textOf(started.attributes.identity),
    });
  });
}
