import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { WorkflowFailedError } from '@temporalio/client';
import { GraphRunError } from 'abeyance';
import {
  implementTool,
  openaiModel,
  type Exchange,
  type ModelRecord,
  type OpenAiModelOptions,
} from 'abeyance/activity';
import { InMemoryGraphs, startOpenAiServer, type OpenAiAnswer, type OpenAiServer } from 'abeyance/testing';
import { retryAfterOf } from '../../src/activities/retry-after';
import { eventually } from '../support/eventually';
import { failureDetailsOf, historyText, recordsOf, textOf } from '../support/history-text';
import { chat, errands, placeOrder, strict_errands } from '../support/model-graphs';
import { attempt, ModelOfThread, saying } from '../support/model-of-thread';
import { onServer } from '../support/on-server';

const KEY = 'sk-test-1234567890-abcdef';
const INPUT = { messages: 'Order 500 widgets.' };

const planner = new ModelOfThread();
const dependencies = {
  graphs: [chat, errands, strict_errands],
  models: { planner },
  tools: [implementTool(placeOrder, () => 'ordered')],
};
const temporal = onServer(() => dependencies, { silent: true });

const open: OpenAiServer[] = [];
afterAll(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** A thread whose model is served by these answers. */
async function threadServedBy(
  answers: readonly OpenAiAnswer[],
  options: OpenAiModelOptions = {},
): Promise<{ threadId: string; server: OpenAiServer }> {
  const server = await startOpenAiServer(answers);
  open.push(server);
  const threadId = temporal.threadId('chat');
  planner.set(threadId, openaiModel({ baseURL: server.url, apiKey: KEY, model: 'm', ...options }));
  return { threadId, server };
}

async function failureOf(threadId: string): Promise<GraphRunError> {
  const failure: unknown = await temporal.graphs.invoke(chat, INPUT, { threadId }).catch((error: unknown) => error);
  if (!(failure instanceof GraphRunError)) throw new Error('the run did not fail', { cause: failure });
  return failure;
}

async function exchangesOf(threadId: string): Promise<readonly Exchange[]> {
  const [record] = (await recordsOf(temporal.client, threadId)) as ModelRecord[];
  return record?.exchanges ?? [];
}

const OK: OpenAiAnswer = { content: 'Done.' };
const error = (message: string, more: object = {}): OpenAiAnswer['error'] => ({ message, ...more });

const TRIED_AGAIN: [string, OpenAiAnswer, string?][] = [
  ...[408, 409, 425, 429, 500, 502, 503, 504, 529].map((status): [string, OpenAiAnswer] => [
    `status ${status}`,
    { status, error: error('try again') },
  ]),
  ['a quota that is named like a context', { status: 429, error: error('too many tokens per minute') }],
  ['an HTML page of a gateway', { status: 502, body: '<html>Bad Gateway</html>' }],
  ['a connection cut before anything came', { cut: 'before' }],
  ['a connection cut within the body', { ...OK, cut: 'within' }],
  ['broken JSON', { body: '{"choices": [' }, 'MODEL_REPLY_INVALID'],
  ['an empty body', { body: '' }, 'MODEL_REPLY_INVALID'],
  ['JSON without a message', { body: { choices: [] } }, 'MODEL_REPLY_INVALID'],
  ['an error within a 200', { body: { error: { message: 'upstream is down', code: 503 } } }],
];

const NOT_TRIED_AGAIN: [string, OpenAiAnswer, string, RegExp][] = [
  ...[400, 401, 402, 403, 404, 405, 413, 422].map((status): [string, OpenAiAnswer, string, RegExp] => [
    `status ${status}`,
    { status, error: error('no such luck') },
    'MODEL_REFUSED',
    /no such luck/,
  ]),
  ['a key that is refused', { status: 401, error: error('bad key') }, 'MODEL_REFUSED', /OPENAI_API_KEY/],
  ['a model that is unknown', { status: 404, body: { detail: 'no model' } }, 'MODEL_REFUSED', /no model.*baseURL/],
  ['a redirect', { status: 308, headers: { location: 'https://example.com/' } }, 'MODEL_REFUSED', /not followed/],
  [
    'a context too long, by code',
    { status: 400, error: error('long', { code: 'context_length_exceeded' }) },
    'MODEL_CONTEXT_EXCEEDED',
    /shorten/,
  ],
  [
    'a context too long, by its words',
    { status: 400, body: { object: 'error', message: "This model's maximum context length is 8192 tokens" } },
    'MODEL_CONTEXT_EXCEEDED',
    /8192/,
  ],
  [
    'a content filter, by code',
    { status: 400, error: error('no', { code: 'content_filter' }) },
    'MODEL_CONTENT_FILTERED',
    /change it/,
  ],
  [
    'a content filter, by what is inside',
    { status: 400, error: error('no', { innererror: { code: 'ResponsibleAIPolicyViolation' } }) },
    'MODEL_CONTENT_FILTERED',
    /filter/,
  ],
  [
    'a reply that a content filter ended',
    { content: 'I was go', finishReason: 'content_filter' },
    'MODEL_CONTENT_FILTERED',
    /ended its reply/,
  ],
  [
    'an error within a 200 that is ours',
    { body: { error: { message: 'too long a name', code: 400 } } },
    'MODEL_REFUSED',
    /too long a name/,
  ],
];

describe('on a Temporal server', () => {
  test.each(TRIED_AGAIN)('%s is tried again, and stays on record', async (_, answer, code = 'MODEL_UNAVAILABLE') => {
    const { threadId, server } = await threadServedBy([answer, OK]);
    const { messages } = await temporal.graphs.invoke(chat, INPUT, { threadId });
    expect(messages.at(-1)).toMatchObject({ role: 'ai', content: 'Done.' });
    expect(server.requests).toHaveLength(2);
    const exchanges = await exchangesOf(threadId);
    expect(exchanges).toMatchObject([
      { attempt: 1, error: { code } },
      { attempt: 2, response: { status: 200 } },
    ]);
    expect(exchanges[0]?.request.headersFrom).toBe('wire');
    if (answer.status) expect(exchanges[0]?.response?.status).toBe(answer.status);
    if (answer.cut === 'before') expect(exchanges[0]?.response).toBeUndefined();
    if (answer.cut === 'within') expect(exchanges[0]?.response).toMatchObject({ cut: true, body: expect.any(String) });
  });

  test.each(NOT_TRIED_AGAIN)('%s is not tried again', async (_, answer, code, message) => {
    const { threadId, server } = await threadServedBy([answer, OK]);
    expect(await failureOf(threadId)).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(server.requests).toHaveLength(1);
    const [mark, rest] = await failureDetailsOf(temporal.client, threadId);
    expect(mark).toMatchObject({ abeyance: true, node: 'agent' });
    expect(rest.exchanges).toMatchObject([{ attempt: 1, error: { code } }]);
  });

  test('a service that cannot be reached is tried again, and the failure tells what to do', async () => {
    const port = await freePort();
    const { threadId } = await threadServedBy([], { baseURL: `http://127.0.0.1:${port}/v1` });
    const failure = await failureOf(threadId);
    expect(failure.code).toBe('MODEL_UNAVAILABLE');
    expect(failure.message).toMatch(/ECONNREFUSED.*check baseURL/);
    const [, { exchanges }] = await failureDetailsOf(temporal.client, threadId);
    expect(exchanges).toMatchObject(
      [1, 2, 3].map((tried) => ({ attempt: tried, error: { code: 'MODEL_UNAVAILABLE' } })),
    );
  });

  test('a timeout is tried again', async () => {
    const { threadId, server } = await threadServedBy([{ after: 'never' }, OK], { timeout: 100 });
    await temporal.graphs.invoke(chat, INPUT, { threadId });
    expect(await exchangesOf(threadId)).toMatchObject([
      { error: { message: expect.stringContaining('longer than 100 ms') } },
      { response: { status: 200 } },
    ]);
    await eventually(() => expect(server.requests[0]?.aborted).toBe(true));
  });

  test('three failed attempts and their bodies are listed before the fourth', async () => {
    const { threadId } = await threadServedBy([{ status: 500, error: error('one') }, { cut: 'before' }, OK]);
    await temporal.graphs.invoke(chat, INPUT, { threadId });
    const exchanges = await exchangesOf(threadId);
    expect(exchanges.map(({ attempt: tried }) => tried)).toEqual([1, 2, 3]);
    expect(exchanges[0]?.response?.body).toEqual({ error: { message: 'one' } });
    expect(exchanges.map(({ request }) => (request.body as any).messages[0].content)).toEqual(
      Array(3).fill('Order 500 widgets.'),
    );
  });

  test('what was tried lies in the failure once the attempts are used up, large as it may be', async () => {
    const big = 'x'.repeat(150_000);
    const { threadId } = await threadServedBy(Array.from({ length: 3 }, () => ({ status: 503, error: error(big) })));
    const { code, message } = await failureOf(threadId);
    expect(code).toBe('MODEL_UNAVAILABLE');
    expect(message.length).toBeLessThan(1000);
    const [, { exchanges }] = await failureDetailsOf(temporal.client, threadId);
    expect(exchanges.map((one: Exchange) => (one.response?.body as any).error.message.length)).toEqual(
      Array(3).fill(150_000),
    );
  });

  test('attempts that are too large together lose their bodies, the oldest first, and say so', async () => {
    const big = { status: 503, error: error('x'.repeat(450_000)) };
    const { threadId } = await threadServedBy([big, big, { content: 'y'.repeat(400_000) }]);
    await temporal.graphs.invoke(chat, INPUT, { threadId });
    const exchanges = await exchangesOf(threadId);
    expect(exchanges.map(({ response }) => response?.bodyOmitted)).toEqual(['size', undefined, undefined]);
    expect(exchanges[0]).toMatchObject({ request: { bodyOmitted: 'size' }, response: { status: 503 } });
    expect(JSON.stringify(exchanges).length).toBeLessThan(1_000_000);
  });

  test('the next attempt comes when the provider asks for it', async () => {
    const { threadId, server } = await threadServedBy([{ status: 429, headers: { 'retry-after': '600' } }, OK]);
    const thread = await temporal.graphs.start(chat, INPUT, { threadId });
    const handle = temporal.client.workflow.getHandle(threadId);
    const pending = await eventually(async () => {
      const [activity] = (await handle.describe()).raw.pendingActivities ?? [];
      if (!activity?.lastFailure || !activity.scheduledTime) throw new Error('no attempt has failed yet');
      return activity;
    });
    expect(Number(pending.currentRetryInterval?.seconds)).toBe(600);
    expect(textOf(pending)).toContain('It asks to wait 600 s.');
    expect(server.requests).toHaveLength(1);
    await handle.terminate();
    await expect(thread.untilStopped()).rejects.toMatchObject({ code: 'RUN_TERMINATED' });
  });

  test('cancelling the run hangs up', async () => {
    const { threadId, server } = await threadServedBy([{ after: 'never' }, OK]);
    await temporal.graphs.start(chat, INPUT, { threadId });
    await eventually(() => expect(server.requests).toHaveLength(1));
    const handle = temporal.client.workflow.getHandle(threadId);
    await handle.cancel();
    await eventually(() => expect(server.requests[0]?.aborted).toBe(true));
    await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    expect(server.requests).toHaveLength(1);
  });

  test('a long call heartbeats: it outlives its heartbeat timeout', async () => {
    const { threadId, server } = await threadServedBy([{ ...OK, after: 1500 }]);
    await temporal.graphs.invoke(chat, INPUT, { threadId });
    expect(server.requests).toHaveLength(1);
    expect((await exchangesOf(threadId))[0]?.ms.provider).toBeGreaterThan(1490);
  });
});

describe('in memory', () => {
  const graphs = new InMemoryGraphs(dependencies);

  test.each(TRIED_AGAIN)('%s is tried again', async (_, answer, code = 'MODEL_UNAVAILABLE') => {
    const { threadId, server } = await threadServedBy([answer, OK]);
    const { messages } = await graphs.invoke(chat, INPUT, { threadId });
    expect(messages.at(-1)?.content).toBe('Done.');
    expect(server.requests).toHaveLength(2);
    const used = await threadServedBy([answer, answer, answer]);
    await expect(graphs.invoke(chat, INPUT, { threadId: used.threadId })).rejects.toMatchObject({ code });
    expect(used.server.requests).toHaveLength(3);
  });

  test.each(NOT_TRIED_AGAIN)('%s is not tried again', async (_, answer, code, message) => {
    const { threadId, server } = await threadServedBy([answer, OK]);
    const failing = graphs.invoke(chat, INPUT, { threadId });
    await expect(failing).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(server.requests).toHaveLength(1);
  });

  test('each attempt sees what went over the wire before', async () => {
    const { threadId, server } = await threadServedBy([]);
    const seen: number[] = [];
    const live = openaiModel({ baseURL: server.url, apiKey: KEY, model: 'm' });
    const failing = openaiModel({ baseURL: `http://127.0.0.1:${await freePort()}/v1`, apiKey: KEY, model: 'm' });
    planner.set(threadId, {
      provider: 'mine',
      call: (request, context) => {
        seen.push(context.earlierExchanges.length);
        return (context.attempt < 3 ? failing : live).call(request, context);
      },
    });
    await expect(graphs.invoke(chat, INPUT, { threadId })).rejects.toMatchObject({ code: 'MODEL_REFUSED' });
    expect(seen).toEqual([0, 1, 2]);
  });
});

describe('secrets', () => {
  const SECRETS = {
    key: KEY,
    header: 'header-secret-4711',
    cookie: 'cookie-secret-4712',
    query: 'query/secret=4713',
    signature: 'signature-secret-4714',
    proxy: 'proxy-secret-4715',
    password: 'password-secret-4716',
    newCookie: 'new-cookie-secret-4717',
  };
  const options = (url: string): OpenAiModelOptions => ({
    baseURL: `${url}?api-key=${encodeURIComponent(SECRETS.query)}&sig=${SECRETS.signature}&api-version=7`,
    defaultHeaders: {
      'api-key': SECRETS.header,
      cookie: `session=${SECRETS.cookie}`,
      'proxy-authorization': `Basic ${Buffer.from(`ana:${SECRETS.password}`).toString('base64')}`,
      'x-proxy-token': SECRETS.proxy,
    },
  });
  // A provider that repeats all it was told, and sets a cookie.
  const chatty = (status: number): OpenAiAnswer => ({
    status,
    headers: {
      'set-cookie': [`a=${SECRETS.newCookie}; HttpOnly`, 'b=2'],
      'x-you-sent': KEY,
      location: `/?key=${SECRETS.query}`,
    },
    body: {
      error: { message: `Incorrect API key provided: ${KEY}. ${Object.values(SECRETS).join(' ')}` },
      [KEY]: [{ authorization: `Bearer ${KEY}` }],
    },
  });

  test('are in no part of the history, whatever the provider repeats', async () => {
    const server = await startOpenAiServer([
      chatty(500),
      { ...chatty(500), body: `no JSON: ${Object.values(SECRETS).join(' ')}` },
      OK,
    ]);
    open.push(server);
    const { threadId } = await threadServedBy([], options(server.url));
    await temporal.graphs.invoke(chat, INPUT, { threadId });
    const { headers, path } = server.requests[0] ?? {};
    for (const secret of [SECRETS.key, SECRETS.header, SECRETS.cookie, SECRETS.proxy, SECRETS.signature])
      expect(JSON.stringify({ headers, path })).toContain(secret);
    const history = await historyText(temporal.client, threadId);
    expect(history).toContain('Incorrect API key provided: not recorded');
    for (const secret of forms(SECRETS)) expect(history).not.toContain(secret);
    const [exchange] = await exchangesOf(threadId);
    expect(exchange?.request.url).toBe(
      `${server.url}/chat/completions?api-key=not recorded&sig=not recorded&api-version=7`,
    );
    expect(exchange?.request.headers).toMatchObject({
      authorization: 'not recorded',
      'api-key': 'not recorded',
      cookie: 'not recorded',
      'proxy-authorization': 'not recorded',
      'x-proxy-token': 'not recorded',
      accept: 'application/json',
    });
    expect(exchange?.response?.headers).toMatchObject({
      'set-cookie': 'not recorded',
      'x-you-sent': 'not recorded',
      location: '/?key=not recorded',
    });
  });

  test('are not in the failure of a run, nor in what a pending attempt shows', async () => {
    const server = await startOpenAiServer([
      { ...chatty(429), headers: { ...chatty(429).headers, 'retry-after': '600' } },
    ]);
    const refusing = await startOpenAiServer([chatty(401)]);
    open.push(server, refusing);
    const waiting = await threadServedBy([], options(server.url));
    const handle = temporal.client.workflow.getHandle(waiting.threadId);
    await temporal.graphs.start(chat, INPUT, { threadId: waiting.threadId });
    const shown = await eventually(async () => {
      const described = textOf((await handle.describe()).raw);
      expect(described).toContain('MODEL_UNAVAILABLE');
      return described;
    });
    await handle.terminate();
    const failed = await threadServedBy([], options(refusing.url));
    const { message } = await failureOf(failed.threadId);
    expect(message).toContain('Incorrect API key provided: not recorded');
    for (const secret of forms(SECRETS)) {
      expect(shown).not.toContain(secret);
      expect(message).not.toContain(secret);
      expect(await historyText(temporal.client, failed.threadId)).not.toContain(secret);
    }
  });

  test('are in no message of a fault on the way', async () => {
    const fetch = async (): Promise<never> => {
      throw new TypeError(`cannot fetch https://ana:${SECRETS.password}@proxy with ${KEY}`);
    };
    const model = openaiModel({ ...options('http://127.0.0.1:1/v1'), apiKey: KEY, model: 'm', fetch });
    const context = attempt();
    const thrown: unknown = await model.call(saying('hi'), context).catch((reason: unknown) => reason);
    for (const secret of forms(SECRETS)) {
      expect(String(thrown)).not.toContain(secret);
      expect(JSON.stringify(context.kept)).not.toContain(secret);
    }
  });
});

function forms(secrets: Readonly<Record<string, string>>): string[] {
  return Object.values(secrets).flatMap((secret) => [secret, encodeURIComponent(secret)]);
}

test.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': '0' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-3' }, undefined],
  [{ 'retry-after': 'Mon, 30 Nov 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Mon, 30 Nov 2026 11:00:00 GMT' }, undefined],
  [{ 'retry-after': '99999999' }, 86_400_000],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after-ms': 'x', 'retry-after': '7' }, 7000],
])('of %j the wait is %s ms', (headers, wait) => {
  expect(retryAfterOf(headers, Date.parse('2026-11-30T12:00:00Z'))).toBe(wait);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
