import { Command, ThreadError } from 'abeyance';
import { ask, ask_twice, diary } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { picky } from '../support/failing-graphs';
import { failingNodes } from '../support/failing-nodes';
import { order } from '../support/graphs';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';

const latches = new Latches();
const server = onServer(() => ({ nodes: [...askingNodes(latches), ...failingNodes(new Map())] }));

const thrownBy = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('input to a thread that is in use', () => {
  it('is refused while it waits, names the question, and loses nothing', async () => {
    const threadId = server.threadId('order');
    await server.graphs.invoke(order, { order_total: 1 }, { threadId });
    for (const call of ['invoke', 'start'] as const) {
      const error = await thrownBy(server.graphs[call](order, { order_total: 2 }, { threadId }));
      expect(error).toBeInstanceOf(ThreadError);
      expect(error).toMatchObject({ code: 'THREAD_BUSY', threadId });
      expect(error.message).toMatch(/waits for an answer to 2\.place_order:0.*Answer with approve, deny or resume/);
    }
    const thread = server.graphs.thread(order, threadId);
    expect(await thread.getState()).toMatchObject({
      values: { order_total: 1 },
      interrupts: [{ id: '2.place_order:0' }],
    });
    await thread.approve();
    expect(await thread.untilStopped()).toEqual({ order_total: 1, approved: true });
  });

  it('is refused while it runs', async () => {
    const threadId = server.threadId('order');
    latches.close(threadId);
    const thread = await server.graphs.start(order, { order_total: 1 }, { threadId });
    const error = await thrownBy(server.graphs.invoke(order, { order_total: 2 }, { threadId }));
    expect(error).toMatchObject({ code: 'THREAD_BUSY', message: expect.stringContaining('is running') });
    latches.open(threadId);
    expect(await thread.untilStopped()).toMatchObject({ order_total: 1 });
  });

  it('that does not fit is refused before anything is started', async () => {
    const threadId = server.threadId('order');
    const input = { order_total: 'much' } as never;
    expect(await thrownBy(server.graphs.invoke(order, input, { threadId }))).toMatchObject({ code: 'STATE_INVALID' });
    expect(await thrownBy(server.graphs.thread(threadId).getState())).toMatchObject({ code: 'THREAD_UNKNOWN' });
  });
});

it.each(['', 'x'.repeat(1_001), 'é'.repeat(501), 5 as never])(
  'cannot be begun under an id like %p',
  async (threadId) => {
    const begun = server.graphs.start(order, { order_total: 1 }, { threadId });
    await expect(begun).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining('threadId') });
  },
);

describe("another graph's thread", () => {
  it.each([
    ['waits', false],
    ['has ended', true],
  ])('is refused everywhere when it %s', async (_, ended) => {
    const threadId = server.threadId('ask');
    await server.graphs.invoke(ask, {}, { threadId });
    if (ended) {
      await server.graphs.thread(threadId).resume(1);
      await server.graphs.thread(threadId).untilStopped();
    }
    const thread = server.graphs.thread(ask_twice, threadId);
    const calls: [string, Promise<unknown>][] = [
      ['invoke', server.graphs.invoke(ask_twice, {}, { threadId })],
      ['start', server.graphs.start(ask_twice, {}, { threadId })],
      ['command', server.graphs.invoke(ask_twice, new Command({ resume: 1 }), { threadId })],
      ['command by id', server.graphs.invoke(ask_twice, new Command({ resume: { '1.ask:0': 1 } }), { threadId })],
      ['approve', thread.approve()],
      ['approve by node', thread.approve({ node: 'ask' })],
      ['deny by id', thread.deny({ question: '1.ask:0' })],
      ['getState', thread.getState()],
      ['decisions', thread.decisions()],
      ['untilStopped', thread.untilStopped()],
    ];
    const errors = await Promise.all(calls.map(([, promise]) => thrownBy(promise)));
    const codes = errors.map((error, index) => [calls[index]?.[0], error?.code]);
    expect(codes).toEqual(calls.map(([call]) => [call, 'THREAD_OF_OTHER_GRAPH']));
    for (const error of errors) {
      expect(error.message).toContain('runs graph "ask", not "ask_twice". Use another thread id.');
      expect(error.threadId).toBe(threadId);
    }
    expect(await server.graphs.thread(threadId).decisions()).toHaveLength(ended ? 1 : 0);
  });
});

describe('a command', () => {
  it.each([
    ['on a thread nobody knows', 'no-such-thread', 'THREAD_UNKNOWN'],
    ['without a thread', undefined, 'THREAD_UNKNOWN'],
  ])('%s says so', async (_, threadId, code) => {
    const answering = server.graphs.invoke(ask, new Command({ resume: 1 }), { threadId });
    expect(await thrownBy(answering)).toMatchObject({ code });
  });

  it('on a finished thread says that it has ended', async () => {
    const threadId = server.threadId('ask');
    await server.graphs.invoke(ask, {}, { threadId });
    expect(await server.graphs.invoke(ask, new Command({ resume: 1 }), { threadId })).toEqual({ answer: 1 });
    const again = server.graphs.invoke(ask, new Command({ resume: 1 }), { threadId });
    expect(await thrownBy(again)).toMatchObject({ code: 'THREAD_FINISHED' });
  });

  it('with anything but a resume is refused', async () => {
    const command = new Command({ resume: 1, goto: 'ask' });
    const answering = server.graphs.invoke(ask, command, { threadId: 'any' });
    expect(await thrownBy(answering)).toMatchObject({ code: 'DECISION_MALFORMED' });
  });
});

describe('a second run on a finished thread', () => {
  it('goes on from the values of the first, and no id comes twice', async () => {
    const threadId = server.threadId('diary');
    const first = await server.graphs.invoke(diary, { pages: 2 }, { threadId });
    const second = await server.graphs.invoke(diary, { pages: 4 }, { threadId });
    expect(first.lines).toEqual(['line 1', 'line 2']);
    expect(second.lines).toEqual(['line 1', 'line 2', 'line 3', 'line 4']);
    expect(new Set(second.messages.map(({ id }) => id)).size).toBe(4);
    expect(second.messages.slice(0, 2)).toEqual(first.messages);
  });

  it('asks under ids of its own, so an old answer is refused', async () => {
    const threadId = server.threadId('ask');
    const thread = server.graphs.thread(ask, threadId);
    await server.graphs.invoke(ask, {}, { threadId });
    const old = (await thread.getState()).interrupts[0]?.id;
    await thread.resume('first');
    await thread.untilStopped();
    await server.graphs.start(ask, {}, { threadId });
    const { answer, __interrupt__: asked } = await thread.untilStopped();
    expect(answer).toBe('first');
    expect(asked?.[0]?.id).not.toBe(old);
    expect(await thrownBy(thread.approve({ question: old }))).toMatchObject({ code: 'QUESTION_UNKNOWN' });
    await thread.resume('second');
    expect(await thread.untilStopped()).toEqual({ answer: 'second' });
  });

  it.each([{ how: 'start router throws' }, { log: 'bad' }])(
    'that fails on its input leaves the values for a third: %j',
    async (input) => {
      const threadId = server.threadId('picky');
      const thread = server.graphs.thread(picky, threadId);
      const play = async (answer: string): Promise<unknown> => {
        await server.graphs.invoke(picky, { how: 'well' }, { threadId });
        await thread.resume(answer);
        return thread.untilStopped();
      };
      expect(await play('one')).toMatchObject({ value: 'one', log: ['asked'] });
      await expect(server.graphs.invoke(picky, input, { threadId })).rejects.toHaveProperty('code');
      expect(await thread.getState()).toMatchObject({ status: 'failed', values: { value: 'one', log: ['asked'] } });
      expect(await play('two')).toMatchObject({ value: 'two', log: ['asked', 'asked'] });
    },
  );
});

it('takes a recursion limit for one run, up or down', async () => {
  const pages = 30;
  const limited = (recursionLimit?: number, threadId = server.threadId('diary')): Promise<unknown> =>
    server.graphs.invoke(diary, { pages }, { threadId, recursionLimit });
  expect(await thrownBy(limited())).toMatchObject({ code: 'GRAPH_RECURSION_LIMIT', node: 'write' });
  expect(await limited(30)).toMatchObject({ lines: { length: 30 } });
  const threadId = server.threadId('diary');
  expect(await thrownBy(limited(3, threadId))).toMatchObject({ code: 'GRAPH_RECURSION_LIMIT' });
  expect(await limited(27, threadId)).toMatchObject({ lines: { length: 30 } });
});
