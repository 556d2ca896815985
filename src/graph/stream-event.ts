import type { RunResult } from './graph-runner';
import type { Json, JsonObject } from './json';
import type { Question } from './question';
import type { Fields } from './state-schema';

/** What can be streamed. `custom` and `messages` are live: they are asked for while nodes run. */
export type StreamMode = 'values' | 'updates' | 'tasks' | 'questions' | 'custom' | 'messages';

/** What every event says: where a reader goes on after it, and when it happened by the run's clock, ISO 8601. */
export interface StreamPlace {
  /** Hand it to `stream({ after })`; nothing else may be made of it. */
  readonly offset: string;
  readonly at: string;
}

/** Which task an event is of. */
export interface TaskPlace {
  /** The task's id, as in question ids. */
  readonly task: string;
  /** The nodes on the way to it, `review/ask` in a subgraph. */
  readonly node: string;
  readonly step: number;
  /** How often the task has run: 1, and one more for each pause it came back from. */
  readonly visit: number;
}

/**
 * The state of the run: at its start, after each superstep, after each edit, and wherever it stops, there with the open
 * questions under `__interrupt__`, as `invoke` gives them.
 */
export interface ValuesEvent<F extends Fields = any> extends StreamPlace {
  readonly kind: 'values';
  readonly step: number;
  readonly values: RunResult<F>;
}

/** What a task that has finished wrote, as it is recorded. */
export interface UpdatesEvent extends StreamPlace, TaskPlace {
  readonly kind: 'updates';
  /** One for each update or command it returned. */
  readonly updates: readonly JsonObject[];
}

/** A task was given out. */
export interface TaskStartEvent extends StreamPlace, TaskPlace {
  readonly kind: 'task-start';
  /** The tool it calls, where it calls one. */
  readonly tool?: string;
}

/** An attempt at a task failed, and the next is to come. */
export interface AttemptFailedEvent extends StreamPlace, TaskPlace {
  readonly kind: 'attempt-failed';
  readonly attempt: number;
  /** Left out where the history kept only that it failed. */
  readonly error?: TaskError;
}

/** A task came to its end, or to a pause. */
export interface TaskEndEvent extends StreamPlace, TaskPlace {
  readonly kind: 'task-end';
  readonly end: TaskEnd;
}

/** How a task came to its end, or why it waits. */
export type TaskEnd =
  /** `cached`: what it wrote earlier was used again. */
  | { readonly kind: 'done'; readonly cached?: true }
  | { readonly kind: 'paused'; readonly questions: readonly Question[] }
  /** It sent an answer back, and its question is open again. */
  | { readonly kind: 'sent-back'; readonly questions: readonly Question[]; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: TaskError };

/** Why a task, or one attempt at it, failed. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** The open questions, each time they change; none once all are answered. */
export interface QuestionsEvent extends StreamPlace {
  readonly kind: 'questions';
  readonly questions: readonly Question[];
}

/** What a node showed with `nodeContext().write`. */
export interface CustomEvent extends StreamPlace, TaskPlace {
  readonly kind: 'custom';
  readonly attempt: number;
  /** Which of the attempt's chunks it is, from 0; where one is left out, the chunk was lost. */
  readonly index: number;
  readonly chunk: Json;
}

/** More of what a model says. */
export interface MessagesEvent extends StreamPlace, TaskPlace {
  readonly kind: 'messages';
  readonly attempt: number;
  /** How many characters of the reply come before `text`: 0 in a reader's first event, or as many as it has missed. */
  readonly from: number;
  readonly text: string;
}

/** The run has ended. Comes in every mode, last. */
export interface EndEvent extends StreamPlace {
  readonly kind: 'end';
  readonly status: 'done' | 'failed' | 'cancelled' | 'terminated' | 'timed-out';
  /** Why, where it is not done. */
  readonly error?: TaskError & { readonly node?: string };
}

interface EventsOfMode<F extends Fields> {
  readonly values: ValuesEvent<F>;
  readonly updates: UpdatesEvent;
  readonly tasks: TaskStartEvent | AttemptFailedEvent | TaskEndEvent;
  readonly questions: QuestionsEvent;
  readonly custom: CustomEvent;
  readonly messages: MessagesEvent;
}

/** What a stream of these modes yields. */
export type StreamEvent<F extends Fields = any, M extends StreamMode = StreamMode> = EventsOfMode<F>[M] | EndEvent;

/** The modes of a stream that names none: all that the history holds. */
export type DefaultMode = 'values' | 'updates' | 'tasks' | 'questions';

/** The default modes. */
export const DEFAULT_MODES: readonly DefaultMode[] = ['values', 'updates', 'tasks', 'questions'];

/** How a run is watched. */
export interface StreamOptions<M extends StreamMode = StreamMode> {
  /** Default: all but `custom` and `messages`. */
  readonly modes?: readonly M[];
  /** Ends the stream: it throws the signal's reason. */
  readonly signal?: AbortSignal;
}

/** How a thread is watched. */
export interface ThreadStreamOptions<M extends StreamMode = StreamMode> extends StreamOptions<M> {
  /** Goes on after the event with this offset. Default: from the beginning of the thread's newest run. */
  readonly after?: string;
}

/** The mode that an event belongs to; the end belongs to all. */
export function modeOf(kind: StreamEvent['kind']): StreamMode | undefined {
  switch (kind) {
    case 'task-start':
    case 'attempt-failed':
    case 'task-end':
      return 'tasks';
    case 'end':
      return undefined;
    default:
      return kind;
  }
}
