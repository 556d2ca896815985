import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { GraphRunner } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { MEMO_KEY, type PublishedView } from 'abeyance/workflow';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { Trace, traceOf, type Item } from '../../src/trace';
import { eventually } from '../support/eventually';
import { clerk, hasty_clerk, impatient, strict_deadline, two_deadlines } from '../support/gated-graphs';
import { gatedDependencies } from '../support/gated-nodes';
import { eventsOf, workflowTaskFailures } from '../support/histories';
import { onServer } from '../support/on-server';
import { abeyance, abeyanceJson } from '../support/run-cli';
import { signal } from '../support/temporal-cli';

const ran: string[] = [];
const server = onServer(() => gatedDependencies(ran), { silent: true });
const inMemory = new InMemoryGraphs(gatedDependencies(ran));

const DRIVERS: readonly (readonly [string, () => GraphRunner])[] = [
  ['memory', () => inMemory],
  ['server', () => server.graphs],
];

const [FIRST, SECOND] = ['2.approval_gate:call:c1', '2.approval_gate:call:c3'] as const;
const EDITED = 'A human changed the arguments of this call before it ran.';
const LATE = 'not run: nobody decided in time';

const toolTexts = ({ messages }: { readonly messages: readonly { role: string; content: string }[] }): string[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
const mailedBy = (threadId: string): string[] => ran.filter((what) => what.startsWith(`${threadId} `));

async function asked(graph: typeof clerk | typeof hasty_clerk = clerk): Promise<string> {
  const threadId = server.threadId(graph.name);
  await server.graphs.invoke(graph as typeof clerk, { messages: 'go' }, { threadId });
  return threadId;
}

const toolTextsOf = async (threadId: string): Promise<string[]> =>
  toolTexts(await server.graphs.thread(clerk, threadId).untilStopped());

async function traced(threadId: string, graph?: AnyGraph): Promise<Trace> {
  const history = await server.client.workflow.getHandle(threadId).fetchHistory();
  const trace = traceOf([JSON.parse(historyToJSON(history))], graph && { graph });
  expect(Trace.parse(trace)).toEqual(trace);
  expect(trace.notes).toEqual([]);
  return trace;
}

function itemsOf<K extends Item['kind']>(trace: Trace, kind: K): Extract<Item, { kind: K }>[] {
  const items = trace.runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
  return items.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind);
}

describe.each(DRIVERS)('an agent whose calls a person decides, driver %s', (_, graphs) => {
  test('runs what was edited as it was edited, does not run what was responded to, and tells the model', async () => {
    const threadId = server.threadId('decided');
    await graphs().invoke(clerk, { messages: 'go' }, { threadId });
    const thread = graphs().thread(clerk, threadId);
    await thread.respond('by hand', { question: SECOND, by: 'bo' });
    await thread.edit({ to: 'bo' }, { question: FIRST, by: 'ana' });
    const done = await thread.untilStopped();
    expect(toolTexts(done)).toEqual([`${EDITED}\nWhat ran: send_mail({"to":"bo"})\nmailed bo`, 'read /etc', 'by hand']);
    expect(mailedBy(threadId)).toEqual([`${threadId} mailed bo`]);
    expect((await thread.decisions()).map(({ decision }) => decision)).toMatchObject([
      { type: 'respond', response: 'by hand', by: 'bo' },
      { type: 'edit', args: { to: 'bo' }, by: 'ana' },
    ]);
  });

  test('refuses an edit that does not fit the tool, and a map with one answer too many', async () => {
    const threadId = server.threadId('refused');
    await graphs().invoke(clerk, { messages: 'go' }, { threadId });
    const thread = graphs().thread(clerk, threadId);
    await expect(thread.edit({ too: 1 }, { question: FIRST })).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    const tooMany = { [FIRST]: true, [SECOND]: true, '2.approval_gate:call:c2': true };
    await expect(thread.resume(tooMany)).rejects.toMatchObject({ code: 'QUESTION_UNKNOWN' });
    await thread.resume({ [SECOND]: false, [FIRST]: true });
    expect(toolTexts(await thread.untilStopped())).toEqual([
      'mailed all',
      'read /etc',
      'denied by approver\nA human rejected this call; it was not run.',
    ]);
  });
});

describe('the signals edit and respond', () => {
  it('take what is typed at a terminal', async () => {
    const threadId = await asked();
    await signal(threadId, 'edit', JSON.stringify({ args: { to: 'bo' }, question: FIRST, by: 'ana', note: 'less' }));
    await eventually(async () => expect(await server.graphs.thread(threadId).decisions()).toHaveLength(1));
    await signal(threadId, 'respond', '"by hand"');
    expect(await toolTextsOf(threadId)).toEqual([
      `${EDITED} Their reason: less\nWhat ran: send_mail({"to":"bo"})\nmailed bo`,
      'read /etc',
      'by hand',
    ]);
  });

  it('take a text beside the rest, too', async () => {
    const threadId = await asked();
    const handle = server.client.workflow.getHandle(threadId);
    await handle.signal('respond', { text: 'by hand', question: FIRST, type: 'approve' });
    await handle.signal('respond', { response: { done: true }, question: SECOND });
    await handle.result();
    expect(await toolTextsOf(threadId)).toEqual(['by hand', 'read /etc', '{"done":true}']);
    expect(mailedBy(threadId)).toEqual([]);
  });

  test.each([
    ['edit without arguments', 'edit', { question: FIRST }],
    ['edit of another tool', 'edit', { question: FIRST, args: { to: 'bo' }, name: 'read_file' }],
    ['respond without a response', 'respond', undefined],
  ])('are recorded as refused: %s', async (_, name, payload) => {
    const threadId = await asked();
    const handle = server.client.workflow.getHandle(threadId);
    await handle.signal(name, ...(payload === undefined ? [] : [payload]));
    const record = { decision: { type: name }, verdict: { kind: 'refused', code: 'DECISION_MALFORMED' } };
    await eventually(async () => expect(await server.graphs.thread(threadId).decisions()).toMatchObject([record]));
    expect((await server.graphs.thread(threadId).getState()).interrupts).toHaveLength(2);
  });
});

describe('the command line', () => {
  it('shows what may be decided, edits and responds', async () => {
    const threadId = await asked();
    const [pending] = await abeyanceJson('pending', '-w', threadId);
    expect(pending).toMatchObject({ question: FIRST, allow: ['approve', 'deny', 'edit', 'respond'] });
    expect((await abeyance(['pending', '-w', threadId])).out).toContain('abeyance approve|deny|edit|respond -w');

    const wrong = await abeyance(['edit', '-w', threadId, '--question', FIRST, '{"too":1}']);
    expect([wrong.exitCode, wrong.err]).toEqual([3, expect.stringContaining('[ANSWER_INVALID]')]);
    const edited = await abeyanceJson('edit', '-w', threadId, '--question', FIRST, '--by', 'ana', '{"to":"bo"}');
    expect(edited).toMatchObject({ type: 'edit', by: 'ana', verdict: { kind: 'accepted', questions: [FIRST] } });
    const responded = await abeyance(['respond', '-w', threadId, 'by hand', '--wait']);
    expect(responded).toMatchObject({ exitCode: 0, out: expect.stringContaining(`responded to ${SECOND}`) });
    expect(mailedBy(threadId)).toEqual([`${threadId} mailed bo`]);
    expect((await abeyance(['show', '-w', threadId])).out).toContain('edit {"to":"bo"} by ana');
  }, 60_000);
});

describe('the trace', () => {
  test.each([
    ['with the graph', clerk],
    ['without it', undefined],
  ])('shows who edited and who responded, %s', async (_, graph) => {
    const threadId = await asked();
    const thread = server.graphs.thread(clerk, threadId);
    await thread.edit({ to: 'bo' }, { question: FIRST, by: 'ana' });
    await thread.respond('by hand', { question: SECOND, by: 'bo' });
    await thread.untilStopped();
    const trace = await traced(threadId, graph);
    expect(itemsOf(trace, 'wait')).toMatchObject([
      { question: FIRST, status: 'answered', decision: { type: 'edit', value: { to: 'bo' }, by: 'ana' } },
      { question: SECOND, status: 'answered', decision: { type: 'respond', value: 'by hand', by: 'bo' } },
    ]);
    const tools = itemsOf(trace, 'tool').sort((a, b) => a.id.localeCompare(b.id));
    expect(tools).toMatchObject([
      { id: '3.tools.0.c0#1', args: { to: 'bo' }, edited: true, approval: FIRST },
      { id: '3.tools.0.c1#1', tool: 'read_file' },
    ]);
    expect(tools[1]?.edited).toBeUndefined();
  });
});

const timersOf = async (threadId: string): Promise<number[]> =>
  Promise.all(
    (['timerStarted', 'timerFired', 'timerCanceled'] as const).map(
      async (kind) => (await eventsOf(server.client, threadId, `${kind}EventAttributes`)).length,
    ),
  );

/** Decisions of a thread as type and verdict. */
const decided = async (threadId: string): Promise<string[][]> =>
  (await server.graphs.thread(threadId).decisions()).map(({ decision, verdict }) => [
    decision.type,
    verdict.kind === 'refused' ? verdict.code : verdict.kind,
  ]);

const openOf = async (threadId: string): Promise<string[]> =>
  (await server.graphs.thread(threadId).getState()).interrupts.map(({ id }) => id);

describe('a deadline on the server', () => {
  it('is shown in the open, passes by a timer, and refuses who comes later', async () => {
    const threadId = server.threadId('impatient');
    const paused = await server.graphs.invoke(impatient, {}, { threadId });
    const handle = server.client.workflow.getHandle(threadId);
    expect(paused.__interrupt__).toMatchObject([{ id: '1.ask:0', expiresAt: expect.any(String) }]);
    await eventually(async () => expect(await openOf(threadId)).toEqual(['1.ask:1']));
    const memo = (await handle.describe()).memo?.[MEMO_KEY] as PublishedView;
    expect(memo.questions).toMatchObject([{ id: '1.ask:1' }]);
    await expect(server.graphs.thread(threadId).approve({ question: '1.ask:0' })).rejects.toMatchObject({
      code: 'QUESTION_SETTLED',
      message: expect.stringContaining(`expired at ${paused.__interrupt__?.[0]?.expiresAt}`),
    });
    await server.graphs.thread(threadId).resume('ana');
    expect(await server.graphs.thread(threadId).untilStopped()).toEqual({ first: 'nobody', second: 'ana' });
    expect(await timersOf(threadId)).toEqual([1, 1, 0]);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
    for (const graph of [impatient, undefined]) {
      expect(itemsOf(await traced(threadId, graph), 'wait')).toMatchObject([
        { question: '1.ask:0', status: 'expired', answer: 'nobody', refused: [{ type: 'approve' }] },
        { question: '1.ask:1', status: 'answered', answer: 'ana' },
      ]);
    }
  });

  it('does not keep a run from being cancelled', async () => {
    const threadId = server.threadId('cancelled');
    await server.graphs.invoke(two_deadlines, {}, { threadId });
    await server.client.workflow.getHandle(threadId).cancel();
    await expect(server.graphs.thread(threadId).untilStopped()).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('that nobody meets fails the run with a type of its own', async () => {
    const threadId = server.threadId('strict');
    await server.graphs.invoke(strict_deadline, {}, { threadId });
    await server.client.workflow.result(threadId).catch(() => undefined);
    await expect(server.graphs.thread(threadId).untilStopped()).rejects.toMatchObject({
      code: 'QUESTION_EXPIRED',
      node: 'ask',
    });
    const attempts = await eventsOf(server.client, threadId, 'activityTaskScheduledEventAttributes');
    expect(attempts).toHaveLength(2);
  });

  it('of several is watched by one timer, for the next of them, and by none once all are answered', async () => {
    const threadId = server.threadId('two_deadlines');
    await server.graphs.invoke(two_deadlines, {}, { threadId });
    await eventually(async () => expect(await openOf(threadId)).toEqual(['1.hour:0']));
    expect(await timersOf(threadId)).toEqual([2, 1, 0]);
    const [pending] = await abeyanceJson('pending', '-w', threadId);
    expect(Date.parse(pending.expiresAt) - Date.parse(pending.askedAt)).toBe(3_600_000);
    expect((await abeyance(['pending', '-w', threadId])).out).toContain(`expires at ${pending.expiresAt}`);
    await server.graphs.thread(threadId).resume('yes');
    expect(await server.graphs.thread(threadId).untilStopped()).toEqual({ hour: 'yes', moment: { type: 'timeout' } });
  }, 60_000);

  it('costs no timer where there is none', async () => {
    const threadId = await asked();
    expect(await timersOf(threadId)).toEqual([0, 0, 0]);
  });

  it('at a gate: the calls are not run, and model, record and trace say that nobody decided', async () => {
    const threadId = await asked(hasty_clerk);
    const done = await server.client.workflow.result(threadId);
    expect(toolTexts(done)).toEqual([LATE, 'read /etc', LATE]);
    expect(mailedBy(threadId)).toEqual([]);
    expect(await decided(threadId)).toEqual([
      ['expire', 'accepted'],
      ['expire', 'accepted'],
    ]);
    expect(await timersOf(threadId)).toEqual([1, 1, 0]);
    for (const graph of [hasty_clerk, undefined]) {
      const trace = await traced(threadId, graph);
      expect(itemsOf(trace, 'wait')).toMatchObject(
        [FIRST, SECOND].map((question) => ({
          question,
          status: 'expired',
          expiresAt: expect.any(String),
          decision: { type: 'expire', via: 'deadline', question, verdict: { kind: 'accepted' } },
        })),
      );
      expect(trace.runs[0]?.stops.map(({ name, ended }) => [name, ended])).toEqual([
        ['pause', 'paused'],
        ['resume', 'done'],
      ]);
    }
  });
});

describe('while no worker is up', () => {
  async function pausedWithoutWorker(name: string): Promise<string> {
    const threadId = server.threadId(name);
    await server.graphs.invoke(impatient, {}, { threadId });
    await server.stopWorker();
    return threadId;
  }

  const deadlinePasses = (threadId: string): Promise<void> =>
    eventually(async () => expect((await timersOf(threadId))[1]).toBe(1));

  afterEach(async () => {
    await server.stopWorker();
    await server.startWorker();
  });

  it('a deadline passes all the same, and takes effect when one is', async () => {
    const threadId = await pausedWithoutWorker('down');
    await deadlinePasses(threadId);
    await server.startWorker();
    await eventually(async () => expect(await openOf(threadId)).toEqual(['1.ask:1']));
    expect(await decided(threadId)).toEqual([['expire', 'accepted']]);
  });

  it('an update after the deadline is refused, though the run has not noticed it yet', async () => {
    const threadId = await pausedWithoutWorker('late');
    await deadlinePasses(threadId);
    const late = server.graphs.thread(threadId).resume('late', { question: '1.ask:0' });
    const refused = expect(late).rejects.toMatchObject({ code: 'QUESTION_SETTLED' });
    await server.startWorker();
    await refused;
    await eventually(async () => expect(await openOf(threadId)).toEqual(['1.ask:1']));
    expect(await decided(threadId)).toEqual([
      ['expire', 'accepted'],
      ['resume', 'QUESTION_SETTLED'],
    ]);
    const [wait] = itemsOf(await traced(threadId, impatient), 'wait');
    expect(wait).toMatchObject({ status: 'expired', refused: [{ verdict: { code: 'QUESTION_SETTLED' } }] });
  });

  it('a signal that lies in the history beside the deadline counts: somebody did decide', async () => {
    const threadId = await pausedWithoutWorker('in-time');
    await server.client.workflow.getHandle(threadId).signal('resume', 'ana', { question: '1.ask:0' });
    await deadlinePasses(threadId);
    await server.startWorker();
    await eventually(async () => expect(await openOf(threadId)).toEqual(['1.ask:1']));
    expect(await decided(threadId)).toEqual([['resume', 'accepted']]);
    const [wait] = itemsOf(await traced(threadId, impatient), 'wait');
    expect(wait).toMatchObject({ status: 'answered', answer: 'ana' });
  });
});
