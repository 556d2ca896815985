import { INTERRUPT, isInterrupted, type GraphThread } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { traceOf, type Item, type Trace } from 'abeyance/trace';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { eventually } from '../support/eventually';
import { eventsOf, workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import * as graphs from '../support/local-graphs';
import { localNodes } from '../support/local-nodes';
import { onServer } from '../support/on-server';

type Visit = Extract<Item, { kind: 'node' }>;

const latches = new Latches();
const attempts = new Map<string, number>();
const nodes = localNodes({ attempts, held: (threadId) => latches.pass(threadId) });
const server = onServer(() => ({ nodes }));
const memory = new InMemoryGraphs({ nodes });

async function traceOfThread(threadId: string, graph?: AnyGraph): Promise<Trace> {
  return traceOf([await server.client.workflow.getHandle(threadId).fetchHistory()], { graph });
}

function visitsIn({ runs }: Trace): readonly Visit[] {
  const items = runs.flatMap(({ stops }) => stops).flatMap((stop) => stop.items);
  return items.filter((item): item is Visit => item.kind === 'node');
}

async function scheduled(threadId: string): Promise<readonly string[]> {
  const events = await eventsOf(server.client, threadId, 'activityTaskScheduledEventAttributes');
  return events.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? '');
}

async function historyOf(thread: GraphThread<any>): Promise<readonly unknown[]> {
  const states = [];
  for await (const { values, next, status, metadata } of thread.getStateHistory())
    states.push({ values, next, status, step: metadata.step });
  return states;
}

describe('a chain of local nodes', () => {
  it('runs within one workflow task, with one event each and no activity', async () => {
    const threadId = server.threadId('chain');
    const end = await server.graphs.invoke(graphs.local_chain, {}, { threadId });
    expect(end).toEqual({ lines: ['one', 'two after 1', 'here', 'three after 3 and 2'], count: 2 });
    expect(await scheduled(threadId)).toEqual([]);
    expect(await eventsOf(server.client, threadId, 'markerRecordedEventAttributes')).toHaveLength(3);
    expect(await eventsOf(server.client, threadId, 'workflowTaskCompletedEventAttributes')).toHaveLength(1);
  });

  it('reads as any other chain does: visits, what they were given and wrote, and checkpoints', async () => {
    const threadId = server.threadId('chain');
    await server.graphs.invoke(graphs.local_chain, {}, { threadId });
    await memory.invoke(graphs.local_chain, {}, { threadId });
    const trace = await traceOfThread(threadId, graphs.local_chain);
    expect(trace.notes).toEqual([]);
    expect(trace.runs[0]).toMatchObject({ folded: true, status: 'done' });
    expect(visitsIn(trace).map(({ id, where, status }) => [id, where, status])).toEqual([
      ['1.one#1', 'local', 'completed'],
      ['2.two#1', 'local', 'completed'],
      ['3.here#1', 'workflow', 'completed'],
      ['4.three#1', 'local', 'completed'],
    ]);
    expect(visitsIn(trace)[1]).toMatchObject({
      input: { kind: 'json', value: { count: 1 } },
      outcome: { kind: 'completed', updates: [{ lines: 'two after 1', count: 2 }] },
      idempotencyKey: expect.stringContaining('/2.two'),
    });
    const { events } = await server.client.workflow.getHandle(threadId).fetchHistory();
    expect(trace.runs[0]?.events).toBe(events?.length);
    // Without the graph all is seen but what ran in workflow code.
    expect(visitsIn(await traceOfThread(threadId)).map(({ node }) => node)).toEqual(['one', 'two', 'three']);

    const states = await historyOf(server.graphs.thread(graphs.local_chain, threadId));
    expect(states).toEqual(await historyOf(memory.thread(graphs.local_chain, threadId)));
    expect(states).toHaveLength(5);
  });
});

describe('a local node that asks', () => {
  it('is answered as any other, keeps what it did once, and leaves the activities to others', async () => {
    const threadId = server.threadId('ask');
    const paused = await server.graphs.invoke(graphs.local_ask, {}, { threadId });
    expect(isInterrupted(paused) && paused[INTERRUPT]).toMatchObject([{ id: '1.ask:0', value: { draft: 'rain 1' } }]);
    const waiting = await traceOfThread(threadId, graphs.local_ask);
    expect(waiting.thread.status).toBe('waiting');
    const thread = server.graphs.thread(graphs.local_ask, threadId);
    await thread.resume('go', { by: 'ana' });
    expect((await thread.untilStopped()).lines).toEqual(['rain 1: go', 'sent', 'filed']);
    expect(await scheduled(threadId)).toEqual(['local_ask.send']);
    expect(attempts.get(`${threadId} ask`)).toBe(1);

    const trace = await traceOfThread(threadId, graphs.local_ask);
    expect(trace.notes).toEqual([]);
    expect(trace.runs[0]?.stops.map(({ ended }) => ended)).toEqual(['paused', 'done']);
    expect(visitsIn(trace).map(({ id, where }) => [id, where])).toEqual([
      ['1.ask#1', 'local'],
      ['1.ask#2', 'local'],
      ['2.send#1', 'activity'],
      ['3.file#1', 'local'],
    ]);
    expect(visitsIn(trace)[1]).toMatchObject({ answers: [{ id: '1.ask:0', value: 'go', by: 'ana' }] });
    const wait = trace.runs[0]?.stops[0]?.items.find(({ kind }) => kind === 'wait');
    expect(wait).toMatchObject({ status: 'answered', answer: 'go', decision: { by: 'ana' } });
  });

  it('can be forked at its question', async () => {
    const threadId = server.threadId('ask');
    await server.graphs.invoke(graphs.local_ask, { topic: 'snow' }, { threadId });
    const thread = server.graphs.thread(graphs.local_ask, threadId);
    await thread.resume('go');
    await thread.untilStopped();
    let checkpoint: string | undefined;
    for await (const { next, metadata } of thread.getStateHistory())
      if (next[0] === 'ask') checkpoint ??= metadata.checkpoint;
    const other = await server.graphs.fork(graphs.local_ask, threadId, {
      checkpoint: checkpoint as string,
      threadId: server.threadId('fork'),
    });
    await other.untilStopped();
    await other.resume('stay');
    expect((await other.untilStopped()).lines).toEqual([expect.stringContaining(': stay'), 'sent', 'filed']);
  });
});

describe('a local node that fails', () => {
  it('is tried again, and its trace counts the attempts', async () => {
    const threadId = server.threadId('flaky');
    const { lines } = await server.graphs.invoke(graphs.local_flaky, { how: 'throws twice' }, { threadId });
    expect(lines).toEqual(['acted at attempt 3', 'after']);
    expect(visitsIn(await traceOfThread(threadId, graphs.local_flaky))[0]).toMatchObject({
      attempts: [{ status: 'failed' }, { status: 'failed' }, { status: 'completed' }],
    });
  });

  it('fails the run once its attempts are used up, typed, with node and task', async () => {
    const threadId = server.threadId('flaky');
    await expect(server.graphs.invoke(graphs.local_flaky, { how: 'throws' }, { threadId })).rejects.toMatchObject({
      code: 'NODE_FAILED',
      node: 'act',
      message: 'Node "act" failed: out of stock (3)',
    });
    const trace = await traceOfThread(threadId, graphs.local_flaky);
    expect(trace.notes).toEqual([]);
    expect(visitsIn(trace)).toMatchObject([
      { id: '1.act#1', task: '1.act', where: 'local', status: 'failed', failure: { message: 'out of stock (3)' } },
    ]);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('is not tried again with a value that does not fit the state', async () => {
    const threadId = server.threadId('flaky');
    await expect(server.graphs.invoke(graphs.local_flaky, { how: 'wrong' }, { threadId })).rejects.toMatchObject({
      code: 'STATE_INVALID',
      node: 'act',
    });
    expect(attempts.get(`${threadId} act`)).toBe(1);
  });

  it('has its error handled where it says how, and the history follows', async () => {
    const threadId = server.threadId('mended');
    const { lines } = await server.graphs.invoke(graphs.local_mended, { how: 'throws' }, { threadId });
    expect(lines).toEqual(['NODE_FAILED: Node "act" failed: out of stock (2)', 'after']);
    expect(await traceOfThread(threadId, graphs.local_mended)).toMatchObject({ notes: [], runs: [{ folded: true }] });
  });

  it('waits for a later attempt with a timer, and shows that it does', async () => {
    const threadId = server.threadId('patient');
    await server.graphs.start(graphs.local_patient, { how: 'throws' }, { threadId });
    await eventually(async () =>
      expect(await eventsOf(server.client, threadId, 'timerStartedEventAttributes')).toHaveLength(1),
    );
    const trace = await traceOfThread(threadId, graphs.local_patient);
    expect(trace).toMatchObject({ notes: [], thread: { status: 'running' } });
    expect(visitsIn(trace)).toMatchObject([{ id: '1.act#1', where: 'local', status: 'scheduled' }]);
    await server.client.workflow.getHandle(threadId).terminate();
  });
});

describe('what local nodes put on record', () => {
  it('is spread over several workflow tasks where one cannot carry it', async () => {
    const threadId = server.threadId('crowd');
    const { lines } = await server.graphs.invoke(graphs.local_crowd, { tasks: 50 }, { threadId });
    expect(lines).toHaveLength(51);
    expect(await scheduled(threadId)).toEqual([]);
    expect(await eventsOf(server.client, threadId, 'timerFiredEventAttributes')).toHaveLength(1);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
    expect(await traceOfThread(threadId, graphs.local_crowd)).toMatchObject({ notes: [], runs: [{ folded: true }] });
  });

  it('does not wait for an activity beside them to bring the next workflow task', async () => {
    const threadId = server.threadId('beside');
    latches.close(threadId);
    const thread = await server.graphs.start(graphs.local_beside, { tasks: 50 }, { threadId });
    try {
      await eventually(async () =>
        expect(await eventsOf(server.client, threadId, 'markerRecordedEventAttributes')).toHaveLength(50),
      );
    } finally {
      latches.open(threadId);
    }
    expect((await thread.untilStopped()).lines).toHaveLength(51);
    expect(await traceOfThread(threadId, graphs.local_beside)).toMatchObject({ notes: [], runs: [{ folded: true }] });
  });

  it('runs as an activity where it reads too much for a marker', async () => {
    const threadId = server.threadId('heavy');
    const { lines } = await server.graphs.invoke(graphs.local_heavy, { text: 'x'.repeat(200_000) }, { threadId });
    expect(lines[0]).toHaveLength(400_000);
    expect(await scheduled(threadId)).toEqual(['local_heavy.act']);
  });

  it('fails the run where it writes too much for one', async () => {
    const threadId = server.threadId('heavy');
    const text = 'x'.repeat(100_000);
    await expect(server.graphs.invoke(graphs.local_heavy, { text }, { threadId })).rejects.toMatchObject({
      code: 'STATE_TOO_LARGE',
      node: 'act',
      message: expect.stringContaining("run: 'local'"),
    });
  });
});

it('local nodes abreast end in any order, in workflow tasks of one activation or many, and replay all the same', async () => {
  const threads = Array.from({ length: 6 }, () => server.threadId('abreast'));
  await Promise.all(
    threads.map(async (threadId) => {
      await server.graphs.invoke(graphs.local_abreast, {}, { threadId });
      const thread = server.graphs.thread(graphs.local_abreast, threadId);
      await thread.resume('yes');
      const { lines } = await thread.untilStopped();
      expect(lines).toHaveLength(6);
      const trace = await traceOfThread(threadId, graphs.local_abreast);
      expect(trace).toMatchObject({ notes: [], runs: [{ folded: true }] });
    }),
  );
});

test.each([
  ['the first of its run', graphs.local_slow, '1.hang:0', ['1.hang#1']],
  ['one that follows another', graphs.local_hang, '2.hang:0', ['1.before#1', '2.hang#1']],
])(
  'a local node may outlast its workflow task, whatever comes in meanwhile: %s',
  async (_, graph, question, visits) => {
    const threadId = server.threadId('hang');
    latches.close(threadId);
    const handle = await server.client.workflow.start(graph.name, {
      args: [{}],
      taskQueue: server.taskQueue,
      workflowId: threadId,
      workflowTaskTimeout: '1s',
    });
    const workflowTasks = (): Promise<readonly unknown[]> =>
      eventsOf(server.client, threadId, 'workflowTaskCompletedEventAttributes');
    await eventually(async () => expect((await workflowTasks()).length).toBeGreaterThan(1));
    await handle.signal('approve', { question });
    const before = (await workflowTasks()).length;
    await eventually(async () => expect((await workflowTasks()).length).toBeGreaterThan(before));
    latches.open(threadId);
    expect(await handle.result()).toMatchObject({ lines: expect.arrayContaining(['hung no more']) });
    const trace = await traceOfThread(threadId, graph);
    expect(trace).toMatchObject({ notes: [], runs: [{ folded: true }] });
    expect(visitsIn(trace).map(({ id }) => id)).toEqual(visits);
  },
);
