import { NativeConnection, Worker } from '@temporalio/worker';
import { AbeyancePlugin } from 'abeyance/worker';
import { decideUpdate } from 'abeyance/workflow';
import { ask, ask_briefly, slow_sibling } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { eventually } from '../support/eventually';
import { eventsOf, workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import { onServer, testServer } from '../support/on-server';

const latches = new Latches();
const server = onServer(() => ({ nodes: askingNodes(latches) }));

const rawHandle = (threadId: string) => server.client.workflow.getHandle(threadId);

/** Settles to the verdict, or to the code of the refusal. */
const outcome = (decision: Promise<{ readonly kind: string }>): Promise<string> =>
  decision.then(
    ({ kind }) => kind,
    (error: { readonly code: string }) => error.code,
  );

async function verdicts(threadId: string): Promise<string[]> {
  const decisions = await server.graphs.thread(threadId).decisions();
  return decisions.map(({ verdict }) => (verdict.kind === 'refused' ? verdict.code : verdict.kind)).sort();
}

it('of decisions that arrive while no worker runs exactly one counts, and all are on record', async () => {
  const threadId = server.threadId('ask');
  await server.graphs.invoke(ask, {}, { threadId });
  await server.stopWorker();
  const question = '1.ask:0';
  await rawHandle(threadId).signal('approve');
  await rawHandle(threadId).signal('deny', { question, by: 'ben' });
  await rawHandle(threadId).signal('resume', 'third', { node: 'ask' });
  const replies = [
    outcome(server.graphs.thread(threadId).approve({ question, by: 'ana' })),
    outcome(server.graphs.thread(threadId).deny({ question, by: 'cleo' })),
  ];
  await server.startWorker();
  expect(await Promise.all(replies)).toEqual(['QUESTION_SETTLED', 'QUESTION_SETTLED']);
  expect(await rawHandle(threadId).result()).toEqual({ answer: true });
  expect(await verdicts(threadId)).toEqual(expect.arrayContaining(['QUESTION_SETTLED', 'accepted']));
  expect((await verdicts(threadId)).filter((verdict) => verdict === 'accepted')).toHaveLength(1);
  expect(await server.graphs.thread(threadId).decisions()).toHaveLength(5);
});

describe('who waits for a stop is not told the pause of before', () => {
  const stopOf = async (threadId: string): Promise<unknown> => {
    const stop = server.graphs.thread(threadId).untilStopped();
    await server.startWorker();
    return stop;
  };

  it('where an answer came with the same workflow task', async () => {
    const threadId = server.threadId('ask');
    await server.graphs.invoke(ask, {}, { threadId });
    await server.stopWorker();
    await rawHandle(threadId).signal('approve');
    expect(await stopOf(threadId)).toMatchObject({ answer: true });
  });

  it('where its expiry came with the same workflow task', async () => {
    const threadId = server.threadId('ask-briefly');
    await server.graphs.invoke(ask_briefly, {}, { threadId });
    await server.stopWorker();
    await eventually(async () =>
      expect(await eventsOf(server.client, threadId, 'timerFiredEventAttributes')).toHaveLength(1),
    );
    expect(await stopOf(threadId)).toMatchObject({ answer: false });
  });
});

describe('a decision that overtakes the result which opens its question', () => {
  let native: NativeConnection;
  beforeAll(async () => {
    native = await NativeConnection.connect({ address: testServer().address });
    await server.stopWorker();
  });
  afterAll(async () => {
    await native.close();
    await server.startWorker();
  });

  const workflowsOnly = () => Worker.create({ ...common(), workflowBundle: { codePath: testServer().bundle } });
  const activitiesOnly = () =>
    Worker.create({ ...common(), plugins: [new AbeyancePlugin({ nodes: askingNodes(latches) })] });
  const common = () => ({ connection: native, namespace: testServer().namespace, taskQueue: server.taskQueue });

  test.each([
    ['a bare signal', (id: string) => rawHandle(id).signal('approve'), ['accepted']],
    [
      'a bare signal, an update and a signal by id',
      async (id: string) => {
        await rawHandle(id).signal('approve');
        await rawHandle(id).signal('deny', { question: '1.ask:0' });
        const update = { args: [{ type: 'deny', question: '1.ask:0', by: 'ana' }, undefined] as const };
        return outcome(
          rawHandle(id)
            .executeUpdate(decideUpdate, { args: [...update.args] })
            .then(() => ({ kind: 'accepted' })),
        );
      },
      ['QUESTION_SETTLED', 'QUESTION_SETTLED', 'accepted'],
    ],
  ] as const)('is judged after it: %s', async (_, decide, expected) => {
    const threadId = server.threadId('ask');
    latches.close(threadId);
    const activities = await activitiesOnly();
    await activities.runUntil(async () => {
      const first = await workflowsOnly();
      await first.runUntil(async () => {
        await server.graphs.start(ask, {}, { threadId });
        await latches.reached(threadId);
      });
      latches.open(threadId);
      await eventually(async () => {
        const { raw } = await rawHandle(threadId).describe();
        expect(raw.pendingActivities).toHaveLength(0);
      });
      const decided = decide(threadId);
      const second = await workflowsOnly();
      await second.runUntil(async () => {
        await decided;
        expect(await rawHandle(threadId).result()).toEqual({ answer: true });
        expect(await verdicts(threadId)).toEqual(expected);
      });
    });
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });
});

it('a decision beside a slow sibling takes effect at once, and the sibling is not disturbed', async () => {
  const threadId = server.threadId('slow-sibling');
  latches.close(threadId);
  const thread = await server.graphs.start(slow_sibling, {}, { threadId });
  await latches.reached(threadId);
  await eventually(async () => expect((await thread.getState()).interrupts).toHaveLength(1));
  expect(await thread.getState()).toMatchObject({ status: 'running', next: ['gate', 'slow'] });
  expect(await thread.approve({ by: 'ana' })).toEqual({ kind: 'accepted', questions: ['1.gate:0'] });
  expect(await thread.getState()).toMatchObject({
    status: 'running',
    next: ['slow'],
    values: { decision: { type: 'approve', by: 'ana' }, slow: 'unanswered' },
  });
  await expect(thread.deny({ question: '1.gate:0' })).rejects.toMatchObject({ code: 'QUESTION_SETTLED' });
  latches.open(threadId);
  expect(await thread.untilStopped()).toEqual({
    decision: { type: 'approve', by: 'ana' },
    slow: 'done',
    after: 'ran',
  });
});
