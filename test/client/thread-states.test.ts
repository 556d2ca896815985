import { ask, ask_twice, gate } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { failing } from '../support/failing-graphs';
import { failingNodes } from '../support/failing-nodes';
import { eventually } from '../support/eventually';
import { order } from '../support/graphs';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';

const latches = new Latches();
const server = onServer(() => ({ nodes: [...askingNodes(latches), ...failingNodes(new Map())] }));

async function paused(graph: typeof ask | typeof ask_twice | typeof gate): Promise<string> {
  const threadId = server.threadId(graph.name);
  await server.graphs.invoke(graph as typeof ask, {}, { threadId });
  return threadId;
}

describe('getState tells where a thread stands', () => {
  it('while a node runs', async () => {
    const threadId = server.threadId('order');
    latches.close(threadId);
    const thread = await server.graphs.start(order, { order_total: 1 }, { threadId });
    await latches.reached(threadId);
    expect(await thread.getState()).toMatchObject({
      status: 'running',
      next: ['step_one'],
      values: { order_total: 1, approved: false },
      interrupts: [],
      tasks: [{ id: '1.step_one', name: 'step_one', visit: 1, status: 'running' }],
      metadata: { threadId, graph: 'order', step: 1, source: 'run' },
    });
    latches.open(threadId);
    await thread.untilStopped();
  });

  it('while it waits at the second question of a node', async () => {
    const threadId = await paused(ask_twice);
    const thread = server.graphs.thread(ask_twice, threadId);
    await thread.resume('one');
    await thread.untilStopped();
    expect(await thread.getState()).toMatchObject({
      status: 'waiting',
      next: ['ask'],
      values: { first: 'unanswered', second: 'unanswered' },
      interrupts: [{ id: '1.ask:1', node: 'ask', value: 'second?', kind: 'question' }],
      tasks: [{ name: 'ask', visit: 2, status: 'waiting' }],
    });
  });

  it('after the end', async () => {
    const threadId = await paused(ask);
    const thread = server.graphs.thread(ask, threadId);
    await thread.resume({ all: 'well' });
    await thread.untilStopped();
    expect(await thread.getState()).toMatchObject({
      status: 'done',
      next: [],
      tasks: [],
      interrupts: [],
      values: { answer: { all: 'well' } },
      metadata: { source: 'result', step: 1 },
    });
  });

  it('after a failure: the code, the last values and the node that has not finished', async () => {
    const threadId = server.threadId('failing');
    await server.graphs.start(failing, { how: 'router throws', count: 3 }, { threadId });
    const thread = server.graphs.thread(failing, threadId);
    await expect(thread.untilStopped()).rejects.toMatchObject({ code: 'ROUTER_FAILED', node: 'act' });
    expect(await thread.getState()).toMatchObject({
      status: 'failed',
      values: { how: 'router throws', count: 3 },
      metadata: { error: { code: 'ROUTER_FAILED', message: expect.stringContaining('left or right?') } },
    });
  });

  it('after it was cancelled: its question is no longer open', async () => {
    const threadId = await paused(gate);
    const handle = server.client.workflow.getHandle(threadId);
    await handle.cancel();
    await expect(handle.result()).rejects.toThrow();
    const thread = server.graphs.thread(gate, threadId);
    await expect(thread.untilStopped()).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    expect(await thread.getState()).toMatchObject({
      status: 'cancelled',
      next: ['gate'],
      interrupts: [],
      metadata: { error: { code: 'RUN_CANCELLED' } },
    });
    await expect(thread.approve()).rejects.toMatchObject({ code: 'THREAD_FINISHED' });
  });

  it('after it was terminated', async () => {
    const threadId = await paused(gate);
    await server.client.workflow.getHandle(threadId).terminate('enough');
    const thread = server.graphs.thread(gate, threadId);
    await expect(thread.untilStopped()).rejects.toMatchObject({
      code: 'RUN_TERMINATED',
      message: expect.stringContaining('enough'),
    });
    expect(await thread.getState()).toMatchObject({
      status: 'terminated',
      next: ['gate'],
      interrupts: [],
      metadata: { error: { code: 'RUN_TERMINATED' } },
    });
  });

  it('while it is being cancelled in the middle of a node', async () => {
    const threadId = server.threadId('order');
    latches.close(threadId);
    const thread = await server.graphs.start(order, { order_total: 1 }, { threadId });
    await latches.reached(threadId);
    const stopped = thread.untilStopped().catch((error: unknown) => error);
    await server.client.workflow.getHandle(threadId).cancel();
    expect(await stopped).toMatchObject({ code: 'RUN_CANCELLED' });
    latches.open(threadId);
    await eventually(async () => expect(await thread.getState()).toMatchObject({ status: 'cancelled' }));
  });
});

describe('untilStopped', () => {
  it('after the end gives the result, as often as it is asked', async () => {
    const thread = server.graphs.thread(ask, await paused(ask));
    await thread.resume(0);
    expect([await thread.untilStopped(), await thread.untilStopped()]).toEqual([{ answer: 0 }, { answer: 0 }]);
  });

  it('serves several that wait at once, from before the question until the end', async () => {
    const threadId = server.threadId('ask');
    latches.close(threadId);
    const thread = await server.graphs.start(ask, {}, { threadId });
    const waiting = [thread.untilStopped(), server.graphs.thread(threadId).untilStopped()];
    latches.open(threadId);
    for (const stop of await Promise.all(waiting)) expect(stop).toHaveProperty('__interrupt__');
    const ended = thread.approve().then(() => Promise.all([thread.untilStopped(), thread.untilStopped()]));
    expect(await ended).toEqual([{ answer: true }, { answer: true }]);
  });
});

describe('while no worker runs', () => {
  let threadId: string;
  let fresh: string;
  beforeAll(async () => {
    threadId = await paused(gate);
    await server.stopWorker();
    fresh = server.threadId('ask');
    await server.graphs.start(ask, {}, { threadId: fresh });
  });
  afterAll(() => server.startWorker());

  it('getState reads what the run has published, and what nobody can answer says so', async () => {
    const [state, decisions, neverRun] = await Promise.all([
      server.graphs.thread(gate, threadId).getState(),
      server.graphs
        .thread(gate, threadId)
        .decisions()
        .catch((error: unknown) => error),
      server.graphs
        .thread(ask, fresh)
        .getState()
        .catch((error: unknown) => error),
    ]);
    expect(state).toMatchObject({
      status: 'waiting',
      next: ['gate'],
      values: { decision: 'unanswered' },
      interrupts: [{ id: '2.gate:0', kind: 'approval', value: { question: 'go ahead?' } }],
      metadata: { source: 'memo', step: 2 },
    });
    for (const error of [decisions, neverRun]) {
      expect(error).toMatchObject({ code: 'THREAD_UNREACHABLE' });
      expect((error as Error).message).toMatch(/No worker answered.*Start one that serves graph/);
    }
  });
});
