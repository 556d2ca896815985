import type { JsonObject } from 'abeyance';
import { ModelError, openaiModel, type Exchange, type ModelReply, type OpenAiModelOptions } from 'abeyance/activity';
import { startOpenAiServer, type OpenAiAnswer, type OpenAiServer } from 'abeyance/testing';
import { eventually } from '../support/eventually';
import { attempt, saying } from '../support/model-of-thread';

const open: OpenAiServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

interface Asked {
  readonly reply: Promise<ModelReply>;
  readonly heard: string[];
  readonly kept: readonly Exchange[];
  readonly server: OpenAiServer;
}

/** Asks a streaming model once, of a service that gives this answer. */
async function ask(
  answer: OpenAiAnswer,
  options: OpenAiModelOptions = {},
  signal = new AbortController().signal,
): Promise<Asked> {
  const server = await startOpenAiServer([answer]);
  open.push(server);
  const model = openaiModel({
    baseURL: server.url,
    apiKey: 'a-key-of-some-length',
    model: 'm',
    stream: true,
    ...options,
  });
  const heard: string[] = [];
  const context = attempt({ writeText: (text) => void heard.push(text), signal });
  const reply = model.call(saying('hi'), context);
  reply.catch(() => undefined);
  return { reply, heard, kept: context.kept, server };
}

const failure = ({ reply }: Asked): Promise<ModelError> =>
  reply.then(
    () => Promise.reject(new Error('it did not fail')),
    (e: unknown) => e as ModelError,
  );

const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

describe('a model that streams', () => {
  test('asks for events and for usage, and hands its words on as they come', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const asked = await ask({ content: 'one two three', beforeEvent: (n) => (n === 3 ? held : undefined) });
    await eventually(() => expect(asked.heard).toEqual(['one ', 'two ']));
    release();
    const reply = await asked.reply;
    expect(asked.heard).toEqual(['one ', 'two ', 'three']);
    expect(reply).toMatchObject({ content: 'one two three', finishReason: 'stop', model: 'm' });
    expect(reply.usage?.total).toBeGreaterThan(0);
    expect(asked.server.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('does not ask for events where it is not told to', async () => {
    const asked = await ask({ content: 'one two' }, { stream: false });
    expect(await asked.reply).toMatchObject({ content: 'one two' });
    expect(asked.heard).toEqual([]);
    expect(asked.server.requests[0]?.body).toMatchObject({ stream: false });
    expect(asked.server.requests[0]?.body).not.toHaveProperty('stream_options');
  });

  test('puts what the events make together on record, and how many there were', async () => {
    const { exchange } = await (await ask({ content: 'one two', reasoning: 'hm hm' })).reply;
    expect(exchange?.request.body).toMatchObject({ stream: true });
    expect(exchange?.response).toMatchObject({
      status: 200,
      events: 7,
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      body: {
        object: 'chat.completion',
        choices: [
          {
            finish_reason: 'stop',
            message: { role: 'assistant', content: 'one two', reasoning_content: 'hm hm' },
          },
        ],
        usage: { total_tokens: expect.any(Number) },
      },
    });
    expect(exchange?.usage?.total).toBeGreaterThan(0);
  });

  test('puts tool calls together from their parts, several of them too', async () => {
    const toolCalls = [
      { name: 'first', args: { item: 'widget' }, id: 'c1' },
      { name: 'second', args: '{"broken": ', id: 'c2' },
    ];
    const asked = await ask({ toolCalls });
    expect(await asked.reply).toMatchObject({ content: '', finishReason: 'tool_calls', toolCalls });
    expect(asked.heard).toEqual([]);
  });

  test('understands parts that come cut anywhere, comments, and events without a last mark', async () => {
    const events = [
      chunk({ role: 'assistant', content: 'Grüße' }),
      chunk({ content: ' 🌍' }, { finish_reason: 'stop' }),
    ];
    const body = `: hello\r\n\r\n${events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')}`;
    const bytes = new TextEncoder().encode(body.trimEnd());
    const stream = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      });
    const headers = { 'content-type': 'text/event-stream' };
    const asked = await ask({}, { fetch: async () => new Response(stream(), { headers }) });
    expect(await asked.reply).toMatchObject({ content: 'Grüße 🌍', finishReason: 'stop' });
    expect(asked.heard.join('')).toBe('Grüße 🌍');
  });

  test('takes a reply in one piece from a service that does not stream', async () => {
    const body = { model: 'm', choices: [{ message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }] };
    const asked = await ask({ body });
    expect(await asked.reply).toMatchObject({ content: 'whole' });
  });
});

describe('a stream that goes wrong', () => {
  const FAULTS: [string, OpenAiAnswer, object, RegExp][] = [
    ['is cut', { content: 'one two three', cut: 'within' }, { code: 'MODEL_UNAVAILABLE', retryable: true }, /complete/],
    [
      'ends before its reply does',
      { events: [chunk({ content: 'one' })], headers: { 'x-none': '1' } },
      { code: 'MODEL_UNAVAILABLE', retryable: true },
      /ended before its reply/,
    ],
    [
      'holds an event that is no JSON',
      { events: [chunk({ content: 'one' }), '{"choices": [', chunk({}, { finish_reason: 'stop' })] },
      { code: 'MODEL_REPLY_INVALID', retryable: true },
      /no JSON/,
    ],
    [
      'says that the service failed',
      { events: [chunk({ content: 'one' }), { error: { message: 'overloaded', code: 503 } }] },
      { code: 'MODEL_UNAVAILABLE', retryable: true, status: 503 },
      /overloaded/,
    ],
    [
      'says that the request was wrong',
      { events: [{ error: { message: 'context_length_exceeded', code: 400 } }] },
      { code: 'MODEL_CONTEXT_EXCEEDED', retryable: false },
      /shorten/,
    ],
    [
      'is ended by a content filter',
      { content: 'one', finishReason: 'content_filter' },
      { code: 'MODEL_CONTENT_FILTERED', retryable: false },
      /filter/,
    ],
  ];

  test.each(FAULTS)('fails typed where it %s', async (_, answer, expected, message) => {
    const asked = await ask(answer);
    const error = await failure(asked);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject(expected);
    expect(error.message).toMatch(message);
    expect(asked.kept).toHaveLength(1);
  });

  test('puts what had come on record, as it came', async () => {
    const asked = await ask({ content: 'one two three', cut: 'within' });
    await failure(asked);
    const [exchange] = asked.kept;
    expect(exchange?.response).toMatchObject({ status: 200, cut: true, events: expect.any(Number) });
    expect(exchange?.response?.body).toMatch(/^data: \{[^]*"content":"one "/);
  });

  test('hangs up when the run is cancelled', async () => {
    const cancel = new AbortController();
    const asked = await ask(
      { content: 'one two', beforeEvent: (n) => (n === 2 ? new Promise(() => undefined) : undefined) },
      {},
      cancel.signal,
    );
    await eventually(() => expect(asked.heard).toEqual(['one ']));
    cancel.abort();
    await expect(asked.reply).rejects.toThrow(/abort/i);
    await eventually(() => expect(asked.server.requests[0]?.aborted).toBe(true));
    expect(asked.kept).toEqual([]);
  });

  test('says so where it is refused before it begins, as one that does not stream', async () => {
    const error = await failure(await ask({ status: 429, headers: { 'retry-after': '2' } }));
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE', retryAfterMs: 2000 });
  });
});
