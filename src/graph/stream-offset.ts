import type { LiveMark } from './live-marks';

/** Where a reader stands in a thread's stream. */
export interface StreamPosition {
  /** The run, in which events are counted. */
  readonly run: string;
  /** The event of the history that the last event came with; in memory the number of the event. */
  readonly event: number;
  /** Which of the events that came with it. */
  readonly place: number;
  /** How much of the tasks that run has been seen. */
  readonly marks: readonly LiveMark[];
}

const PLACE = /^([^/;]+)\/(\d+)\.(\d+)$/;
const MARK = /^([^=]+)=(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

/** Writes a position as the text that readers keep. */
export function offsetOf({ run, event, place, marks }: StreamPosition): string {
  const seen = marks.map(
    ({ visit, attempt, failed, chunks, characters }) =>
      `;${encodeURIComponent(visit)}=${attempt}.${failed}.${chunks}.${characters}`,
  );
  return `${run}/${event}.${place}${seen.join('')}`;
}

/** Reads an offset; undefined where it is none. */
export function positionOf(offset: string): StreamPosition | undefined {
  const [place = '', ...seen] = offset.split(';');
  const [, run, event, number] = PLACE.exec(place) ?? [];
  const marks = seen.map(markOf);
  if (run === undefined || marks.some((mark) => mark === undefined)) return undefined;
  return { run, event: Number(event), place: Number(number), marks: marks as LiveMark[] };
}

function markOf(text: string): LiveMark | undefined {
  const [, visit, ...counts] = MARK.exec(text) ?? [];
  if (visit === undefined) return undefined;
  const [attempt = 1, failed = 0, chunks = 0, characters = 0] = counts.map(Number);
  try {
    return { visit: decodeURIComponent(visit), attempt, failed, chunks, characters };
  } catch {
    return undefined;
  }
}

/** True where a comes after b within one run. */
export function isAfter(
  a: Pick<StreamPosition, 'event' | 'place'>,
  b: Pick<StreamPosition, 'event' | 'place'>,
): boolean {
  return a.event > b.event || (a.event === b.event && a.place > b.place);
}
