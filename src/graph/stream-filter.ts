import type { AnyGraph } from './compiled-graph';
import { LiveMarks } from './live-marks';
import type { Narrated } from './narrator';
import { resultOf, decodeValues, EMPTY_VIEW } from './run-view';
import { DEFAULT_MODES, modeOf, type StreamEvent, type StreamMode } from './stream-event';
import { isAfter, offsetOf, type StreamPosition } from './stream-offset';

/** Where an event stands within a stream. */
export type EventPlace = Omit<StreamPosition, 'marks'>;

/** Up to where a stream goes: the run's next stop, its end being one, or its end. */
export type Until = 'stop' | 'end';

/** What one reader gets of what is narrated: after its offset, of its modes, and nothing twice. */
export class StreamFilter {
  /** True once the reader has got all it wanted. */
  finished = false;
  private readonly modes: readonly StreamMode[];
  private readonly marks: LiveMarks;

  constructor(
    private readonly graph: AnyGraph,
    modes: readonly StreamMode[] = DEFAULT_MODES,
    private readonly after: StreamPosition | undefined,
    private readonly until: Until,
  ) {
    this.modes = modes;
    this.marks = new LiveMarks(after?.marks);
  }

  /** The event as the reader gets it; undefined where it gets none. */
  take(event: Narrated, place: EventPlace): StreamEvent | undefined {
    if (this.isBefore(place)) {
      // A reader that has seen the end gets nothing more, and waits for nothing.
      this.finished ||= event.kind === 'end';
      return undefined;
    }
    if (this.finished) return undefined;
    this.finished = event.kind === 'end' || (this.until === 'stop' && isStop(event));
    return this.passed(event, place);
  }

  /** The same for what a running node shows: it stands where the last event does. */
  takeLive(event: Narrated, place: EventPlace): StreamEvent | undefined {
    const { after } = this;
    const catchesUp = after !== undefined && place.run === after.run && isAfter(after, place);
    return this.finished || catchesUp ? undefined : this.passed(event, place);
  }

  private passed(event: Narrated, place: EventPlace): StreamEvent | undefined {
    const fresh = this.marks.fresh(event);
    if (!fresh) return undefined;
    const mode = modeOf(fresh.kind);
    if (mode !== undefined && !this.modes.includes(mode)) return undefined;
    return this.shown(fresh, offsetOf({ ...place, marks: this.marks.list() }));
  }

  private isBefore(place: EventPlace): boolean {
    return this.after !== undefined && place.run === this.after.run && !isAfter(place, this.after);
  }

  private shown(event: Narrated, offset: string): StreamEvent {
    if (event.kind !== 'values') return { ...event, offset };
    const { questions, values, ...rest } = event;
    const shown = questions
      ? resultOf(this.graph, { kind: 'paused', view: { ...EMPTY_VIEW, values, questions } })
      : decodeValues(this.graph, values);
    return { ...rest, offset, values: shown as never };
  }
}

/** True where the run stopped with this event. */
export function isStop(event: Narrated): boolean {
  return event.kind === 'end' || (event.kind === 'values' && event.questions !== undefined);
}
