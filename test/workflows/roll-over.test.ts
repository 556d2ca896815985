import { Command } from 'abeyance';
import { MEMO_KEY } from 'abeyance/workflow';
import { ServerThread } from '../../src/client/server-thread';
import { eventually } from '../support/eventually';
import { workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import { rolling_crowd, rolling_gates, rolling_loop, rolling_overlap } from '../support/long-graphs';
import { longNodes, type Effects } from '../support/long-nodes';
import { onServer } from '../support/on-server';
import { runsOf } from '../support/runs-of';

const latches = new Latches();
const effects: Effects = new Map();
const server = onServer(() => ({ nodes: longNodes(latches, effects) }), { silent: true });

const rawHandle = (threadId: string) => server.client.workflow.getHandle(threadId);

/** Waits until the thread has rolled over so often. */
async function rolledOver(threadId: string, runs = 2): Promise<void> {
  await eventually(async () => expect((await runsOf(server.client, threadId)).length).toBeGreaterThanOrEqual(runs));
}

/** Sends signals that are refused, until a waiting run has rolled over. */
async function rollWhileWaiting(threadId: string): Promise<void> {
  const { runId } = await rawHandle(threadId).describe();
  await eventually(async () => {
    await rawHandle(threadId).signal('approve', { question: '9.nowhere:0' });
    expect((await rawHandle(threadId).describe()).runId).not.toBe(runId);
  });
}

async function twoQuestions(): Promise<string> {
  const threadId = server.threadId('gates');
  await server.graphs.invoke(rolling_gates, {}, { threadId });
  return threadId;
}

describe('a run that rolls over while it runs', () => {
  it('ends with all its steps, each done once, under ids that never come twice', async () => {
    const threadId = server.threadId('loop');
    const times = 25;
    const { lines } = await server.graphs.invoke(rolling_loop, { times }, { threadId });
    expect(lines).toEqual(Array.from({ length: times }, (_, n) => `${n + 1}`));
    const runs = await runsOf(server.client, threadId);
    expect(runs.length).toBeGreaterThan(3);
    const ids = runs.flatMap(({ events }) =>
      events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityId ?? []),
    );
    expect(ids).toEqual(Array.from({ length: times }, (_, n) => `${n + 1}.work#1`));
    const keys = effects.get(threadId) ?? [];
    expect(new Set(keys).size).toBe(times);
    expect(new Set(keys.map((key) => key.replace(/[^/]*$/, ''))).size).toBe(1);
  });

  it('keeps to its recursion limit over all its runs', async () => {
    const threadId = server.threadId('loop');
    const running = server.graphs.invoke(rolling_loop, { times: 50 }, { threadId, recursionLimit: 20 });
    await expect(running).rejects.toMatchObject({ code: 'GRAPH_RECURSION_LIMIT', node: 'work' });
    expect((await runsOf(server.client, threadId)).length).toBeGreaterThan(2);
  });

  it('goes on where it was when its worker is replaced in the middle', async () => {
    const threadId = server.threadId('loop');
    latches.close(threadId);
    const thread = await server.graphs.start(rolling_loop, { times: 12 }, { threadId });
    await latches.reached(threadId);
    latches.open(threadId);
    await server.stopWorker();
    await server.startWorker();
    expect((await thread.untilStopped()).lines).toHaveLength(12);
    expect((await runsOf(server.client, threadId)).length).toBeGreaterThan(1);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('comes to rest first though its tasks overlap', async () => {
    const threadId = server.threadId('overlap');
    latches.close(threadId);
    const thread = await server.graphs.start(rolling_overlap, {}, { threadId });
    const answer = async (n: number): Promise<void> => {
      await thread.resume(`answer ${n}`, { question: `1.ask:${n}`, decisionId: `d${n}` });
    };
    for (let n = 0; n < 10; n++) await answer(n);
    expect(await runsOf(server.client, threadId)).toHaveLength(1);
    latches.open(threadId);
    expect(await thread.untilStopped()).toEqual({
      slow: 'done',
      answers: Array.from({ length: 10 }, (_, n) => `answer ${n}`),
    });
    expect((await runsOf(server.client, threadId)).length).toBeGreaterThan(1);
  });

  it('is restarted on what it left, like any other', async () => {
    const threadId = server.threadId('loop');
    await server.graphs.invoke(rolling_loop, { times: 12 }, { threadId });
    const { lines } = await server.graphs.invoke(rolling_loop, { times: 14 }, { threadId });
    expect(lines).toHaveLength(14);
    expect((await server.graphs.thread(rolling_loop, threadId).getState()).metadata.step).toBe(15);
  });
});

describe('a run that rolls over while it waits', () => {
  it('keeps its questions by id and digest, and takes the answers in its next run', async () => {
    const threadId = await twoQuestions();
    const thread = server.graphs.thread(rolling_gates, threadId);
    const before = await thread.getState();
    await rollWhileWaiting(threadId);
    const after = await thread.getState();
    expect(after.interrupts).toEqual(before.interrupts);
    expect(after.metadata.runId).not.toBe(before.metadata.runId);
    for (const { id, digest, node } of before.interrupts) await thread.resume(`to ${node}`, { question: id, digest });
    expect(await thread.untilStopped()).toEqual({
      left: 'to left',
      right: 'to right',
      lines: ['"to left" "to right"'],
    });
    expect(effects.get(threadId)?.sort()).toEqual(['left', 'right']);
  });

  it('shows what it waits for from the first event of the next run on, and keeps what others have noted on it', async () => {
    const threadId = server.threadId('gates');
    await server.client.workflow.start('rolling_gates', {
      workflowId: threadId,
      taskQueue: server.taskQueue,
      args: [{}],
      memo: { theirs: { ticket: 7 } },
    });
    await server.graphs.thread(threadId).untilStopped();
    await rollWhileWaiting(threadId);
    const [, next] = await runsOf(server.client, threadId);
    const started = next?.events[0]?.workflowExecutionStartedEventAttributes;
    const memo = (key: string): any =>
      JSON.parse(Buffer.from(started?.memo?.fields?.[key]?.data ?? []).toString() || 'null');
    expect(memo(MEMO_KEY)).toMatchObject({ status: 'waiting', questions: [{ id: '1.left:0' }, { id: '1.right:0' }] });
    expect(memo('theirs')).toEqual({ ticket: 7 });
  });

  it('is listed as waiting by the search attributes of the next run', async () => {
    const threadId = await twoQuestions();
    await rollWhileWaiting(threadId);
    const { runId, typedSearchAttributes } = await rawHandle(threadId).describe();
    expect(typedSearchAttributes.getAll()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ value: 'waiting' }),
        expect.objectContaining({ value: ['left', 'right'] }),
      ]),
    );
    await eventually(async () => {
      const query = `AbeyanceStatus = "waiting" AND ExecutionStatus = "Running" AND WorkflowId = "${threadId}"`;
      const listed = [];
      for await (const run of server.client.workflow.list({ query })) listed.push(run.runId);
      expect(listed).toEqual([runId]);
    });
  });

  it('keeps the whole audit, signals that made no sense among it', async () => {
    const threadId = await twoQuestions();
    await rawHandle(threadId).signal('approve', { aprove: 1 });
    const thread = server.graphs.thread(rolling_gates, threadId);
    await thread.resume(1, { node: 'left', by: 'ana', decisionId: 'first' });
    await rollWhileWaiting(threadId);
    const verdicts = (await thread.decisions()).map(({ decision, verdict }) => [decision.by, verdict.kind]);
    expect(verdicts).toContainEqual(['ana', 'accepted']);
    expect(
      (await thread.decisions()).filter(({ verdict }) => 'code' in verdict && verdict.code === 'DECISION_MALFORMED'),
    ).toHaveLength(1);
  });

  it('knows a decision again that is sent a second time, and refuses its id for another', async () => {
    const threadId = await twoQuestions();
    const thread = server.graphs.thread(rolling_gates, threadId);
    const first = await thread.resume('yes', { node: 'left', decisionId: 'd1' });
    await rollWhileWaiting(threadId);
    expect(await thread.resume('yes', { node: 'left', decisionId: 'd1' })).toEqual(first);
    await expect(thread.resume('no', { node: 'left', decisionId: 'd1' })).rejects.toMatchObject({
      code: 'DECISION_ID_REUSED',
    });
    await expect(thread.resume('no', { question: '1.left:0' })).rejects.toMatchObject({ code: 'QUESTION_SETTLED' });
    expect((await thread.getState()).interrupts.map(({ id }) => id)).toEqual(['1.right:0']);
  });

  it('keeps a decision that came before its question', async () => {
    const threadId = await twoQuestions();
    const thread = server.graphs.thread(rolling_gates, threadId);
    expect(await thread.approve({ question: '1.left:extra' })).toMatchObject({ kind: 'kept' });
    await rollWhileWaiting(threadId);
    const kept = (await thread.decisions()).filter(({ verdict }) => verdict.kind === 'kept');
    expect(kept.map(({ decision }) => decision.question)).toEqual(['1.left:extra']);
  });

  it('serves handles that are pinned to a run it has left', async () => {
    const threadId = await twoQuestions();
    const { runId } = await rawHandle(threadId).describe();
    await rollWhileWaiting(threadId);
    const pinned = new ServerThread(server.client, threadId, rolling_gates, runId);
    expect(await pinned.getState()).toMatchObject({ status: 'waiting', next: ['left', 'right'] });
    await pinned.resume(1, { node: 'left' });
    await pinned.resume(2, { node: 'right' });
    expect(await pinned.untilStopped()).toMatchObject({ left: 1, right: 2 });
  });
});

describe('messages that meet a roll-over', () => {
  it('T07: of fifty at once each is handled exactly once', async () => {
    const threadId = server.threadId('crowd');
    const people = 50;
    await server.graphs.invoke(rolling_crowd, { people }, { threadId });
    const thread = server.graphs.thread(rolling_crowd, threadId);
    const stopped = thread.untilStopped();
    await stopped;
    const send = (n: number): Promise<unknown> => {
      const details = { question: `1.ask.${n}:0`, decisionId: `d${n}` };
      return n % 5 === 0 ? thread.resume(`p${n}`, details) : rawHandle(threadId).signal('resume', `p${n}`, details);
    };
    await Promise.all(Array.from({ length: people }, (_, n) => send(n)));
    const { lines } = await thread.untilStopped();
    expect(lines).toEqual(Array.from({ length: people }, (_, n) => `${n}: p${n}`));
    const decisions = await thread.decisions();
    expect(decisions.map(({ verdict }) => verdict.kind)).toEqual(Array.from({ length: people }, () => 'accepted'));
    expect((await runsOf(server.client, threadId)).length).toBeGreaterThan(1);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('a caller who waits for the end is answered by the run that comes to it', async () => {
    const threadId = server.threadId('loop');
    latches.close(threadId);
    await server.graphs.start(rolling_loop, { times: 15 }, { threadId });
    const waiting = Array.from({ length: 3 }, () => server.graphs.thread(rolling_loop, threadId).untilStopped());
    await latches.reached(threadId);
    latches.open(threadId);
    for (const end of await Promise.all(waiting)) expect(end.lines).toHaveLength(15);
    await rolledOver(threadId);
  });

  it('an answer in flight when the run rolls over has its verdict, and its caller the next stop', async () => {
    for (const refused of [0, 1, 2, 3]) {
      const threadId = await twoQuestions();
      for (let n = 0; n < refused; n++) await rawHandle(threadId).signal('approve', { question: '9.nowhere:0' });
      const answer = (node: string): Promise<any> =>
        server.graphs.invoke(rolling_gates, new Command({ resume: { [`1.${node}:0`]: node } }), { threadId });
      const [left, right] = await Promise.all([answer('left'), answer('right')]);
      expect([left, right]).toContainEqual({ left: 'left', right: 'right', lines: ['"left" "right"'] });
      const decisions = await server.graphs.thread(threadId).decisions();
      expect(decisions.filter(({ verdict }) => verdict.kind === 'accepted')).toHaveLength(2);
    }
  });
});
