import { Client, Connection } from '@temporalio/client';
import { Command, DecisionRefusedError, ThreadError } from 'abeyance';
import { GraphClient } from 'abeyance/client';
import { ask, ask_twice, gate, two_gates } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { order } from '../support/graphs';
import { Latches } from '../support/latches';
import { onServer, testServer } from '../support/on-server';

const latches = new Latches();
const server = onServer(() => ({ nodes: askingNodes(latches) }));

async function paused(graph: typeof ask | typeof two_gates | typeof gate | typeof ask_twice): Promise<string> {
  const threadId = server.threadId(graph.name);
  await server.graphs.invoke(graph as typeof ask, {}, { threadId });
  return threadId;
}

const thrownBy = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a decision that cannot be', () => {
  it('on a thread nobody knows says so', async () => {
    const thread = server.graphs.thread(ask, 'no-such-thread');
    const calls = [thread.approve(), thread.resume(1, { question: '1.ask:0' }), thread.getState(), thread.decisions()];
    for (const error of await Promise.all([...calls, thread.untilStopped()].map(thrownBy))) {
      expect(error).toBeInstanceOf(ThreadError);
      expect(error).toMatchObject({ code: 'THREAD_UNKNOWN', threadId: 'no-such-thread' });
      expect(error.message).toContain('There is no thread "no-such-thread"');
    }
  });

  it('on a finished thread says that it has ended, with or without a target', async () => {
    const threadId = await paused(ask);
    const thread = server.graphs.thread(ask, threadId);
    await thread.resume(1);
    await thread.untilStopped();
    for (const options of [{}, { question: '1.ask:0' }, { node: 'ask' }]) {
      const error = await thrownBy(thread.approve(options));
      expect(error).toMatchObject({ code: 'THREAD_FINISHED', threadId });
      expect(error.message).toMatch(/has ended.*getState.*invoke/);
    }
  });

  it('says who settled the question before', async () => {
    const threadId = await paused(ask_twice);
    const thread = server.graphs.thread(threadId);
    await thread.approve({ by: 'ana' });
    await thread.untilStopped();
    const error = await thrownBy(thread.deny({ question: '1.ask:0', by: 'ben' }));
    expect(error).toBeInstanceOf(DecisionRefusedError);
    expect(error).toMatchObject({ code: 'QUESTION_SETTLED', open: [{ id: '1.ask:1', node: 'ask', value: 'second?' }] });
    expect(error.message).toMatch(/approved by ana at \d{4}-/);
  });

  test.each<[string, object, string]>([
    ['of a question that is not there', { question: '0.ask:0' }, 'QUESTION_UNKNOWN'],
    ['of a node that is not there', { node: 'nobody' }, 'QUESTION_UNKNOWN'],
    ['of a question that has changed', { question: '1.ask:0', digest: 'stale' }, 'QUESTION_CHANGED'],
    ['with a question and a node', { question: '1.ask:0', node: 'ask' }, 'DECISION_MALFORMED'],
    ['with something nobody knows', { who: 'ana' }, 'DECISION_MALFORMED'],
    ['by nobody', { by: '' }, 'DECISION_MALFORMED'],
  ])('%s is refused, and the question stays open', async (_, options, code) => {
    const threadId = await paused(ask);
    const thread = server.graphs.thread(ask, threadId);
    expect(await thrownBy(thread.approve(options))).toMatchObject({ code, name: 'DecisionRefusedError' });
    expect(await thread.getState()).toMatchObject({ status: 'waiting', next: ['ask'] });
    await thread.resume('fine');
    expect(await thread.untilStopped()).toEqual({ answer: 'fine' });
  });

  test.each([
    ['a Date', new Date()],
    ['a function', () => 1],
    ['NaN', Number.NaN],
    ['a BigInt', 1n],
  ])('with an answer that JSON cannot carry is not sent: %s', async (_, value) => {
    const threadId = await paused(ask);
    const thread = server.graphs.thread(ask, threadId);
    expect(await thrownBy(thread.resume(value))).toMatchObject({ code: 'STATE_NOT_JSON' });
    expect(await thread.decisions()).toEqual([]);
  });

  it('before any question has opened is refused when it is bare', async () => {
    const threadId = server.threadId('order');
    latches.close(threadId);
    const thread = await server.graphs.start(order, { order_total: 1 }, { threadId });
    const error = await thrownBy(thread.approve());
    expect(error).toMatchObject({ code: 'NOTHING_PENDING' });
    expect(error.message).toContain('decide ahead by naming the question or its node');
    expect(await thread.approve({ node: 'place_order' })).toEqual({ kind: 'kept', until: 'place_order' });
    latches.open(threadId);
    expect(await thread.untilStopped()).toEqual({ order_total: 1, approved: true });
  });
});

describe('with two questions open', () => {
  it('a bare decision is refused and names both, and both stay open', async () => {
    const threadId = await paused(two_gates);
    const thread = server.graphs.thread(two_gates, threadId);
    const bare = [
      thread.approve(),
      thread.resume(1),
      server.graphs.invoke(two_gates, new Command({ resume: 1 }), { threadId }),
    ];
    for (const error of await Promise.all(bare.map(thrownBy))) {
      expect(error).toMatchObject({ code: 'ANSWER_AMBIGUOUS', open: [{ id: '1.left:0' }, { id: '1.right:0' }] });
      expect(error.message).toContain('1.left:0, 1.right:0');
    }
    expect((await thread.getState()).interrupts.map(({ id }) => id)).toEqual(['1.left:0', '1.right:0']);
  });

  it('each is answered by its node, its id, or all with a map', async () => {
    const one = server.graphs.thread(two_gates, await paused(two_gates));
    await one.resume(0, { node: 'left' });
    await one.resume('', { question: '1.right:0' });
    expect(await one.untilStopped()).toEqual({ left: 0, right: '' });
    const threadId = await paused(two_gates);
    const all = new Command({ resume: { '1.left:0': false, '1.right:0': null } });
    expect(await server.graphs.invoke(two_gates, all, { threadId })).toEqual({ left: false, right: null });
  });

  it('a map with one bad answer changes nothing', async () => {
    const thread = server.graphs.thread(two_gates, await paused(two_gates));
    expect(await thrownBy(thread.resume({ '1.left:0': 1, '1.middle:0': 2 }))).toMatchObject({
      code: 'QUESTION_UNKNOWN',
    });
    expect((await thread.getState()).interrupts).toHaveLength(2);
  });
});

describe('a decision sent more than once', () => {
  it('under one id has one effect and one reply', async () => {
    const threadId = await paused(ask_twice);
    const thread = server.graphs.thread(ask_twice, threadId);
    const send = (): Promise<unknown> => thread.resume('once', { question: '1.ask:0', decisionId: 'd-1', by: 'ana' });
    const replies = [await send(), await send(), ...(await Promise.all([send(), send()]))];
    for (const reply of replies) expect(reply).toEqual({ kind: 'accepted', questions: ['1.ask:0'] });
    expect(await thread.untilStopped()).toMatchObject({ first: 'unanswered', __interrupt__: [{ id: '1.ask:1' }] });
    expect(await thread.decisions()).toHaveLength(1);
  });

  it('under one id without a target is for what it was for the first time', async () => {
    const thread = server.graphs.thread(ask_twice, await paused(ask_twice));
    const send = (): Promise<unknown> => thread.resume('once', { decisionId: 'd-1', by: 'ana' });
    const reply = await send();
    await thread.untilStopped();
    expect(await send()).toEqual(reply);
    expect(await thread.untilStopped()).toMatchObject({ second: 'unanswered', __interrupt__: [{ id: '1.ask:1' }] });
  });

  it('under one id but saying something else is refused', async () => {
    const thread = server.graphs.thread(ask_twice, await paused(ask_twice));
    await thread.resume(1, { question: '1.ask:0', decisionId: 'd-1' });
    const error = await thrownBy(thread.resume(2, { question: '1.ask:0', decisionId: 'd-1' }));
    expect(error).toMatchObject({ code: 'DECISION_ID_REUSED', message: expect.stringContaining('d-1') });
  });

  it('by two people at once is accepted once, and the other is told who was first', async () => {
    const threadId = await paused(gate);
    const deciding = ['ana', 'ben'].map((by) => server.graphs.thread(threadId).approve({ question: '2.gate:0', by }));
    const settled = await Promise.allSettled(deciding);
    const winner = settled.findIndex(({ status }) => status === 'fulfilled');
    const lost = settled.filter((one) => one.status === 'rejected');
    expect(lost).toHaveLength(1);
    const { code, message } = lost[0]?.reason as DecisionRefusedError;
    expect(['QUESTION_SETTLED', 'THREAD_FINISHED']).toContain(code);
    if (code === 'QUESTION_SETTLED') expect(message).toContain(`approved by ${['ana', 'ben'][winner]}`);
    expect(await server.graphs.thread(threadId).untilStopped()).toMatchObject({
      decision: { by: ['ana', 'ben'][winner] },
    });
  });
});

it('a client that knows nothing but the id of a thread can look at it and decide', async () => {
  const threadId = await paused(gate);
  const { address, namespace } = testServer();
  const connection = await Connection.connect({ address });
  const elsewhere = new GraphClient(new Client({ connection, namespace }), { taskQueue: 'any' }).thread(threadId);
  expect(await elsewhere.getState()).toMatchObject({
    interrupts: [{ id: '2.gate:0', value: { question: 'go ahead?' } }],
  });
  expect(await elsewhere.deny({ by: 'ana', note: 'no' })).toEqual({ kind: 'accepted', questions: ['2.gate:0'] });
  expect(await elsewhere.untilStopped()).toEqual({ decision: { type: 'deny', by: 'ana', note: 'no' } });
  await connection.close();
});
