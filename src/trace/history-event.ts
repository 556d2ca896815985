import { momentOf, type Moment } from './moment';
import { jsonOf, recordedOf } from './payload';
import { numberOf, objectOf, textOf, type Loose } from './untrusted';

/**
 * A history as Temporal exports it: the JSON of the UI’s download, of `temporal workflow show -o json` or of
 * `historyToJSON`, parsed; or the protobuf object that `fetchHistory()` gives.
 */
export interface HistoryInput {
  readonly events?: readonly unknown[] | null;
}

/** One event, whichever way it was exported. */
export interface HistoryEvent {
  readonly id: string;
  readonly at: Moment;
  /** Which event: the name of its attributes, `activityTaskScheduled` and so on. */
  readonly kind: string;
  readonly attributes: Loose;
  /** The one-line summary that was given with a command. */
  readonly summary?: string;
}

const ATTRIBUTES = 'EventAttributes';

/** Reads the events of a history, in their order. Never throws; what has no attributes is named by its type. */
export function eventsOf({ events }: HistoryInput): readonly HistoryEvent[] {
  return (events ?? []).map((raw, index) => {
    const event = objectOf(raw);
    const key = Object.keys(event).find((name) => name.endsWith(ATTRIBUTES) && objectOf(event[name]) === event[name]);
    const summary = jsonOf(recordedOf(objectOf(event.userMetadata).summary));
    return {
      id: String(numberOf(event.eventId) ?? index + 1),
      at: momentOf(event.eventTime),
      kind:
        key?.slice(0, -ATTRIBUTES.length) ??
        textOf(event.eventType) ??
        `event type ${numberOf(event.eventType) ?? 'unknown'}`,
      attributes: objectOf(key === undefined ? undefined : event[key]),
      ...(typeof summary === 'string' && { summary }),
    };
  });
}

/** An id of another event, as text. */
export function eventIdOf(value: unknown): string {
  return String(numberOf(value) ?? '');
}
