import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { Command, INTERRUPT, type GraphRunner } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { MEMO_KEY, type PublishedView } from 'abeyance/workflow';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { Trace, traceOf } from '../../src/trace';
import { childFailureOf } from '../../src/trace/child-events';
import type { HistoryEvent } from '../../src/trace/history-event';
import {
  archive,
  case_file,
  cautious,
  debate,
  doomed,
  expedition,
  guided,
  guarded,
  hearing,
  inquiry,
  reckless,
  shop,
  vigil,
} from '../support/child-graphs';
import { childDependencies } from '../support/child-nodes';
import { eventually } from '../support/eventually';
import { eventsOf, workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';
import { runsOf } from '../support/runs-of';
import { signal } from '../support/temporal-cli';

const ran: string[] = [];
const broken = new Set<string>();
const latches = new Latches();
const server = onServer(() => childDependencies(latches, ran, broken), { silent: true });
const inMemory = new InMemoryGraphs(childDependencies(latches, ran, broken));

const DRIVERS: readonly (readonly [string, () => GraphRunner])[] = [
  ['memory', () => inMemory],
  ['server', () => server.graphs],
];

const QUESTION = '2.review/2.ask:0';
const LOG = (answer: string): string[] => ['before', 'step', 'ask', `after ${answer}`];
const childOf = (threadId: string): string => `${threadId}/2.review`;
const statusOf = async (threadId: string): Promise<string> =>
  (await server.client.workflow.getHandle(threadId).describe()).status.name;

describe.each(DRIVERS)('a subgraph that is to run as a child workflow, driver %s', (_, graphs) => {
  it('asks under the path of its nodes, and carries on where it asked', async () => {
    const threadId = server.threadId('case');
    const paused = await graphs().invoke(case_file, {}, { threadId });
    expect(paused[INTERRUPT]).toEqual([{ id: QUESTION, value: 'fine?' }]);
    const state = await graphs().thread(case_file, threadId).getState();
    expect(state).toMatchObject({ status: 'waiting', next: ['review'] });
    expect(state.interrupts).toMatchObject([{ id: QUESTION, node: 'review/ask', task: '2.review/2.ask' }]);
    expect(state.tasks.map(({ id, name, status, interrupts }) => [id, name, status, interrupts.length])).toEqual([
      ['2.review', 'review', 'waiting', 0],
      ['2.review/2.ask', 'review/ask', 'waiting', 1],
    ]);
    const done = await graphs().invoke(case_file, new Command({ resume: 'yes' }), { threadId });
    expect(done).toEqual({ log: LOG('yes'), verdict: 'yes', draft: '' });
    expect(ran.filter((what) => what.startsWith(threadId) && what.endsWith(' step'))).toHaveLength(1);
  });

  it('is decided by the path of its nodes, and not by its own name', async () => {
    const threadId = server.threadId('case');
    await graphs().invoke(case_file, {}, { threadId });
    const thread = graphs().thread(case_file, threadId);
    await expect(thread.approve({ node: 'review' })).rejects.toMatchObject({ code: 'QUESTION_UNKNOWN' });
    await expect(thread.edit({}, { question: QUESTION })).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    expect(
      await thread.resume('so be it', { node: 'review/ask', by: 'ana', note: 'why not', decisionId: 'd' }),
    ).toEqual({
      kind: 'accepted',
      questions: [QUESTION],
    });
    expect((await thread.untilStopped()).log).toEqual(LOG('so be it'));
    expect((await thread.decisions()).at(-1)).toMatchObject({
      decision: { node: 'review/ask', by: 'ana', note: 'why not', decisionId: 'd', value: 'so be it' },
      verdict: { kind: 'accepted', questions: [QUESTION] },
    });
  });

  it.each([{ node: 'review/ask' }, { question: QUESTION }])('keeps a decision until it asks: %p', async (target) => {
    const threadId = server.threadId('case');
    for (const id of [threadId, childOf(threadId)]) latches.close(id);
    const thread = await graphs().start(case_file, {}, { threadId });
    expect(await thread.approve(target)).toMatchObject({ kind: 'kept' });
    for (const id of [threadId, childOf(threadId)]) latches.open(id);
    expect((await thread.untilStopped()).log).toEqual(LOG('true'));
    expect(await thread.decisions()).toMatchObject([{ verdict: { kind: 'accepted', questions: [QUESTION] } }]);
  });

  it('asks from three graphs deep', async () => {
    const threadId = server.threadId('archive');
    const paused = await graphs().invoke(archive, {}, { threadId });
    expect(paused[INTERRUPT]).toEqual([{ id: `1.file/${QUESTION}`, value: 'fine?' }]);
    const thread = graphs().thread(archive, threadId);
    await thread.resume('deep', { node: 'file/review/ask', by: 'ana' });
    expect((await thread.untilStopped()).log).toEqual(LOG('deep'));
    expect(await thread.decisions()).toMatchObject([{ verdict: { questions: [`1.file/${QUESTION}`] } }]);
  });

  it('runs beside others: a bare answer is refused, a map answers all, those of other graphs too', async () => {
    const threadId = server.threadId('hearing');
    const paused = await graphs().invoke(hearing, {}, { threadId });
    const ids = ['1.gate:0', '1.left/2.ask:0', '1.right/2.ask:0'];
    const thread = graphs().thread(hearing, threadId);
    const started = paused[INTERRUPT]?.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([...(started ?? [])]));
    await eventually(async () => expect((await thread.getState()).interrupts.map(({ id }) => id)).toEqual(ids));
    await expect(thread.approve()).rejects.toMatchObject({ code: 'ANSWER_AMBIGUOUS' });
    const [gate = '', left = '', right = ''] = ids;
    const wrong = thread.resume({ [gate]: 'g', [left]: 'l', '1.right/9.ask:0': 'r' });
    await expect(wrong).rejects.toMatchObject({ code: 'QUESTION_UNKNOWN' });
    const verdict = await thread.resume({ [gate]: 'g', [left]: 'l', [right]: 'r' });
    expect(verdict).toMatchObject({ kind: 'accepted', questions: expect.arrayContaining(ids) });
    expect((await thread.untilStopped()).log).toEqual(['gate g', 'left l', 'right r']);
  });

  it('hands over messages under ids of their own, and what it tells the graph around', async () => {
    const { messages } = await graphs().invoke(debate, {}, { threadId: server.threadId('debate') });
    expect(messages.map(({ id, content }) => `${id}: ${content}`)).toEqual([
      '1.open/0: welcome',
      '2.one/1.say/0: hello',
      '2.one+1/0: bye',
      '3.close/0: the end',
      '3.two/1.say/0: hello',
      '3.two+1/0: bye',
      '4.close/0: the end',
    ]);
  });

  it('fails its node with its own code, which the onError of that node sees', async () => {
    const threadId = server.threadId('shaky');
    broken.add(threadId);
    const failed = graphs().invoke(reckless, {}, { threadId });
    await expect(failed).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'act', message: /out of order/ });
    const handled = server.threadId('shaky');
    broken.add(handled);
    expect((await graphs().invoke(cautious, {}, { threadId: handled })).log).toEqual(['act: NODE_FAILED']);
  });

  it('is answered once by a map of answers that is sent twice', async () => {
    const threadId = server.threadId('hearing');
    const thread = await graphs().start(hearing, {}, { threadId });
    await eventually(async () => expect((await thread.getState()).interrupts).toHaveLength(3));
    const map = { '1.gate:0': 'g', '1.left/2.ask:0': 'l', '1.right/2.ask:0': 'r' };
    const twice = await Promise.all([1, 2].map(() => thread.resume(map, { decisionId: 'once' })));
    for (const verdict of twice) expect(verdict).toMatchObject({ kind: 'accepted' });
    expect((await thread.untilStopped()).log).toEqual(['gate g', 'left l', 'right r']);
    expect(await thread.decisions()).toHaveLength(1);
  });

  it('judges one of two decisions that use one id at once for two of them, and refuses the other', async () => {
    const threadId = server.threadId('hearing');
    const thread = await graphs().start(hearing, {}, { threadId });
    await eventually(async () => expect((await thread.getState()).interrupts).toHaveLength(3));
    const both = await Promise.allSettled(
      ['1.left/2.ask:0', '1.right/2.ask:0'].map((question) => thread.approve({ question, decisionId: 'one' })),
    );
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(both.find((one) => one.status === 'rejected')?.reason).toMatchObject({ code: 'DECISION_ID_REUSED' });
    await eventually(async () => expect((await thread.getState()).interrupts).toHaveLength(2));
    for (const { id } of (await thread.getState()).interrupts) await thread.approve({ question: id });
    expect((await thread.untilStopped()).log).toEqual(['gate true', 'left true', 'right true']);
  });

  it('does not wait beyond a deadline, and says so on record', async () => {
    const threadId = server.threadId('shop');
    await graphs().invoke(shop, {}, { threadId });
    const thread = graphs().thread(shop, threadId);
    await eventually(async () =>
      expect((await thread.getState()).interrupts).toMatchObject([{ id: '1.counter/2.ever:0' }]),
    );
    expect(await thread.decisions()).toMatchObject([
      { decision: { type: 'expire', question: '1.counter/1.moment:0' } },
    ]);
    await expect(thread.approve({ question: '1.counter/1.moment:0' })).rejects.toMatchObject({
      code: 'QUESTION_SETTLED',
      message: expect.stringContaining('expired'),
    });
    await thread.resume('here');
    expect((await thread.untilStopped()).log).toEqual(['timeout', 'here']);
  });

  it('stops before a node of it that the run names', async () => {
    const threadId = server.threadId('case');
    const held = await graphs().invoke(case_file, {}, { threadId, interruptBefore: ['review/ask'] });
    expect(held[INTERRUPT]?.map(({ id }) => id)).toEqual(['2.review/2.ask:~before']);
    const paused = await graphs().invoke(case_file, null, { threadId });
    const state = await graphs().thread(case_file, threadId).getState();
    expect([paused[INTERRUPT]?.[0]?.id, state.next]).toEqual([QUESTION, ['review']]);
  });
});

/** A case file that waits for the answer to its inquiry. */
async function waiting(): Promise<{ readonly threadId: string; readonly childId: string }> {
  const threadId = server.threadId('case');
  await server.graphs.invoke(case_file, {}, { threadId });
  return { threadId, childId: childOf(threadId) };
}

const around = (threadId: string) => server.graphs.thread(case_file, threadId);
const within = (childId: string) => server.graphs.thread(inquiry, childId);

async function traced(threadId: string, graph: AnyGraph): Promise<Trace> {
  const history = await server.client.workflow.getHandle(threadId).fetchHistory();
  const trace = traceOf([JSON.parse(historyToJSON(history))], { graph });
  expect(Trace.parse(trace)).toEqual(trace);
  expect(trace.notes).toEqual([]);
  return trace;
}

describe('a subgraph as a child workflow', () => {
  it('is a workflow of its own type under the thread of the run around', async () => {
    const { threadId, childId } = await waiting();
    const { type, raw, memo } = await server.client.workflow.getHandle(childId).describe();
    expect([type, raw.workflowExecutionInfo?.parentExecution?.workflowId]).toEqual(['inquiry', threadId]);
    expect((memo?.[MEMO_KEY] as PublishedView).questions).toMatchObject([{ id: '2.ask:0', node: 'ask' }]);
    const shown = (await server.client.workflow.getHandle(threadId).describe()).memo?.[MEMO_KEY] as PublishedView;
    expect(shown).toMatchObject({ status: 'waiting', questions: [{ id: QUESTION, node: 'review/ask' }] });
    expect(await eventsOf(server.client, threadId, 'activityTaskScheduledEventAttributes')).toEqual([]);
  });

  it('is answered on its own thread, and the run around learns who did', async () => {
    const { threadId, childId } = await waiting();
    expect(await within(childId).resume('mine', { by: 'bo' })).toMatchObject({ questions: ['2.ask:0'] });
    expect(((await server.client.workflow.result(threadId)) as { log: string[] }).log).toEqual(LOG('mine'));
    expect((await around(threadId).decisions()).map(({ decision, verdict }) => ({ decision, verdict }))).toMatchObject([
      { decision: { by: 'bo', question: QUESTION }, verdict: { kind: 'accepted', questions: [QUESTION] } },
    ]);
    expect(await within(childId).getState()).toMatchObject({
      status: 'done',
      values: { log: ['before', 'step', 'ask'], verdict: 'mine', secret: 'inside' },
    });
  });

  it('keeps an answer from the run around on its own record too', async () => {
    const { threadId, childId } = await waiting();
    await around(threadId).deny({ by: 'ana', note: 'no' });
    await around(threadId).untilStopped();
    const [record, ...more] = await within(childId).decisions();
    expect(more).toEqual([]);
    expect(record?.decision).toMatchObject({ type: 'deny', by: 'ana', note: 'no', via: 'update', question: '2.ask:0' });
  });

  it('is answered once where two people answer at once, each on another thread', async () => {
    for (let round = 0; round < 5; round++) {
      const { threadId, childId } = await waiting();
      const both = await Promise.allSettled([
        around(threadId).resume('ana', { by: 'ana' }),
        within(childId).resume('bo', { by: 'bo' }),
      ]);
      const winners = ['ana', 'bo'].filter((_, index) => both[index]?.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      const refused = both.find((one) => one.status === 'rejected');
      expect(['QUESTION_SETTLED', 'THREAD_FINISHED', 'NOTHING_PENDING']).toContain(refused?.reason.code);
      expect(await server.client.workflow.result(threadId)).toMatchObject({ verdict: winners[0] });
      expect(ran.filter((what) => what === `${childId} answered ${winners[0]}`)).toHaveLength(1);
      const accepted = (await around(threadId).decisions()).filter(({ verdict }) => verdict.kind === 'accepted');
      expect(accepted.map(({ decision }) => decision.by)).toEqual(winners);
    }
  });

  it('is answered by the first of two who answer on the thread around it', async () => {
    const { threadId } = await waiting();
    const both = await Promise.allSettled(
      ['ana', 'bo'].map((by) => around(threadId).resume(by, { by, question: QUESTION })),
    );
    const lost = both.find((one) => one.status === 'rejected');
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(lost?.reason).toMatchObject({ code: 'QUESTION_SETTLED', message: expect.stringContaining(QUESTION) });
  });

  it('is answered once by a decision that is sent twice', async () => {
    const { threadId } = await waiting();
    const twice = [1, 2].map(() => around(threadId).approve({ question: QUESTION, decisionId: 'once' }));
    expect(await Promise.all(twice)).toMatchObject([{ kind: 'accepted' }, { kind: 'accepted' }]);
    await around(threadId).untilStopped();
    expect(await around(threadId).decisions()).toHaveLength(1);
  });

  it('takes signals, also those that wait while no worker is up', async () => {
    const { threadId } = await waiting();
    const second = await waiting();
    await server.stopWorker();
    await signal(threadId, 'approve', JSON.stringify({ by: 'ana' }));
    await signal(second.childId, 'resume', '"at its own door"');
    await server.startWorker();
    expect(await server.client.workflow.result(threadId)).toMatchObject({ verdict: 'true' });
    expect(await server.client.workflow.result(second.threadId)).toMatchObject({ verdict: 'at its own door' });
    for (const id of [threadId, childOf(threadId), second.threadId, second.childId])
      expect(await workflowTaskFailures(server.client, id)).toBe(0);
  });

  it('is cancelled with the run around, which waits for that', async () => {
    const { threadId, childId } = await waiting();
    await server.client.workflow.getHandle(threadId).cancel();
    await eventually(async () => expect(await statusOf(threadId)).toBe('CANCELLED'));
    await expect(around(threadId).untilStopped()).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    expect(await statusOf(childId)).toBe('CANCELLED');
    const closed = (await eventsOf(server.client, threadId, 'childWorkflowExecutionCanceledEventAttributes')).length;
    expect(closed).toBe(1);
  });

  it('is terminated with the run around', async () => {
    const { threadId, childId } = await waiting();
    await server.client.workflow.getHandle(threadId).terminate('enough');
    await eventually(async () => expect(await statusOf(childId)).toBe('TERMINATED'));
  });

  it('fails its node where it is cancelled by itself', async () => {
    const { threadId, childId } = await waiting();
    await server.client.workflow.getHandle(childId).cancel();
    await eventually(async () => expect(await statusOf(threadId)).toBe('FAILED'));
    await expect(around(threadId).untilStopped()).rejects.toMatchObject({ code: 'RUN_CANCELLED', node: 'review' });
  });

  it.each(['terminate', 'cancel'] as const)('ends a pause of the run around where it ends: %s', async (how) => {
    const threadId = server.threadId('guarded');
    latches.close(threadId);
    const thread = await server.graphs.start(guarded, {}, { threadId });
    await eventually(async () => expect(await thread.getState()).toMatchObject({ status: 'waiting' }));
    await server.client.workflow.getHandle(`${threadId}/1.work`)[how]();
    await latches.reached(threadId);
    const stopped = thread.untilStopped();
    await eventually(async () =>
      expect(await eventsOf(server.client, threadId, 'workflowExecutionUpdateAcceptedEventAttributes')).toHaveLength(1),
    );
    latches.open(threadId);
    expect((await stopped)[INTERRUPT]).toEqual([{ id: '3.gate:0', value: 'and now?' }]);
  });

  it('takes its open questions along where it fails and that is handled: who decides one is told so', async () => {
    const threadId = server.threadId('guarded');
    const question = '1.work/1.review/2.ask:0';
    broken.add(threadId);
    latches.close(`${threadId}/1.work`);
    const thread = await server.graphs.start(guarded, {}, { threadId });
    await eventually(async () => expect((await thread.getState()).interrupts).toMatchObject([{ id: question }]));
    latches.open(`${threadId}/1.work`);
    await eventually(async () => expect((await thread.getState()).interrupts).toMatchObject([{ id: '3.gate:0' }]));
    await expect(thread.approve({ question })).rejects.toMatchObject({
      code: 'QUESTION_SETTLED',
      message: expect.stringContaining('withdrawn'),
    });
    await thread.approve();
    expect((await thread.untilStopped()).log).toEqual(['work: NODE_FAILED', 'filed', 'gate true']);
  });

  it('is cancelled where a sibling fails the run; a retry starts another, under an id of its own', async () => {
    const threadId = server.threadId('doomed');
    broken.add(threadId);
    latches.close(threadId);
    const thread = await server.graphs.start(doomed, {}, { threadId });
    await eventually(async () => expect((await thread.getState()).interrupts).toHaveLength(1));
    latches.open(threadId);
    await expect(thread.untilStopped()).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'act' });
    await eventually(async () => expect(await statusOf(`${threadId}/1.review`)).toBe('CANCELLED'));
    broken.delete(threadId);
    const paused = await server.graphs.invoke(doomed, null, { threadId });
    expect(paused[INTERRUPT]).toMatchObject([{ id: '1.review/2.ask:0' }]);
    await server.graphs.thread(inquiry, `${threadId}/1.review#2`).approve({ by: 'bo' });
    expect(await server.client.workflow.result(threadId)).toMatchObject({ log: ['acted', 'step', 'ask'] });
  });

  it('names the path to what failed', async () => {
    const threadId = server.threadId('shaky');
    broken.add(threadId);
    await expect(server.graphs.invoke(reckless, {}, { threadId })).rejects.toThrow(
      'Subgraph "work" failed at "work/act": Node "act" failed: out of order',
    );
  });

  it('fails its node where its router fails, which the onError of that node sees', async () => {
    const threadId = server.threadId('guided');
    expect((await server.graphs.invoke(guided, {}, { threadId })).log).toEqual(['ROUTER_FAILED']);
  });

  it('fails its node where it is terminated, and the history tells it in the same words', async () => {
    const threadId = server.threadId('shaky');
    const childId = `${threadId}/1.work`;
    latches.close(childId);
    const thread = await server.graphs.start(reckless, {}, { threadId });
    await latches.reached(childId);
    await server.client.workflow.getHandle(childId).terminate('enough');
    latches.open(childId);
    const failed = await thread.untilStopped().catch((error: unknown) => error);
    const told = { kind: 'childWorkflowExecutionTerminated', attributes: {} } as HistoryEvent;
    expect(failed).toMatchObject(childFailureOf('1.work', told));
  });

  it('is withdrawn where the state is updated as its node', async () => {
    const { threadId, childId } = await waiting();
    await around(threadId).updateState({ verdict: 'from outside' }, { asNode: 'review' });
    expect((await around(threadId).untilStopped()).log).toEqual(['before', 'after from outside']);
    await eventually(async () => expect(await statusOf(childId)).toBe('CANCELLED'));
  });

  it('takes no update of the state around it along with an answer', async () => {
    const { threadId } = await waiting();
    const command = new Command({ resume: 'yes', update: { draft: 'changed' } });
    await expect(server.graphs.invoke(case_file, command, { threadId })).rejects.toMatchObject({
      code: 'STATE_UPDATE_CONFLICT',
    });
  });

  it('fails its node where the thread id leaves no room for its own', async () => {
    const threadId = server.threadId('x'.repeat(960));
    const failed = server.graphs.invoke(case_file, {}, { threadId });
    await expect(failed).rejects.toMatchObject({ code: 'RUN_FAILED', node: 'review', message: /1,000 bytes/ });
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('rolls over by itself, and the run around notices nothing', async () => {
    const threadId = server.threadId('expedition');
    const paused = await server.graphs.invoke(expedition, {}, { threadId });
    expect(paused[INTERRUPT]).toEqual([{ id: '1.climb/8.rest:0', value: 'go on?' }]);
    await server.graphs.thread(expedition, threadId).resume('yes', { by: 'ana' });
    const { log } = await server.graphs.thread(expedition, threadId).untilStopped();
    expect(log).toEqual(['1', '2', '3', '4', '5', '6', '7', 'rested: yes', '9', '10', '11', '12']);
    expect((await runsOf(server.client, `${threadId}/1.climb`)).length).toBeGreaterThan(1);
    expect(await runsOf(server.client, threadId)).toHaveLength(1);
  });

  it('does not hold up what runs beside it: the run around rolls over when it has ended', async () => {
    const threadId = server.threadId('vigil');
    await server.graphs.invoke(vigil, {}, { threadId });
    const thread = server.graphs.thread(vigil, threadId);
    const { status, tasks, metadata } = await thread.getState();
    expect(tasks.map(({ id, status: one }) => [id, one])).toEqual([
      ['1.review', 'waiting'],
      ['1.review/2.ask', 'waiting'],
      ['1.walk', 'done'],
    ]);
    expect(status).toBe('waiting');
    const events = (await runsOf(server.client, threadId)).map((run) => run.events.length);
    expect(events).toEqual([expect.any(Number)]);
    expect(events[0]).toBeGreaterThan(60);
    await thread.approve({ by: 'ana' });
    expect(await thread.untilStopped()).toMatchObject({ verdict: 'true', draft: 'after' });
    expect((await runsOf(server.client, threadId)).map(({ runId }) => runId)).toEqual([
      metadata.runId,
      expect.any(String),
    ]);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('is not moved by a report that nobody can read, or that is of no child', async () => {
    const { threadId } = await waiting();
    const handle = server.client.workflow.getHandle(threadId);
    await handle.signal('childReport', { task: '2.review', questions: 'none' });
    const report = {
      task: '2.review',
      visit: 9,
      status: 'running',
      questions: [],
      tasks: [],
      records: [],
      verdicts: [],
    };
    await handle.signal('childReport', report);
    const question = { id: '2.ask:0', kind: 'question', node: 'ask', task: '2.ask', digest: 'd' };
    const value = { '2.ask:0': true, other: true };
    const record = { decision: { type: 'resume', value }, verdict: { kind: 'accepted', questions: [] }, at: '' };
    const unreadable = [
      { questions: [question] },
      { questions: [{ ...question, kind: 'approval', value: 1, allow: 'all' }] },
      { records: [record] },
      { verdicts: [{ token: '1', verdict: { kind: 'accepted' } }] },
    ];
    for (const part of unreadable) await handle.signal('childReport', { ...report, visit: 1, ...part });
    await handle.signal('passedOn', null);
    await eventually(async () => expect(await around(threadId).decisions()).toHaveLength(1));
    expect((await around(threadId).getState()).interrupts).toMatchObject([{ id: QUESTION }]);
    await around(threadId).approve();
    expect((await around(threadId).untilStopped()).verdict).toBe('true');
  });

  it('shows in the trace of the run around: linked, its questions, and who decided', async () => {
    const { threadId, childId } = await waiting();
    await signal(threadId, 'approve', JSON.stringify({ by: 'ana' }));
    await server.client.workflow.result(threadId);
    const trace = await traced(threadId, case_file);
    const items = trace.runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
    expect(items.map(({ kind }) => kind)).toEqual(['node', 'child', 'wait', 'node']);
    expect(items.filter(({ kind }) => kind === 'child')).toMatchObject([
      { type: 'inquiry', workflowId: childId, status: 'completed' },
    ]);
    expect(items.filter(({ kind }) => kind === 'wait')).toMatchObject([
      { question: QUESTION, status: 'answered', decision: { by: 'ana', verdict: { kind: 'accepted' } } },
    ]);
    expect(items.filter(({ kind }) => kind === 'message')).toEqual([]);
    const inside = await traced(childId, inquiry);
    const waits = inside.runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
    expect(waits.filter(({ kind }) => kind === 'wait')).toMatchObject([
      { question: '2.ask:0', decision: { by: 'ana', door: 'passedOn', verdict: { kind: 'accepted' } } },
    ]);
    expect(inside.runs.at(-1)?.stops.at(-1)?.checkpoint?.values).toEqual({
      kind: 'json',
      value: { log: ['before', 'step', 'ask'], verdict: 'true', secret: 'inside' },
    });
  });

  it('stands in a trace beside the nodes of a subgraph within the run, which are visits by path', async () => {
    const threadId = server.threadId('vigil');
    await server.graphs.invoke(vigil, {}, { threadId });
    const history = await server.client.workflow.getHandle(threadId).fetchHistory();
    const { runs } = traceOf([JSON.parse(historyToJSON(history))], { graph: vigil });
    const items = runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
    const visits = items.flatMap((item) => (item.kind === 'node' ? [[item.node, item.task, item.step]] : []));
    expect(visits.slice(0, 2)).toEqual([
      ['walk/step', '1.walk/1.step', 1],
      ['walk/step', '1.walk/2.step', 2],
    ]);
    expect(items.filter(({ kind }) => kind === 'activity')).toEqual([]);
  });

  it('streams its beginning, its questions and its end to whoever follows the run around', async () => {
    const { threadId } = await waiting();
    await around(threadId).approve({ by: 'ana' });
    const told: string[] = [];
    for await (const event of around(threadId).stream({ modes: ['tasks', 'questions'] })) {
      if (event.kind === 'task-start' || event.kind === 'task-end') told.push(`${event.kind} ${event.task}`);
      else if (event.kind === 'questions') told.push(`asks ${event.questions.map(({ id }) => id).join()}`);
    }
    expect(told.slice(told.indexOf('task-start 2.review'))).toEqual([
      'task-start 2.review',
      `asks ${QUESTION}`,
      'asks ',
      'task-end 2.review',
      'task-start 3.after',
      'task-end 3.after',
    ]);
  });

  it('can be forked into a thread of its own, which is nobody’s subgraph', async () => {
    const { childId } = await waiting();
    const fork = await server.graphs.fork(inquiry, childId, { threadId: server.threadId('fork') });
    await fork.untilStopped();
    await fork.approve({ by: 'bo' });
    expect((await fork.untilStopped()).log).toEqual(['before', 'step', 'ask']);
    expect(await server.client.workflow.result(fork.id)).not.toHaveProperty('__subgraph__');
  });

  it('leaves a history that tells every checkpoint of the run around', async () => {
    const { threadId, childId } = await waiting();
    await within(childId).approve({ by: 'bo' });
    await server.client.workflow.result(threadId);
    const steps = [];
    for await (const { metadata, interrupts, values } of around(threadId).getStateHistory())
      steps.push([metadata.step, interrupts.length, values.log.length]);
    expect(steps).toEqual([
      [3, 0, 4],
      [3, 0, 3],
      [2, 1, 1],
      [1, 0, 0],
    ]);
  });
});
