import type { Verdict } from './decision';
import type { Dispatch } from './dispatch';
import type { GraphEngine } from './engine';
import type { EngineNews, Watch } from './engine-news';
import type { Json } from './json';
import { toolCallOf } from './node-call';
import type { Question } from './question';
import type { Channels } from './state-schema';
import type { EndEvent, StreamEvent, TaskEnd, TaskError, TaskPlace, ValuesEvent } from './stream-event';
import { nodePathOf, type Task } from './task';

/** The state where it was reached; with questions where the run stopped there. */
export interface ValuesTold {
  readonly kind: 'values';
  readonly at: string;
  readonly step: number;
  /** Encoded. */
  readonly values: Channels;
  readonly questions?: readonly Question[];
}

type WithoutOffset<E> = E extends unknown ? Omit<E, 'offset'> : never;

/** An event of a stream before anybody reads it. */
export type Narrated = WithoutOffset<Exclude<StreamEvent, ValuesEvent>> | ValuesTold;

/** Which attempt at which task is spoken of. */
export type AttemptPlace = TaskPlace & { readonly attempt: number };

/**
 * Turns what an engine does into the events of a stream, the same ones in the same order whoever drives it.
 *
 * The driver lets it watch the engine, tells it when tasks are given out, and has it look at the engine after each change.
 */
export class Narrator {
  private open = '';
  private moved = false;

  constructor(private readonly tell: (event: Narrated) => void) {}

  /** What the engine of a run is started with. `continued`: the run goes on from one that was narrated, or skipped. */
  watching(continued = false): Watch {
    return (news, at) => {
      if (continued && news.kind === 'begun') return;
      this.hear(news, at);
    };
  }

  /** Takes up a run in the middle of which it is. */
  takeUp(engine: GraphEngine): void {
    this.open = idsOf(engine.questions());
    this.moved = false;
  }

  /** Where a run stands that was not told from its beginning. */
  stands(engine: GraphEngine, at: string): void {
    if (engine.status === 'waiting') this.moved = true;
    else this.tell({ kind: 'values', at, step: engine.step, values: engine.values() });
    this.rest(engine, at);
  }

  /** Tasks were given out. */
  started(dispatches: readonly Pick<Dispatch, 'task' | 'definition'>[], at: string): void {
    for (const { task, definition } of dispatches) {
      const tool = definition.kind === 'tools' ? { tool: toolCallOf({ task }).name } : {};
      this.say({ kind: 'task-start', at, ...placeOf(task), ...tool });
    }
  }

  /** An attempt at a task failed, and is not the last. */
  attemptFailed(place: AttemptPlace, error: TaskError | undefined, at: string): void {
    this.say({ kind: 'attempt-failed', at, ...place, ...(error && { error }) });
  }

  /** A node wrote a chunk of progress, the n-th of its attempt. */
  wrote(place: AttemptPlace, index: number, chunk: Json, at: string): void {
    this.say({ kind: 'custom', at, ...place, index, chunk });
  }

  /** A model has said more. */
  said(place: AttemptPlace, from: number, text: string, at: string): void {
    if (text !== '') this.say({ kind: 'messages', at, ...place, from, text });
  }

  /** A decision was judged: what was not refused is followed by a stop, even where it changed nothing else. */
  decided(verdict: Verdict): void {
    if (verdict.kind !== 'refused') this.moved = true;
  }

  /** Looks at an engine that something has happened to. */
  look(engine: GraphEngine, at: string): void {
    const questions = engine.questions();
    const ids = idsOf(questions);
    if (ids === this.open) return;
    this.open = ids;
    this.say({ kind: 'questions', at, questions });
  }

  /** Nothing more can be done for now: where the run waits, and has done something since it last did, it has stopped. */
  rest(engine: GraphEngine, at: string): void {
    this.look(engine, at);
    if (engine.status !== 'waiting' || !this.moved) return;
    const { step } = engine;
    this.tell({ kind: 'values', at, step, values: engine.values(), questions: engine.questions() });
    this.moved = false;
  }

  /** The run has ended; its questions, if any were open, are withdrawn. */
  ended(end: Pick<EndEvent, 'status' | 'error'>, at: string): void {
    this.open = '';
    this.tell({ kind: 'end', at, ...end });
  }

  private hear(news: EngineNews, at: string): void {
    switch (news.kind) {
      case 'begun':
      case 'values':
        return this.say({ kind: 'values', at, step: news.step, values: news.values });
      case 'entered':
        return this.say({ kind: 'task-start', at, ...placeOf(news.task) });
      case 'done':
        this.endTask(news.task, { kind: 'done', ...(news.cached && { cached: true as const }) }, at);
        return this.say({ kind: 'updates', at, ...placeOf(news.task), updates: news.task.outcome?.updates ?? [] });
      case 'paused':
        return this.endTask(news.task, { kind: 'paused', questions: news.task.open }, at);
      case 'sent-back':
        return this.endTask(news.task, { kind: 'sent-back', questions: news.task.open, reason: news.reason }, at);
      case 'failed': {
        const { code, message } = news.failure;
        return this.endTask(news.task, { kind: 'failed', error: { code, message } }, at);
      }
      default:
        news satisfies never;
    }
  }

  private endTask(task: Task, end: TaskEnd, at: string): void {
    this.say({ kind: 'task-end', at, ...placeOf(task), end });
  }

  private say(event: Narrated): void {
    this.moved = true;
    this.tell(event);
  }
}

/** Where a task stands, as events say it. */
export function placeOf({ id, step, visit }: Pick<Task, 'id' | 'step' | 'visit'>): TaskPlace {
  return { task: id, node: nodePathOf(id), step, visit };
}

function idsOf(questions: readonly Question[]): string {
  return questions.map(({ id, digest, rejected }) => `${id} ${digest} ${rejected ?? ''}`).join('\n');
}
