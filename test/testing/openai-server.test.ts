import { startOpenAiServer, type OpenAiServer } from 'abeyance/testing';

const open: OpenAiServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(...args: Parameters<typeof startOpenAiServer>): Promise<OpenAiServer> {
  const server = await startOpenAiServer(...args);
  open.push(server);
  return server;
}

function post(server: OpenAiServer, body: unknown, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${server.url}/chat/completions`, { method: 'POST', body: text, ...init });
}

const said = (...roles: string[]): object => ({ model: 'm', messages: roles.map((role) => ({ role, content: 'x' })) });
const contentOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as any).choices[0].message.content;

describe('the server', () => {
  test('answers requests in the order of its script, and fills in what the script leaves out', async () => {
    const server = await start([
      { content: 'one' },
      { toolCalls: [{ name: 'f', args: { a: 1 } }], usage: { total_tokens: 9 } },
    ]);
    const first: any = await (await post(server, said('user'))).json();
    expect(first).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'one' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
      },
    });
    const second: any = await (await post(server, said('user'))).json();
    expect(second.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] },
    });
    expect(second.usage.total_tokens).toBe(9);
    expect(server.requests).toMatchObject([
      { method: 'POST', path: '/v1/chat/completions', body: said('user'), aborted: false },
      { body: said('user') },
    ]);
  });

  test('answers the turns of each conversation, when told to', async () => {
    const server = await start([{ content: 'one' }, { content: 'two' }], { by: 'conversation' });
    expect(await contentOf(await post(server, said('user', 'assistant', 'user')))).toBe('two');
    expect(await contentOf(await post(server, said('user')))).toBe('one');
    expect(await contentOf(await post(server, said('user')))).toBe('one');
  });

  test('asks a script that is a function', async () => {
    const server = await start(({ body }, n) => ({ content: `${n}: ${(body as any).messages[0].content}` }));
    await post(server, said('user'));
    expect(await contentOf(await post(server, said('user')))).toBe('1: x');
  });

  test('streams where the request asks for it: words, tool calls in parts, and usage where it is wanted', async () => {
    const server = await start(() => ({ content: 'one two', toolCalls: [{ name: 'f', args: { a: 1 }, id: 'c' }] }));
    const streamed = async (more: object): Promise<readonly string[]> => {
      const response = await post(server, { ...said('user'), stream: true, ...more });
      expect(response.headers.get('content-type')).toMatch('text/event-stream');
      return [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => data as string);
    };
    const events = await streamed({});
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((data) => JSON.parse(data).choices[0]);
    expect(chunks.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'one ' },
      { content: 'two' },
      { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{"a"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      {},
    ]);
    expect(chunks.at(-1).finish_reason).toBe('tool_calls');
    const withUsage = await streamed({ stream_options: { include_usage: true } });
    expect(JSON.parse(withUsage.at(-2) as string)).toMatchObject({
      choices: [],
      usage: { total_tokens: expect.any(Number) },
    });
  });

  test('says that its script has ended, in a way that nobody tries again', async () => {
    const server = await start([{ content: 'one' }]);
    await post(server, said('user'));
    const ended = await post(server, said('user'));
    expect(ended.status).toBe(400);
    expect(((await ended.json()) as any).error.message).toBe(
      'The script has 1 answers, and none to number 2. Add one to the script of startOpenAiServer.',
    );
  });

  test('refuses what it does not know', async () => {
    const server = await start(() => ({ content: 'hi' }), { apiKey: 'right' });
    const headers = { authorization: 'Bearer right' };
    expect((await post(server, said('user'))).status).toBe(401);
    expect((await post(server, said('user'), { headers })).status).toBe(200);
    expect((await post(server, 'no JSON', { headers })).status).toBe(400);
    expect((await fetch(`${server.url}/models`)).status).toBe(404);
    expect(server.requests).toHaveLength(1);
  });

  test('ends although a caller still waits', async () => {
    const server = await startOpenAiServer([{ after: 'never' }]);
    const waiting = post(server, said('user'));
    while (server.requests.length === 0) await new Promise(setImmediate);
    await server.close();
    await expect(waiting).rejects.toThrow('fetch failed');
  });
});
