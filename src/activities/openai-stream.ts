import { isJsonObject, type Json, type JsonObject } from '../graph/json';
import { errorIn } from './model-failures';

/** A Chat Completions reply that comes in server-sent events, put together as it comes. */
export class StreamedReply {
  /** How many events have come. */
  events = 0;
  /** An error that came as an event, as its body. */
  failed: JsonObject | undefined;
  /** The service said that nothing more comes. */
  isWhole = false;
  /** The first event that was no JSON, as text. */
  broken: string | undefined;
  private rest = '';
  private head: JsonObject = {};
  private usage: Json | undefined;
  private finishReason: Json = null;
  private readonly texts = new Map<string, string>();
  private readonly calls = new Map<number, { id?: Json; name: string; args: string }>();

  constructor(private readonly onText: (text: string) => void) {}

  /** Takes the next part of the body, wherever it was cut. */
  take(part: string): void {
    const lines = (this.rest + part).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  /** The body has ended: a last line may lack its end. */
  end(): void {
    this.line(this.rest.replace(/\r$/, ''));
    this.rest = '';
  }

  /** What the events make together: the body that a service that does not stream would have sent. */
  body(): JsonObject {
    if (this.failed) return this.failed;
    const calls = [...this.calls].sort(([a], [b]) => a - b).map(([, call]) => call);
    const message: JsonObject = {
      role: 'assistant',
      content: calls.length > 0 ? null : '',
      ...Object.fromEntries(this.texts),
      ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
    };
    return {
      ...this.head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: this.finishReason }],
      ...(this.usage !== undefined && { usage: this.usage }),
    };
  }

  private line(line: string): void {
    const data = /^data:\s?(.*)$/.exec(line)?.[1];
    if (data === undefined || data === '') return;
    if (data.trim() === '[DONE]') {
      this.isWhole = true;
      return;
    }
    this.events += 1;
    const chunk = parsed(data);
    if (!isJsonObject(chunk)) this.broken ??= data;
    else if (errorIn(chunk) !== undefined) this.failed ??= chunk;
    else this.chunk(chunk);
  }

  private chunk({ choices, usage, ...head }: JsonObject): void {
    // The first chunk of some services says nothing yet.
    if (!this.head.model) this.head = { ...this.head, ...head };
    if (isJsonObject(usage)) this.usage = usage;
    const choice = Array.isArray(choices) ? (choices as readonly Json[])[0] : undefined;
    if (!isJsonObject(choice)) return;
    if (typeof choice.finish_reason === 'string') {
      this.finishReason = choice.finish_reason;
      this.isWhole = true;
    }
    if (isJsonObject(choice.delta)) this.delta(choice.delta);
  }

  private delta({ role: _, tool_calls: calls, ...texts }: JsonObject): void {
    for (const [name, text] of Object.entries(texts))
      if (typeof text === 'string') this.texts.set(name, (this.texts.get(name) ?? '') + text);
    const said = typeof texts.content === 'string' ? texts.content : texts.refusal;
    if (typeof said === 'string' && said !== '') this.onText(said);
    const parts = Array.isArray(calls) ? (calls as readonly Json[]) : [];
    for (const [place, part] of parts.entries()) if (isJsonObject(part)) this.call(part, place);
  }

  private call({ index, id, function: asked }: JsonObject, place: number): void {
    const at = typeof index === 'number' ? index : place;
    const call = this.calls.get(at) ?? { name: '', args: '' };
    if (typeof id === 'string' && id !== '') call.id = id;
    if (isJsonObject(asked)) {
      const { name, arguments: args } = asked;
      if (typeof name === 'string') call.name ||= name;
      if (typeof args === 'string') call.args += args;
      // Some services send arguments whole, as an object.
      else if (isJsonObject(args)) call.args = JSON.stringify(args);
    }
    this.calls.set(at, call);
  }
}

function wireCall({
  id,
  name,
  args,
}: {
  readonly id?: Json;
  readonly name: string;
  readonly args: string;
}): JsonObject {
  return { ...(id !== undefined && { id }), type: 'function', function: { name, arguments: args } };
}

function parsed(data: string): Json {
  try {
    return JSON.parse(data) as Json;
  } catch {
    return data;
  }
}
