import type { Narrated } from './narrator';

/** How much of what a running task shows a reader has seen. */
export interface LiveMark {
  /** The task and its visit, `1.agent#1`. */
  readonly visit: string;
  /** The attempt whose chunks and characters are counted. */
  readonly attempt: number;
  /** Attempts that are known to have failed. */
  readonly failed: number;
  readonly chunks: number;
  readonly characters: number;
}

/** Keeps a reader from seeing twice what it was shown live and is told again by the record, or after a reconnect. */
export class LiveMarks {
  private readonly marks: Map<string, LiveMark>;

  constructor(marks: readonly LiveMark[] = []) {
    this.marks = new Map(marks.map((mark) => [mark.visit, mark]));
  }

  /** Those of tasks that still run. */
  list(): readonly LiveMark[] {
    return [...this.marks.values()];
  }

  /** What of an event is new to the reader, which has seen it then; undefined where nothing is. */
  fresh(event: Narrated): Narrated | undefined {
    switch (event.kind) {
      case 'custom':
      case 'messages':
        return this.rest(event);
      case 'attempt-failed': {
        const mark = this.markOf(event);
        if (event.attempt <= mark.failed) return undefined;
        this.marks.set(mark.visit, { ...mark, failed: event.attempt });
        return event;
      }
      case 'task-end':
        this.marks.delete(visitOf(event));
        return event;
      default:
        return event;
    }
  }

  private rest(event: Extract<Narrated, { readonly kind: 'custom' | 'messages' }>): Narrated | undefined {
    const known = this.markOf(event);
    if (event.attempt < known.attempt) return undefined;
    const mark = event.attempt === known.attempt ? known : { ...known, attempt: event.attempt, ...NOTHING_SEEN };
    if (event.kind === 'custom') {
      if (event.index < mark.chunks) return undefined;
      this.marks.set(mark.visit, { ...mark, chunks: event.index + 1 });
      return event;
    }
    const end = event.from + event.text.length;
    if (end <= mark.characters) return undefined;
    this.marks.set(mark.visit, { ...mark, characters: end });
    if (event.from >= mark.characters) return event;
    return { ...event, from: mark.characters, text: event.text.slice(mark.characters - event.from) };
  }

  private markOf(event: { readonly task: string; readonly visit: number }): LiveMark {
    const visit = visitOf(event);
    return this.marks.get(visit) ?? { visit, attempt: 1, failed: 0, ...NOTHING_SEEN };
  }
}

const NOTHING_SEEN = { chunks: 0, characters: 0 };

function visitOf({ task, visit }: { readonly task: string; readonly visit: number }): string {
  return `${task}#${visit}`;
}
