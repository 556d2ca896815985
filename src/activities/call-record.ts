import type { Exchange } from '../graph/exchange';
import type { Json } from '../graph/json';
import type { Chunks } from '../graph/live-window';
import type { ToolCall } from '../graph/messages';
import type { NodeCall } from '../graph/node-call';
import type { Outcome } from '../graph/outcome';
import type { ModelUsage } from './chat-model';

/** What an activity keeps of a model call, beside the context and tools its input holds. */
export interface ModelRecord {
  readonly kind: 'model';
  /** The name the model is registered under. */
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly reply: { readonly content: string; readonly toolCalls: readonly ToolCall[] };
  readonly finishReason?: string;
  readonly usage?: ModelUsage;
  readonly attempt: number;
  readonly durationMs: number;
  /** What went over the wire, one entry for each attempt that was recorded, oldest first. */
  readonly exchanges?: readonly Exchange[];
  /** What the model itself put on record. */
  readonly record?: { readonly [key: string]: Json };
}

/** What an activity keeps of a tool call. */
export interface ToolRecord {
  readonly kind: 'tool';
  readonly tool: string;
  readonly callId: string;
  /** As the model gave them. */
  readonly given: Json;
  /** As the tool's schema read them; missing where it did not, or where JSON cannot carry what it read. */
  readonly args?: Json;
  readonly result?: Json;
  readonly error?: string;
  readonly attempt: number;
  readonly durationMs: number;
}

/** What a local activity was given. Nothing else records it, so its result does. */
export interface LocalGiven {
  readonly input: Json;
  readonly call: NodeCall;
  /** How long it took. */
  readonly ms: number;
}

/** The result of a node's activity: how it ended, the call it made, if it made one, and what it wrote for streams. */
export type NodeResult = Outcome & {
  readonly record?: ModelRecord | ToolRecord;
  readonly written?: Chunks;
  /** On local activities. */
  readonly given?: LocalGiven;
};
