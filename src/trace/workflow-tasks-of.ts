import { closesActivity } from './activity-events';
import { closesChild } from './child-events';
import { eventIdOf, type HistoryEvent } from './history-event';
import { isLocal } from './local-activities';

/** One turn of the workflow's code: what it was told, and what it did. */
export interface WorkflowTask {
  readonly started: HistoryEvent;
  readonly completed: HistoryEvent;
  /** Activities and child workflows that ended. */
  readonly arrived: readonly HistoryEvent[];
  /** Timers of questions that fired. */
  readonly timers: readonly HistoryEvent[];
  readonly signals: readonly HistoryEvent[];
  readonly updates: readonly HistoryEvent[];
  /** Local activities that ended within it. */
  readonly locals: readonly HistoryEvent[];
  /** Activities it scheduled. */
  readonly scheduled: readonly HistoryEvent[];
}

/** The workflow tasks that completed, in their order. What came while one ran belongs to the next. */
export function workflowTasksOf(events: readonly HistoryEvent[]): readonly WorkflowTask[] {
  const completions = events.flatMap((event, index) => (event.kind === 'workflowTaskCompleted' ? [index] : []));
  const places = new Map(events.map(({ id }, index) => [id, index]));
  let told = 0;
  return completions.flatMap((at, nth): WorkflowTask[] => {
    const completed = events[at] as HistoryEvent;
    const from = places.get(eventIdOf(completed.attributes.startedEventId));
    const started = from === undefined ? undefined : events[from];
    if (from === undefined || !started) return [];
    const news = events.slice(told, from);
    told = from;
    const did = events.slice(at + 1, completions[nth + 1]);
    return [
      {
        started,
        completed,
        arrived: news.filter((event) => (closesActivity(event) && !isLocal(event)) || closesChild(event)),
        timers: news.filter((event) => event.kind === 'timerFired' && !isLocal(event)),
        signals: news.filter(({ kind }) => kind === 'workflowExecutionSignaled'),
        updates: did.filter(({ kind }) => kind === 'workflowExecutionUpdateAccepted'),
        locals: did.filter((event) => closesActivity(event) && isLocal(event)),
        scheduled: did.filter(({ kind }) => kind === 'activityTaskScheduled'),
      },
    ];
  });
}
