import type { Json } from '../graph/json';
import type { NodeActivityRead } from './activity-item';
import type { Attempt, MessageShown, Tokens, Turn } from './item';
import { jsonOf } from './payload';
import { arrayOf, defined, numberOf, objectOf, textOf, textsOf, type Loose } from './untrusted';
import { exchangesOf, type WireExchange } from './wire-exchange';

/** A model call as a turn; its number is given once all are known. */
export function turnOf({ common, input, call, ended }: NodeActivityRead): Turn {
  const record = objectOf(ended.record);
  const target = objectOf(call.model);
  const exchanges = exchangesIn(record, common.failure);
  const reply = replyOf(record.reply);
  const { ms, usage } = exchanges.at(-1) ?? {};
  return defined({
    kind: 'turn' as const,
    ...common,
    attempts: common.attempts.map((attempt) => withExchange(attempt, exchanges)),
    number: 0,
    model: defined({
      name: textOf(target.name) ?? textOf(record.name) ?? common.node,
      provider: textOf(record.provider),
      model: textOf(record.model),
    }),
    context: contextOf(target.system, jsonOf(input)),
    tools: declaredIn(target.tools),
    reply,
    askedFor: reply?.toolCalls.map(({ name }) => name) ?? [],
    respondedWith: reply?.content || undefined,
    finishReason: textOf(record.finishReason),
    tokens: tokensOf(record.usage) ?? tokensOf(usage),
    modelMs: numberOf(record.durationMs),
    providerMs: ms?.provider,
    libraryMs: ms?.library,
    exchanges,
    ...beside(objectOf(record.record)),
  });
}

/** The messages of a conversation, whatever state they are in. */
export function messagesIn(value: unknown): readonly MessageShown[] {
  return arrayOf(value).map((one) => {
    const { id, role, content, name, tool_calls, tool_call_id, status } = objectOf(one);
    return defined({
      id: textOf(id),
      role: textOf(role) ?? 'unknown',
      content: typeof content === 'string' ? content : JSON.stringify(content ?? one ?? null),
      name: textOf(name),
      tool_calls: Array.isArray(tool_calls) ? toolCallsIn(tool_calls) : undefined,
      tool_call_id: textOf(tool_call_id),
      status: textOf(status),
    });
  });
}

function contextOf(system: unknown, state: Json | undefined): readonly MessageShown[] {
  const conversation = Object.values(objectOf(state)).find(Array.isArray);
  const prompt = typeof system === 'string' ? [{ role: 'system', content: system }] : [];
  return [...prompt, ...messagesIn(conversation)];
}

function toolCallsIn(value: unknown): { readonly id: string; readonly name: string; readonly args: Json }[] {
  return arrayOf(value).map((one) => {
    const { id, name, args } = objectOf(one);
    return { id: textOf(id) ?? '', name: textOf(name) ?? '', args: (args ?? null) as Json };
  });
}

function declaredIn(value: unknown): Turn['tools'] {
  return arrayOf(value).map((one) => {
    const { name, description, schema } = objectOf(one);
    return { name: textOf(name) ?? '', description: textOf(description) ?? '', schema: (schema ?? null) as Json };
  });
}

function replyOf(value: unknown): Turn['reply'] {
  if (typeof value !== 'object' || value === null) return undefined;
  const { content, toolCalls } = objectOf(value);
  return { content: textOf(content) ?? '', toolCalls: toolCallsIn(toolCalls) };
}

function tokensOf(value: unknown): Tokens | undefined {
  const { input, output, total, cached, reasoning } = objectOf(value);
  const [sent, received] = [numberOf(input), numberOf(output)];
  if (sent === undefined || received === undefined) return undefined;
  return defined({
    input: sent,
    output: received,
    total: numberOf(total) ?? sent + received,
    cached: numberOf(cached),
    reasoning: numberOf(reasoning),
  });
}

// Of a call that failed for good, the exchanges are in what its last heartbeat or its failure carried.
function exchangesIn(record: Loose, failure: NodeActivityRead['common']['failure']): readonly WireExchange[] {
  const carried = [failure, ...(failure?.causes ?? [])].flatMap((cause) => cause?.details ?? []);
  const lists = [record.exchanges, ...carried.map((detail) => objectOf(jsonOf(detail)).exchanges)];
  return lists.map(exchangesOf).find(({ length }) => length > 0) ?? [];
}

function withExchange(attempt: Attempt, exchanges: readonly WireExchange[]): Attempt {
  const error = exchanges.find((exchange) => exchange.attempt === attempt.number)?.error;
  if (attempt.failure || !error) return attempt;
  return { ...attempt, failure: { kind: 'application', ...error, causes: [] } };
}

/** What the model itself put on record: of a scripted one what it was told and ignored, of any other as it is. */
function beside(record: Loose): Partial<Pick<Turn, 'scripted' | 'record'>> {
  const { tools, ignored, turn: _turn, ...rest } = record;
  const { names, consulted } = objectOf(tools);
  if (!Array.isArray(names) || typeof consulted !== 'boolean') {
    return Object.keys(record).length > 0 ? { record: record as { readonly [key: string]: Json } } : {};
  }
  const { messages, roles } = objectOf(ignored);
  const scripted = {
    tools: { names: textsOf(names), consulted },
    ignored: { messages: numberOf(messages) ?? 0, roles: textsOf(roles) },
  };
  return { scripted, ...(Object.keys(rest).length > 0 && { record: rest as { readonly [key: string]: Json } }) };
}
