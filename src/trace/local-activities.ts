import { EXPIRY_TIMER } from '../graph/question-terms';
import { eventIdOf, type HistoryEvent } from './history-event';
import { momentOf, type Moment } from './moment';
import { firstPayload, jsonOf } from './payload';
import { failureOf } from './read-failure';
import { numberOf, objectOf, textOf, type Loose } from './untrusted';

const MARKER = 'core_local_activity';

/** True for an event that stands for a part of a local activity, or that local activities bring about. */
export function isLocal({ attributes }: HistoryEvent): boolean {
  return attributes.local === true;
}

/** When the workflow was told of a local activity's end, by its own clock. */
export function toldAt({ attributes, at }: HistoryEvent): Moment {
  return (attributes.toldAt as Moment | undefined) ?? at;
}

/** Reads a history's events, part by part, with local activities as any other. */
export class LocalActivities {
  private readonly open = new Map<string, Retried>();
  /** Timers that are none of a question: one waits for the next attempt, one for room in a workflow task. */
  private readonly timers = new Set<string>();
  private first: HistoryEvent | undefined;

  /**
   * Turns the markers of local activities into the events that any activity has: scheduled, started, closed.
   *
   * A marker comes with the commands of the workflow task in which the activity ended, and tells of times only by the
   * workflow's clock. One that is to be tried again later leaves a marker for each attempt. Their timers are marked.
   */
  read(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
    return events.flatMap((event) => this.readOne(event));
  }

  private readOne(event: HistoryEvent): readonly HistoryEvent[] {
    this.first ??= event;
    const { kind, attributes } = event;
    if (kind === 'timerStarted' && this.isOwn(event)) this.timers.add(event.id);
    if (kind === 'timerFired' && this.timers.delete(eventIdOf(attributes.startedEventId)))
      return [{ ...event, attributes: { ...attributes, local: true } }];
    if (kind !== 'markerRecorded' || attributes.markerName !== MARKER) return [event];
    return this.eventsOf(markerOf(event, this.first));
  }

  // The SDK gives a timer between two attempts no summary; it follows the marker of the first.
  private isOwn({ summary }: HistoryEvent): boolean {
    return summary === undefined ? this.open.size > 0 : summary !== EXPIRY_TIMER;
  }

  private eventsOf(marker: Marker): readonly HistoryEvent[] {
    const { id, event, failure } = marker;
    const before = id === undefined ? undefined : this.open.get(id);
    if (marker.retried) {
      if (id !== undefined) this.open.set(id, { scheduled: before?.scheduled ?? event.id, failure });
      return before ? [] : [scheduledOf(marker)];
    }
    if (id !== undefined) this.open.delete(id);
    const ended = endOf(marker, before);
    return before ? ended : [scheduledOf(marker), ...ended];
  }
}

/** A local activity whose attempts failed so far. */
interface Retried {
  readonly scheduled: string;
  readonly failure: unknown;
}

interface Marker {
  readonly event: HistoryEvent;
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly attempt: number;
  readonly retried: boolean;
  readonly from: Moment;
  readonly to: Moment;
  readonly toldAt: Moment;
  /** What it was given, where its result says so. */
  readonly given: Loose | undefined;
  readonly result: unknown;
  readonly failure: unknown;
}

function markerOf(event: HistoryEvent, first: HistoryEvent): Marker {
  const { details, failure } = event.attributes;
  const { data, result } = objectOf(details);
  const told = objectOf(jsonOf(firstPayload(data)));
  const { given } = objectOf(jsonOf(firstPayload(result)));
  const { call, ms } = objectOf(given);
  const { task, visit } = objectOf(call);
  const ended = told.complete_time ? momentOf(told.complete_time) : event.at;
  const to = between(first.at, ended, event.at);
  return {
    event,
    id: event.summary ?? (textOf(task) === undefined ? undefined : `${String(task)}#${String(visit)}`),
    type: textOf(told.activity_type),
    attempt: numberOf(told.attempt) ?? 1,
    retried: objectOf(told.backoff) === told.backoff,
    from: between(first.at, earlierBy(ended, numberOf(ms) ?? 0), to),
    to,
    toldAt: ended,
    given: objectOf(given) === given ? objectOf(given) : undefined,
    result,
    failure,
  };
}

function between(earliest: Moment, at: Moment, latest: Moment): Moment {
  if (at.ms < earliest.ms) return earliest;
  return at.ms > latest.ms ? latest : at;
}

function earlierBy({ ms }: Moment, by: number): Moment {
  const at = ms - by;
  const seconds = Math.floor(at / 1000);
  return momentOf({ seconds, nanos: Math.round((at - seconds * 1000) * 1e6) });
}

function scheduledOf({ event, id, type, from, given }: Marker): HistoryEvent {
  const input = given && { payloads: [payloadOf(given.input), payloadOf(given.call)] };
  const attributes = { local: true, activityId: id, activityType: { name: type }, input };
  return { id: event.id, at: from, kind: 'activityTaskScheduled', attributes };
}

function endOf(marker: Marker, before: Retried | undefined): readonly HistoryEvent[] {
  const { event, from, to, attempt, result, failure } = marker;
  const scheduledEventId = before?.scheduled ?? event.id;
  const started = { local: true, scheduledEventId, attempt, lastFailure: before?.failure };
  const closed = { local: true, scheduledEventId, result, failure, toldAt: marker.toldAt };
  return [
    { id: event.id, at: from, kind: 'activityTaskStarted', attributes: started },
    { id: event.id, at: to, kind: closedKind(failure), attributes: closed },
  ];
}

function closedKind(failure: unknown): string {
  const { kind, causes = [] } = failureOf(failure) ?? {};
  switch (kind === 'activity' ? causes[0]?.kind : kind) {
    case undefined:
      return 'activityTaskCompleted';
    case 'timeout':
      return 'activityTaskTimedOut';
    case 'cancelled':
      return 'activityTaskCanceled';
    default:
      return 'activityTaskFailed';
  }
}

// Encoded, for what a node was given may look like a payload itself.
function payloadOf(value: unknown): Loose {
  const data = Buffer.from(JSON.stringify(value ?? null)).toString('base64');
  return { metadata: { encoding: Buffer.from('json/plain').toString('base64') }, data };
}
