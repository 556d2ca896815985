import type { Exchange } from '../graph/exchange';
import type { Message, ToolCall } from '../graph/messages';
import type { Json } from '../graph/json';
import type { ToolDeclaration } from '../graph/tool';

/** What a model is asked. */
export interface ModelRequest {
  /** The conversation, with the node's system prompt first if it has one. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
}

/** Where a model is asked from. */
export interface ModelContext {
  readonly threadId: string;
  readonly task: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Aborts when the run is cancelled or the attempt times out. */
  readonly signal: AbortSignal;
  /** Milliseconds this attempt may take, where that is limited. */
  readonly timeoutMs?: number;
  /** What went over the wire in the attempts before this one, oldest first. */
  readonly earlierExchanges: readonly Exchange[];
  /** Keeps an exchange on record although the attempt is about to fail; one that succeeds belongs in the reply. */
  readonly keepExchange: (exchange: Exchange) => void;
  /**
   * Shows so much more of the reply to whoever streams the run in the mode `messages`, while it is being made. The reply
   * that is returned is the truth; a model that never calls this is shown when it is done.
   */
  readonly writeText: (text: string) => void;
}

/** Tokens of one call. `cached` is part of `input`, `reasoning` of `output`. */
export interface ModelUsage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cached?: number;
  readonly reasoning?: number;
}

/** What a model answered, and what is to be kept of the call. */
export interface ModelReply {
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[];
  /** The model that answered, as the provider names it. */
  readonly model: string;
  readonly finishReason?: string;
  readonly usage?: ModelUsage;
  /** What went over the wire. */
  readonly exchange?: Exchange;
  /** Whatever else belongs on record, under names of the model's own choosing. */
  readonly record?: { readonly [key: string]: Json };
}

/** A model that can be called: live, scripted, or your own. */
export interface ChatModel {
  /** Who answers: `openai`, `mock`, … */
  readonly provider: string;
  /** The model it asks for, where that is the same for every call; telemetry names it, also when a call fails. */
  readonly model?: string;
  /** The machine it asks, where it asks one; for telemetry. */
  readonly endpoint?: { readonly address: string; readonly port: number };
  /** One call. What it throws is retried by Temporal, unless it is a `ModelError` that says otherwise. */
  call(request: ModelRequest, context: ModelContext): Promise<ModelReply>;
}
