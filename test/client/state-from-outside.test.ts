import { INTERRUPT } from 'abeyance';
import { askingNodes } from '../support/asking-nodes';
import { order } from '../support/graphs';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';

const server = onServer(() => ({ nodes: askingNodes(new Latches()) }));

it('edits a thread that waits, tells its history, and forks it without what was decided', async () => {
  const threadId = server.threadId('outside');
  await server.graphs.invoke(order, { order_total: 1 }, { threadId });
  const thread = server.graphs.thread(order, threadId);
  const bare = server.client.workflow.getHandle(thread.id).executeUpdate('updateState', { args: [null] });
  await expect(bare).rejects.toMatchObject({ cause: { type: 'INVALID_NODE_RETURN' } });
  const edited = await thread.updateState({ order_total: 9 });
  expect(edited).toMatchObject({
    status: 'waiting',
    values: { order_total: 9 },
    interrupts: [{ node: 'place_order' }],
  });
  // The question was about another total, so its answer is not handed over: the node asks about this one.
  await thread.approve({ by: 'ana' });
  expect(await thread.untilStopped()).toMatchObject({
    [INTERRUPT]: [{ id: '2.place_order:0~2', value: { total: 9 } }],
  });
  await thread.approve({ by: 'ana' });
  expect(await thread.untilStopped()).toMatchObject({ order_total: 9, approved: true });

  const history: any[] = [];
  for await (const state of thread.getStateHistory()) history.push(state);
  expect(history.map(({ next, values }) => [next, values.order_total])).toEqual([
    [[], 9],
    [['place_order'], 9],
    [['place_order'], 1],
    [['step_one'], 1],
  ]);

  const { checkpoint } = history[1].metadata;
  const fork = await server.graphs.fork(order, threadId, { checkpoint, threadId: server.threadId('fork') });
  expect((await fork.untilStopped())[INTERRUPT]).toHaveLength(1);
  expect(await fork.decisions()).toEqual([]);
  expect((await fork.getState()).metadata.origin).toEqual({ threadId, checkpoint });
  await fork.deny();
  expect(await fork.untilStopped()).toMatchObject({ order_total: 9, approved: false });
});

it('an update as the node that asks stands in for it', async () => {
  const threadId = server.threadId('stood-in');
  await server.graphs.invoke(order, { order_total: 1 }, { threadId });
  const thread = server.graphs.thread(order, threadId);
  await thread.updateState({ approved: true }, { asNode: 'place_order' });
  expect(await thread.untilStopped()).toMatchObject({ approved: true });
});
