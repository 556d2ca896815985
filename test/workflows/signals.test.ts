import type { DecisionRecord } from 'abeyance';
import { ask, ask_twice, gate, two_gates } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { eventually } from '../support/eventually';
import { order } from '../support/graphs';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';
import { signal } from '../support/temporal-cli';

const latches = new Latches();
const server = onServer(() => ({ nodes: askingNodes(latches) }));

const BIG = JSON.stringify('x'.repeat(120_000));

async function waiting(graph: typeof ask | typeof gate | typeof order, input = {}): Promise<string> {
  const threadId = server.threadId(graph.name);
  await server.graphs.invoke(graph as typeof ask, input, { threadId });
  return threadId;
}

const resultOf = (threadId: string): Promise<any> => server.client.workflow.result(threadId);

/** The thread's decisions, once there are as many as expected. */
async function decisions(threadId: string, count: number): Promise<readonly DecisionRecord[]> {
  return eventually(async () => {
    const all = await server.graphs.thread(threadId).decisions();
    expect(all).toHaveLength(count);
    return all;
  });
}

describe('the bare temporal command', () => {
  test.each([
    ['approve without input', 'approve', [], true],
    ['approve with null', 'approve', ['null'], true],
    ['approve with who and why', 'approve', ['{"by":"ana","note":"ok"}'], true],
    ['approve with a note as plain text', 'approve', ['"looks good"'], true],
    ['approve whose payload calls itself something else', 'approve', ['{"type":"deny"}'], true],
    ['approve for the question by its id', 'approve', ['{"question":"2.place_order:0"}'], true],
    ['approve for the node', 'approve', ['{"node":"place_order"}'], true],
    ['deny without input', 'deny', [], false],
    ['deny with who', 'deny', ['{"by":"ben"}'], false],
    ['resume with true', 'resume', ['true'], true],
    ['resume with false', 'resume', ['false'], false],
  ])('answers a plain question: %s', async (_, name, payloads, approved) => {
    const threadId = await waiting(order, { order_total: 500 });
    await signal(threadId, name, ...payloads);
    expect(await resultOf(threadId)).toEqual({ order_total: 500, approved });
  });

  test.each([
    ['false', 'false', false],
    ['zero', '0', 0],
    ['an empty string', '""', ''],
    ['an empty list', '[]', []],
    ['an empty object', '{}', {}],
    ['null', 'null', null],
    ['text', '"no, wait"', 'no, wait'],
    ['an object', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['a map of question ids', '{"1.ask:0":"by id"}', 'by id'],
    ['a large text', BIG, JSON.parse(BIG)],
  ])('delivers what resume carries as it is: %s', async (_, payload, answer) => {
    const threadId = await waiting(ask);
    await signal(threadId, 'resume', payload);
    expect(await resultOf(threadId)).toEqual({ answer });
  });

  it('delivers null for a resume without input', async () => {
    const threadId = await waiting(ask);
    await signal(threadId, 'resume');
    expect(await resultOf(threadId)).toEqual({ answer: null });
  });

  it('records who resumed, from the second argument', async () => {
    const threadId = await waiting(ask);
    await signal(threadId, 'resume', '1', '{"by":"ana"}');
    await resultOf(threadId);
    expect(await decisions(threadId, 1)).toMatchObject([
      { decision: { type: 'resume', value: 1, by: 'ana', via: 'signal' }, verdict: { kind: 'accepted' } },
    ]);
  });

  test.each([
    ['approve', [], { type: 'approve' }],
    ['approve', ['{"by":"ana","note":"ok"}'], { type: 'approve', by: 'ana', note: 'ok' }],
    ['approve', ['"fine"'], { type: 'approve', note: 'fine' }],
    ['deny', ['{"by":"ben","note":"too dear"}'], { type: 'deny', by: 'ben', note: 'too dear' }],
    ['resume', ['false', '{"by":"ben"}'], { type: 'deny', by: 'ben' }],
    ['resume', ['{"type":"approve","note":"ok"}'], { type: 'approve', note: 'ok' }],
  ])('hands a gate the whole decision: %s %j', async (name, payloads, decision) => {
    const threadId = await waiting(gate);
    await signal(threadId, name, ...payloads);
    expect(await resultOf(threadId)).toEqual({ decision });
  });

  it('answers several questions at once with a map', async () => {
    const threadId = server.threadId('two-gates');
    await server.graphs.invoke(two_gates, {}, { threadId });
    await signal(threadId, 'resume', '{"1.left:0":0,"1.right:0":null}');
    expect(await resultOf(threadId)).toEqual({ left: 0, right: null });
  });
});

describe('a signal that makes no sense is recorded as refused and changes nothing', () => {
  test.each([
    ['a number', 'approve', [42]],
    ['a list', 'deny', [[]]],
    ['a question that is no text', 'approve', [{ question: 5 }]],
    ['a key nobody knows', 'approve', [{ who: 'ana' }]],
    ['a note of a megabyte', 'approve', ['x'.repeat(1_000_000)]],
    ['a key of a megabyte', 'approve', [{ ['x'.repeat(1_000_000)]: 1 }]],
    ['a question and a node', 'approve', [{ question: '1.ask:0', node: 'ask' }]],
    ['a map with a key that is no question', 'resume', [{ '1.ask:0': 1, other: 2 }]],
    ['details that are text', 'resume', [1, 'ana']],
    ['details of a megabyte', 'resume', [1, 'x'.repeat(1_000_000)]],
    ['details that are a number', 'resume', [1, 5]],
    ['details that are a list', 'resume', [1, []]],
  ])('%s', async (_, name, payloads) => {
    const threadId = await waiting(ask);
    await server.client.workflow.getHandle(threadId).signal(name, ...payloads);
    const [record] = await decisions(threadId, 1);
    expect(record).toMatchObject({
      decision: { type: name, via: 'signal' },
      verdict: { kind: 'refused', code: 'DECISION_MALFORMED', message: expect.stringContaining('Nothing changed.') },
    });
    expect(JSON.stringify(record).length).toBeLessThan(5_000);
    expect(await server.graphs.thread(threadId).getState()).toMatchObject({ status: 'waiting', next: ['ask'] });
    await server.graphs.thread(threadId).approve();
    expect(await resultOf(threadId)).toEqual({ answer: true });
  });

  test.each([
    ['a question that is not there', { question: '1.other:0' }, 'QUESTION_UNKNOWN'],
    ['a node that is not there', { node: 'nobody' }, 'QUESTION_UNKNOWN'],
    ['a digest of another question', { question: '1.ask:0', digest: 'stale' }, 'QUESTION_CHANGED'],
  ])('%s', async (_, payload, code) => {
    const threadId = await waiting(ask);
    await server.client.workflow.getHandle(threadId).signal('approve', payload);
    expect(await decisions(threadId, 1)).toMatchObject([{ decision: payload, verdict: { kind: 'refused', code } }]);
    await server.client.workflow.getHandle(threadId).signal('deny');
    expect(await resultOf(threadId)).toEqual({ answer: false });
  });

  it('a bare one while two questions are open names both, and both stay open', async () => {
    const threadId = server.threadId('two-gates');
    await server.graphs.invoke(two_gates, {}, { threadId });
    await server.client.workflow.getHandle(threadId).signal('approve');
    const [record] = await decisions(threadId, 1);
    expect(record?.verdict).toMatchObject({
      code: 'ANSWER_AMBIGUOUS',
      message: expect.stringContaining('1.left:0, 1.right:0'),
    });
    expect((await server.graphs.thread(threadId).getState()).interrupts).toHaveLength(2);
    await server.graphs.thread(threadId).resume({ '1.left:0': 1, '1.right:0': 2 });
    expect(await resultOf(threadId)).toEqual({ left: 1, right: 2 });
  });

  it('an answer that is none to an approval', async () => {
    const threadId = await waiting(gate);
    await server.client.workflow.getHandle(threadId).signal('resume', 'maybe');
    expect(await decisions(threadId, 1)).toMatchObject([{ verdict: { code: 'ANSWER_INVALID' } }]);
    await server.client.workflow.getHandle(threadId).signal('approve');
    expect(await resultOf(threadId)).toEqual({ decision: { type: 'approve' } });
  });
});

describe('a signal that comes before its question', () => {
  it('is refused and recorded when it is bare, and answers nothing later', async () => {
    const threadId = server.threadId('order');
    latches.close(threadId);
    const thread = await server.graphs.start(order, { order_total: 1 }, { threadId });
    await server.client.workflow.getHandle(threadId).signal('approve');
    const early = await decisions(threadId, 1);
    expect(early).toMatchObject([{ verdict: { kind: 'refused', code: 'NOTHING_PENDING' } }]);
    latches.open(threadId);
    expect(await thread.untilStopped()).toMatchObject({ approved: false, __interrupt__: [{ id: '2.place_order:0' }] });
    await thread.deny();
    expect(await resultOf(threadId)).toEqual({ order_total: 1, approved: false });
  });

  test.each([
    ['its node', { node: 'place_order', by: 'ana' }],
    ['its question', { question: '2.place_order:0', by: 'ana' }],
  ])('is kept when it names %s, and answers', async (_, payload) => {
    const threadId = server.threadId('order');
    latches.close(threadId);
    await server.graphs.start(order, { order_total: 1 }, { threadId });
    await server.client.workflow.getHandle(threadId).signal('approve', payload);
    expect(await decisions(threadId, 1)).toMatchObject([{ decision: payload, verdict: { kind: 'kept' } }]);
    latches.open(threadId);
    expect(await resultOf(threadId)).toEqual({ order_total: 1, approved: true });
    expect(await decisions(threadId, 1)).toMatchObject([
      { verdict: { kind: 'accepted', questions: ['2.place_order:0'] } },
    ]);
  });

  it('answers one question only, however many the node asks', async () => {
    const threadId = server.threadId('ask-twice');
    await server.client.workflow.signalWithStart('ask_twice', {
      taskQueue: server.taskQueue,
      workflowId: threadId,
      args: [{}],
      signal: 'resume',
      signalArgs: ['early', { node: 'ask' }],
    });
    expect(await server.graphs.thread(ask_twice, threadId).untilStopped()).toMatchObject({
      __interrupt__: [{ id: '1.ask:1', value: 'second?' }],
    });
    await server.client.workflow.getHandle(threadId).signal('resume', 'late');
    expect(await resultOf(threadId)).toEqual({ first: 'early', second: 'late' });
  });
});
