import { setTimeout } from 'node:timers/promises';
import { AbeyanceError } from '../graph/errors';
import type { Json } from '../graph/json';
import type { Message, ToolCall } from '../graph/messages';
import type { ChatModel, ModelContext, ModelReply, ModelRequest } from '../activities/chat-model';

/** A turn of a script: what the model says and asks for, or a function of what it is asked. */
export type ScriptedTurn = ScriptedReply | ((request: ModelRequest) => ScriptedReply);

/** What a scripted model says in one turn. */
export interface ScriptedReply {
  readonly content?: string;
  /** Tools it asks for; ids are made up where they are left out, the same in every run. */
  readonly toolCalls?: readonly { readonly name: string; readonly args: Json; readonly id?: string }[];
}

/** How a scripted model speaks. */
export interface ScriptedModelOptions {
  /** Says its replies word by word, as a live model streams. Default: all at once. */
  readonly stream?: boolean;
  /** Waits so many milliseconds before each word it streams; default 0. */
  readonly msPerWord?: number;
}

/** The script of a model has no turn left. Remedy: add one, or end the conversation sooner. */
export class ScriptEndedError extends AbeyanceError {}

/**
 * Makes a model that follows a script: the n-th reply of a conversation is the script's n-th turn.
 *
 * It keeps no state, so one serves any number of threads and workers, and a retry gets the same reply. On record it puts
 * which tools were declared to it, which messages it ignored, and whether it consulted either: a turn that is a function
 * does, a plain one does not.
 *
 * @throws {ScriptEndedError} `SCRIPT_ENDED` from the call after the last turn; never retried.
 * @example
 * const model = scriptedModel([
 *   { toolCalls: [{ name: 'place_order', args: { item: 'widget', quantity: 500 } }] },
 *   { content: 'Done.' },
 * ]);
 */
export function scriptedModel(turns: readonly ScriptedTurn[], options: ScriptedModelOptions = {}): ChatModel {
  return {
    provider: 'mock',
    call: async (request, context) => {
      await Promise.resolve();
      const reply = replyTo(request, turns);
      if (options.stream) await speak(reply.content, context, options.msPerWord ?? 0);
      return reply;
    },
  };
}

async function speak(content: string, { writeText, signal }: ModelContext, msPerWord: number): Promise<void> {
  for (const word of content.match(/\S+\s*|\s+/g) ?? []) {
    await setTimeout(msPerWord, undefined, { signal });
    writeText(word);
  }
}

function replyTo(request: ModelRequest, turns: readonly ScriptedTurn[]): ModelReply {
  const turn = request.messages.filter(({ role }) => role === 'ai').length;
  const scripted = turns[turn];
  if (scripted === undefined) {
    const message = `The script has ${turns.length} turns, and the conversation asked for turn ${turn + 1}. Add a turn to the script.`;
    throw new ScriptEndedError('SCRIPT_ENDED', message);
  }
  const consulted = typeof scripted === 'function';
  const { content = '', toolCalls = [] } = consulted ? scripted(request) : scripted;
  return {
    content,
    toolCalls: toolCalls.map(
      ({ name, args, id }, index) => ({ id: id ?? `call_${turn + 1}_${index}`, name, args }) as ToolCall,
    ),
    model: 'mock',
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    record: {
      turn: turn + 1,
      tools: { names: request.tools.map(({ name }) => name), consulted },
      ignored: ignored(consulted ? [] : request.messages),
    },
  };
}

function ignored(messages: readonly Message[]): Json {
  return { messages: messages.length, roles: messages.map(({ role }) => role) };
}
