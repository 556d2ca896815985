import type { Message, NewMessage } from '../graph/messages';
import type { ModelTarget } from '../graph/node-call';
import { GraphDefinitionError } from '../graph/errors';
import type { NodeResult, ModelRecord } from './call-record';
import type { ChatModel, ModelContext, ModelReply } from './chat-model';
import { limitExchanges } from './limit-exchanges';

/** A model call: which model, on what. */
export interface ModelCall {
  readonly models: Readonly<Record<string, ChatModel>>;
  readonly target: ModelTarget;
  /** The state key the reply is appended to. */
  readonly messagesKey: string;
  readonly messages: readonly Message[];
  readonly context: ModelContext;
}

/** Calls a model once and gives its reply as a message, with the record of the call. Needs no Temporal. */
export async function callModel({ models, target, messagesKey, messages, context }: ModelCall): Promise<NodeResult> {
  const model = Object.hasOwn(models, target.name) ? models[target.name] : undefined;
  if (!model) throw new GraphDefinitionError('MISSING_IMPLEMENTATION', missingModel(target.name, models));
  const before = performance.now();
  const reply = await model.call({ messages: withSystem(target.system, messages), tools: target.tools }, context);
  const durationMs = Math.round((performance.now() - before) * 1000) / 1000;
  return {
    kind: 'completed',
    updates: [{ [messagesKey]: [asMessage(reply)] }],
    goto: [],
    record: recordOf(target.name, model, reply, {
      attempt: context.attempt,
      durationMs,
      ...exchangesOf(reply, context),
    }),
  };
}

/** What is wrong where no model goes by a name. */
export function missingModel(name: string, models: Readonly<Record<string, ChatModel>>): string {
  const known = Object.keys(models).join(', ') || 'none';
  return `No model is registered as "${name}"; registered: ${known}. Add it: models: { ${name}: … }.`;
}

function withSystem(system: string | undefined, messages: readonly Message[]): readonly Message[] {
  return system === undefined ? messages : [{ id: 'system', role: 'system', content: system }, ...messages];
}

function asMessage({ content, toolCalls = [] }: ModelReply): NewMessage {
  return { role: 'ai', content, ...(toolCalls.length > 0 && { tool_calls: [...toolCalls] }) };
}

function recordOf(
  name: string,
  { provider }: ChatModel,
  { content, toolCalls = [], model, finishReason, usage, record }: ModelReply,
  measured: Pick<ModelRecord, 'attempt' | 'durationMs' | 'exchanges'>,
): ModelRecord {
  return {
    kind: 'model',
    name,
    provider,
    model,
    reply: { content, toolCalls },
    ...(finishReason !== undefined && { finishReason }),
    ...(usage && { usage }),
    ...measured,
    ...(record && { record }),
  };
}

// The reply is in the output twice already, as the update and on record.
function exchangesOf(
  { content, toolCalls, exchange }: ModelReply,
  context: ModelContext,
): Pick<ModelRecord, 'exchanges'> {
  const all = exchange ? [...context.earlierExchanges, exchange] : context.earlierExchanges;
  if (all.length === 0) return {};
  return { exchanges: limitExchanges(all, 2 * JSON.stringify({ content, toolCalls }).length) };
}
