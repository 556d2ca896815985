import { activitiesOf, type ActivityEvents } from './activity-events';
import { childTasksOf, type ChildTask } from './child-events';
import { decisionsOf, type DecisionArrived } from './decisions-of';
import { eventsOf, type HistoryEvent, type HistoryInput } from './history-event';
import { LocalActivities } from './local-activities';
import { objectOf, textOf } from './untrusted';

/** The events of one run, sorted by what they are about. */
export interface RunEvents {
  /** Markers of local activities stand here as the events of any activity. */
  readonly events: readonly HistoryEvent[];
  /** How many the history has. */
  readonly recorded: number;
  readonly first: HistoryEvent;
  readonly workflowId: string | undefined;
  readonly runId: string;
  /** The first of the runs that rolled over one into the other; this one's own where none did. */
  readonly firstRunId: string;
  readonly graph: string;
  readonly activities: ReadonlyMap<string, ActivityEvents>;
  readonly decisions: ReadonlyMap<string, DecisionArrived>;
  /** By the event that began each. */
  readonly children: ReadonlyMap<string, ChildTask>;
}

/** Reads a history; undefined where it has no beginning, as one that was cut. */
export function runEventsOf(history: HistoryInput): RunEvents | undefined {
  const recorded = eventsOf(history);
  const events = new LocalActivities().read(recorded);
  const first = events[0];
  if (first?.kind !== 'workflowExecutionStarted') return undefined;
  const { workflowId, originalExecutionRunId, firstExecutionRunId, workflowType } = first.attributes;
  const runId = textOf(originalExecutionRunId) ?? `run-at-${first.at.iso}`;
  return {
    events,
    recorded: recorded.length,
    first,
    workflowId: textOf(workflowId),
    runId,
    firstRunId: textOf(firstExecutionRunId) ?? runId,
    graph: textOf(objectOf(workflowType).name) ?? 'unknown',
    activities: activitiesOf(events),
    decisions: decisionsOf(events),
    children: childTasksOf(events),
  };
}
