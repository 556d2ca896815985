import { AsyncLocalStorage } from 'node:async_hooks';
import type { Exchange } from '../graph/exchange';
import type { Message, ToolCall } from '../graph/messages';
import type { ModelTarget } from '../graph/node-call';
import type { NodeInfo } from '../graph/node-run';
import type { Answer } from '../graph/question';
import type { NodeResult } from './call-record';
import type { ChatModel } from './chat-model';

/** What an attempt at a node does. */
export type Work =
  | { readonly kind: 'body' }
  | { readonly kind: 'tool'; readonly call: ToolCall }
  | {
      readonly kind: 'model';
      readonly target: ModelTarget;
      readonly messages: readonly Message[];
      /** Missing where none is registered under that name. */
      readonly model?: Pick<ChatModel, 'provider' | 'model' | 'endpoint'>;
    };

/** One attempt at a node, as who watches it sees it. */
export interface Attempt {
  readonly info: NodeInfo;
  readonly answers: readonly Answer[];
  readonly work: Work;
  /** Aborts when the run is cancelled or the attempt times out. */
  readonly signal: AbortSignal;
  /** What went over the wire in this attempt, if it failed after that. */
  readonly failedExchange: () => Exchange | undefined;
}

/** Stands around an attempt: it runs the body once, and gives or throws what the body does. */
export type AttemptObserver = (attempt: Attempt, body: () => Promise<NodeResult>) => Promise<NodeResult>;

const observers = new AsyncLocalStorage<AttemptObserver>();

/** Runs an activity so that its attempt at a node, if it is one, is watched. */
export function withAttemptObserver<T>(observer: AttemptObserver, activity: () => Promise<T>): Promise<T> {
  return observers.run(observer, activity);
}

/** Runs the body of an attempt, watched where somebody watches. */
export function observed(attempt: Attempt, body: () => Promise<NodeResult>): Promise<NodeResult> {
  const observer = observers.getStore();
  return observer ? observer(attempt, body) : body();
}
