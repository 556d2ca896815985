import { GraphDefinitionError, type Json } from 'abeyance';
import { Exchange, openaiModel, type ModelReply, type OpenAiModelOptions } from 'abeyance/activity';
import { startOpenAiServer, type OpenAiAnswer, type OpenAiServer } from 'abeyance/testing';
import { declarationOf } from '../../src/graph/tool';
import { placeOrder } from '../support/model-graphs';
import { attempt, saying } from '../support/model-of-thread';

const TOOLS = [declarationOf(placeOrder)];
const open: OpenAiServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** Asks a model of these options once, of a service that gives this answer. */
async function ask(
  answer: OpenAiAnswer,
  options: OpenAiModelOptions = {},
  request = saying('Order 500 widgets.', TOOLS),
): Promise<{ reply: ModelReply; exchange: Exchange; server: OpenAiServer }> {
  const server = await startOpenAiServer([answer]);
  open.push(server);
  const model = openaiModel({ baseURL: server.url, apiKey: 'a-key-of-some-length', model: 'small', ...options });
  const reply = await model.call(request, attempt());
  return { reply, exchange: reply.exchange as Exchange, server };
}

describe('the request', () => {
  test('has the body of the original, key by key and to the byte', async () => {
    const { exchange, server } = await ask({ content: 'hi' }, { model: 'deepseek-flash' });
    const body = {
      messages: [{ content: 'Order 500 widgets.', role: 'user' }],
      model: 'deepseek-flash',
      stream: false,
      tools: [
        {
          type: 'function',
          function: {
            name: 'place_order',
            description: 'Place an order for a quantity of an item.',
            parameters: {
              properties: { item: { type: 'string' }, quantity: { type: 'integer' } },
              required: ['item', 'quantity'],
              type: 'object',
            },
          },
        },
      ],
    };
    expect(JSON.stringify(exchange.request.body)).toBe(JSON.stringify(body));
    expect(JSON.stringify(server.requests[0]?.body)).toBe(JSON.stringify(body));
    expect(exchange.request.headers['content-length']).toBe('355');
    expect(exchange.request).toMatchObject({
      method: 'POST',
      url: `${server.url}/chat/completions`,
      defaulted: ['temperature', 'max_tokens', 'top_p', 'stop', 'seed', 'tool_choice'],
    });
  });

  test('says what is left to the provider, and sends what is not', async () => {
    const parameters = {
      temperature: 0,
      maxTokens: 10,
      topP: 0.5,
      stop: ['.'],
      seed: 7,
      toolChoice: { name: 'place_order' },
    };
    const { exchange } = await ask({}, parameters);
    expect(exchange.request.defaulted).toEqual([]);
    expect(exchange.request.body).toMatchObject({
      temperature: 0,
      max_tokens: 10,
      top_p: 0.5,
      stop: ['.'],
      seed: 7,
      tool_choice: { type: 'function', function: { name: 'place_order' } },
    });
    const bare = await ask({}, { temperature: 1, toolChoice: 'auto' }, saying('hi'));
    expect(bare.exchange.request.defaulted).toEqual(['max_tokens', 'top_p', 'stop', 'seed', 'tool_choice']);
    expect(bare.exchange.request.body).not.toHaveProperty('tools');
  });

  test('carries every role', async () => {
    const messages = [
      { id: '0', role: 'system', content: 'Be brief.' },
      { id: '1', role: 'human', content: 'Order.', name: 'ana' },
      { id: '2', role: 'ai', content: '', tool_calls: [{ id: 'c1', name: 'place_order', args: { item: 'w' } }] },
      { id: '3', role: 'tool', content: 'Error: no', tool_call_id: 'c1', name: 'place_order', status: 'error' },
      { id: '4', role: 'ai', content: 'Sorry.', tool_calls: [{ id: 'c2', name: 'place_order', args: '{"item": ' }] },
      { id: '5', role: 'ai', content: 'Really.' },
    ] as const;
    const { exchange } = await ask({}, {}, { messages: messages as never, tools: [] });
    expect(exchange.request.body).toMatchObject({
      messages: [
        { content: 'Be brief.', role: 'system' },
        { content: 'Order.', role: 'user', name: 'ana' },
        {
          content: null,
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'place_order', arguments: '{"item":"w"}' } }],
        },
        { content: 'Error: no', role: 'tool', tool_call_id: 'c1' },
        { content: 'Sorry.', tool_calls: [{ function: { arguments: '{"item": ' } }] },
        { content: 'Really.', role: 'assistant' },
      ],
    });
  });

  test('keeps of a schema what a model needs, and a property that has the name of noise', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'x',
      description: 'noise',
      type: 'object',
      properties: { title: { type: 'string', description: 'Of the book.' }, tags: { $ref: '#/$defs/tags' } },
      additionalProperties: false,
      $defs: { tags: { type: 'array' } },
    } as const;
    const { exchange } = await ask({}, {}, saying('hi', [{ name: 'x', description: 'X.', schema }]));
    const { properties, $defs } = schema;
    expect(exchange.request.body).toMatchObject({
      tools: [{ function: { parameters: { properties, $defs, type: 'object' } } }],
    });
    const sent = exchange.request.body as any;
    expect(Object.keys(sent.tools[0].function.parameters)).toEqual(['properties', '$defs', 'type']);
  });
});

describe('headers', () => {
  test('are those that were really sent and really received', async () => {
    const headers = { 'x-request-id': 'r-1', 'x-ratelimit-remaining-tokens': '99', 'content-type': 'application/json' };
    const { exchange, server } = await ask({ content: 'hi', gzip: true, headers });
    expect(exchange.request.headersFrom).toBe('wire');
    const { authorization, ...received } = server.requests[0]?.headers ?? {};
    expect(authorization).toBe('Bearer a-key-of-some-length');
    expect(exchange.request.headers).toEqual({ ...received, authorization: 'not recorded' });
    expect(exchange.request.headers).toMatchObject({
      'accept-encoding': 'gzip, deflate',
      'x-stainless-retry-count': '0',
    });
    expect(exchange.response).toMatchObject({ status: 200, headers: { ...headers, 'content-encoding': 'gzip' } });
    expect(exchange.response?.headers).toMatchObject({ date: expect.any(String), connection: 'keep-alive' });
  });

  test('belong to their own call, also where many are under way and connections are shared', async () => {
    const server = await startOpenAiServer(() => ({ content: 'hi' }));
    open.push(server);
    for (let round = 0; round < 3; round++) {
      const calls = Array.from({ length: 20 }, async (_, index) => {
        const defaultHeaders = { 'x-call': `${round}.${index}` };
        const model = openaiModel({ baseURL: server.url, apiKey: 'any', model: 'm', defaultHeaders });
        const { exchange } = await model.call(saying(`call ${round}.${index}`), attempt());
        expect(exchange?.request.headers['x-call']).toBe(`${round}.${index}`);
        expect(exchange?.request.headersFrom).toBe('wire');
      });
      await Promise.all(calls);
    }
  });

  test('are as asked for where a fetch of another kind hides the rest, and say so', async () => {
    const fetch = async (): Promise<Response> => Response.json({ choices: [{ message: { content: 'hi' } }] });
    const model = openaiModel({ apiKey: 'a-key-of-some-length', model: 'm', fetch });
    const { exchange } = await model.call(saying('hi'), attempt());
    expect(exchange?.request).toMatchObject({
      url: 'https://api.openai.com/v1/chat/completions',
      headersFrom: 'asked',
      headers: { authorization: 'not recorded', 'content-type': 'application/json' },
    });
  });
});

describe('the reply', () => {
  test('has content, tool calls, finish reason, usage and model; the record keeps what nobody reads', async () => {
    const body = {
      id: 'x',
      model: 'small-2026',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'On it.',
            reasoning_content: 'Simple task \u2014 place the order.',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'place_order', arguments: '{"item": "w"}' } }],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 308,
        completion_tokens: 71,
        total_tokens: 379,
        prompt_tokens_details: { cached_tokens: 128 },
        completion_tokens_details: { reasoning_tokens: 16 },
        prompt_cache_hit_tokens: 128,
        prompt_cache_miss_tokens: 180,
      },
      system_fingerprint: 'f',
    };
    const { reply, exchange } = await ask({ body });
    const usage = { input: 308, output: 71, total: 379, cached: 128, reasoning: 16 };
    expect(reply).toMatchObject({
      content: 'On it.',
      toolCalls: [{ id: 'c', name: 'place_order', args: { item: 'w' } }],
      model: 'small-2026',
      finishReason: 'tool_calls',
      usage,
    });
    expect(exchange.response?.body).toEqual(body);
    expect(exchange).toMatchObject({ attempt: 1, finishReason: 'tool_calls', usage });
    expect(exchange.error).toBeUndefined();
    expect(Exchange.parse(exchange)).toEqual(exchange);
  });

  const message = (given: Json): OpenAiAnswer => ({ body: { choices: [{ message: given }] } });
  const asking = (...functions: readonly Json[]): OpenAiAnswer =>
    message({ content: null, tool_calls: functions.map((one) => ({ id: 'same', function: one })) });

  test.each<[string, OpenAiAnswer, object]>([
    ['arguments that are no JSON', asking({ name: 'f', arguments: '{"a": ' }), { args: '{"a": ' }],
    ['arguments that are a JSON string', asking({ name: 'f', arguments: '"a"' }), { args: '"a"' }],
    ['no arguments', asking({ name: 'f', arguments: '' }), { args: {} }],
    ['arguments left out', asking({ name: 'f' }), { args: {} }],
    ['arguments as an object', asking({ name: 'f', arguments: { a: 1 } }), { args: { a: 1 } }],
  ])('understands %s', async (_, answer, call) => {
    expect((await ask(answer)).reply).toMatchObject({ content: '', toolCalls: [{ id: 'same', name: 'f', ...call }] });
  });

  test('gives calls ids of their own where the service does not', async () => {
    const { reply } = await ask(asking({ name: 'f', arguments: '{}' }, { name: 'g', arguments: '{}' }));
    expect(reply.toolCalls?.map(({ id }) => id)).toEqual(['same', 'call_1_agent_1']);
  });

  test.each<[string, OpenAiAnswer, object]>([
    [
      'content in parts',
      message({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
      { content: 'ab' },
    ],
    ['a refusal', message({ content: null, refusal: 'I cannot.' }), { content: 'I cannot.' }],
    ['null for tool calls', message({ content: 'a', tool_calls: null }), { content: 'a', toolCalls: [] }],
    ['no model and no usage', message({ content: 'a' }), { model: 'small' }],
    [
      'usage without a total',
      { content: 'a', usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: null } },
      { usage: { input: 2, output: 3, total: 5 } },
    ],
    ['JSON that says it is text', { content: 'a', headers: { 'content-type': 'text/plain' } }, { content: 'a' }],
    ['gzip', { content: 'é'.repeat(5000), gzip: true }, { content: 'é'.repeat(5000) }],
    ['a reply cut by its length', { content: 'a', finishReason: 'length' }, { finishReason: 'length' }],
  ])('understands %s', async (_, answer, reply) => {
    expect((await ask(answer)).reply).toMatchObject(reply);
  });
});

test('time is measured: what the provider took, and the rest', async () => {
  const { exchange } = await ask({ content: 'hi', after: 60 });
  expect(exchange.ms.provider).toBeGreaterThanOrEqual(59);
  expect(exchange.ms.library).toBeGreaterThan(0);
});

describe('what is recorded', () => {
  test('headers: no bodies', async () => {
    const { exchange } = await ask({ content: 'secret plans' }, { record: 'headers' });
    expect(JSON.stringify(exchange)).not.toMatch(/secret plans|widgets/);
    expect(exchange.request).toMatchObject({ bodyOmitted: 'record', headers: { accept: 'application/json' } });
    expect(exchange.response).toMatchObject({ status: 200, bodyOmitted: 'record' });
    expect(exchange.usage).toMatchObject({ total: expect.any(Number) });
  });

  test('none: no exchange, of failed attempts neither', async () => {
    expect((await ask({ content: 'hi' }, { record: 'none' })).exchange).toBeUndefined();
    const server = await startOpenAiServer([{ status: 500 }]);
    open.push(server);
    const context = attempt();
    const model = openaiModel({ baseURL: server.url, apiKey: 'any', model: 'm', record: 'none' });
    await expect(model.call(saying('hi'), context)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(context.kept).toEqual([]);
  });

  test('what the mask leaves', async () => {
    const mask = (exchange: Exchange): Exchange => ({
      ...exchange,
      request: { ...exchange.request, body: 'masked', headers: {} },
    });
    const { exchange } = await ask({ content: 'hi' }, { mask });
    expect(exchange.request).toMatchObject({ body: 'masked', headers: {} });
    expect(exchange.response?.body).toMatchObject({ choices: [{}] });
  });

  test.each<[string, (exchange: Exchange) => Exchange]>([
    [
      'throws',
      () => {
        throw new Error('oops');
      },
    ],
    ['returns nothing', () => undefined as never],
    ['returns what is no exchange', () => ({ attempt: 'one' }) as never],
  ])('nothing that could be masked, where the mask %s; the reply is not lost', async (_, mask) => {
    const { exchange, reply } = await ask({ content: 'hello there' }, { mask });
    expect(reply.content).toBe('hello there');
    expect(JSON.stringify(exchange)).not.toMatch(/hello there|widgets|127\.0\.0\.1/);
    expect(exchange).toMatchObject({ attempt: 1, request: { url: 'not recorded', headers: {}, bodyOmitted: 'mask' } });
  });
});

describe('settings', () => {
  const KEYS = ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'] as const;
  const before = Object.fromEntries(KEYS.map((key) => [key, process.env[key]]));
  beforeEach(() => KEYS.forEach((key) => delete process.env[key]));
  afterAll(() => Object.entries(before).forEach(([key, value]) => value !== undefined && (process.env[key] = value)));

  test('come from the environment as it is when the model is made', async () => {
    const server = await startOpenAiServer([{ content: 'hi' }], { apiKey: 'from-the-environment' });
    open.push(server);
    Object.assign(process.env, {
      OPENAI_API_KEY: 'from-the-environment',
      OPENAI_BASE_URL: server.url,
      OPENAI_MODEL: 'm1',
    });
    const model = openaiModel();
    KEYS.forEach((key) => delete process.env[key]);
    expect(await model.call(saying('hi'), attempt())).toMatchObject({ content: 'hi', model: 'm1' });
    expect(model.provider).toBe(new URL(server.url).host);
    expect(openaiModel({ apiKey: 'k', model: 'm', provider: 'mine' }).provider).toBe('mine');
  });

  test.each<[string, OpenAiModelOptions, string, RegExp]>([
    ['key', { model: 'm' }, 'MODEL_NOT_CONFIGURED', /no key: set the variable OPENAI_API_KEY/],
    ['model', { apiKey: 'k' }, 'MODEL_NOT_CONFIGURED', /no model: set the variable OPENAI_MODEL/],
    [
      'key and model',
      { apiKey: '', model: '' },
      'MODEL_NOT_CONFIGURED',
      /OPENAI_API_KEY.*OPENAI_MODEL.*OPENAI_BASE_URL/,
    ],
    ['good base URL', { apiKey: 'k', model: 'm', baseURL: 'api.example.com' }, 'INVALID_OPTION', /baseURL/],
    [
      'good record level',
      { apiKey: 'k', model: 'm', record: 'some' as never },
      'INVALID_OPTION',
      /"full", "headers", "none"/,
    ],
    ['good timeout', { apiKey: 'k', model: 'm', timeout: 0 }, 'INVALID_OPTION', /timeout/],
  ])('without a %s are told of at once', (_, options, code, message) => {
    const make = (): unknown => openaiModel(options);
    expect(make).toThrow(GraphDefinitionError);
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  test('a user and password in the base URL are refused without being repeated', () => {
    const make = (): unknown =>
      openaiModel({ apiKey: 'k', model: 'm', baseURL: 'https://ana:swordfish@example.com/v1' });
    expect(make).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.not.stringMatching(/swordfish/) }),
    );
  });

  test('a query in the base URL goes with every request', async () => {
    const server = await startOpenAiServer([{ content: 'hi' }]);
    open.push(server);
    const model = openaiModel({ baseURL: `${server.url}?api-version=2026-01-01`, apiKey: 'k', model: 'm' });
    await model.call(saying('hi'), attempt());
    expect(server.requests[0]?.path).toBe('/v1/chat/completions?api-version=2026-01-01');
  });
});
