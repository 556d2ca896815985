import { MEMO_KEY, type PublishedView } from 'abeyance/workflow';
import { gate, two_gates } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { eventually } from '../support/eventually';
import { order } from '../support/graphs';
import { eventsOf } from '../support/histories';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';

const server = onServer(() => ({ nodes: askingNodes(new Latches()) }));

async function paused(graph: typeof gate | typeof two_gates | typeof order, input = {}): Promise<string> {
  const threadId = server.threadId(graph.name);
  await server.graphs.invoke(graph as typeof gate, input, { threadId });
  return threadId;
}

async function listed(query: string): Promise<string[]> {
  const found: string[] = [];
  const mine = `${query} AND TaskQueue = "${server.taskQueue}"`;
  for await (const { workflowId } of server.client.workflow.list({ query: mine })) found.push(workflowId);
  return found;
}

const published = async (threadId: string): Promise<PublishedView> =>
  (await server.client.workflow.getHandle(threadId).describe()).memo?.[MEMO_KEY] as PublishedView;

async function currentDetails(threadId: string): Promise<string> {
  const metadata = await server.client.workflow.getHandle(threadId).query<any>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
}

const WAITING = 'AbeyanceStatus = "waiting"';

describe('one list query finds the threads that wait', () => {
  it('while they do, by node too, and no longer once they have their answer', async () => {
    const threadId = await paused(order, { order_total: 5 });
    await eventually(async () => expect(await listed(WAITING)).toContain(threadId));
    await eventually(async () => expect(await listed('AbeyanceWaitingFor = "place_order"')).toEqual([threadId]));
    expect(await listed('AbeyanceWaitingFor = "gate"')).not.toContain(threadId);
    await server.graphs.thread(threadId).approve();
    await server.graphs.thread(threadId).untilStopped();
    await eventually(async () => expect(await listed(WAITING)).not.toContain(threadId));
    expect(await listed('AbeyanceWaitingFor = "place_order"')).toEqual([]);
    await eventually(async () => expect(await listed('AbeyanceStatus = "done"')).toContain(threadId));
  });

  it('by each node of several, and by those left after one answer', async () => {
    const threadId = await paused(two_gates);
    for (const node of ['left', 'right'])
      await eventually(async () => expect(await listed(`AbeyanceWaitingFor = "${node}"`)).toEqual([threadId]));
    await server.graphs.thread(threadId).approve({ node: 'left' });
    await eventually(async () => expect(await listed('AbeyanceWaitingFor = "left"')).toEqual([]));
    expect(await listed('AbeyanceWaitingFor = "right"')).toEqual([threadId]);
  });

  it('but not those that were cancelled while they waited', async () => {
    const threadId = await paused(gate);
    await eventually(async () => expect(await listed(WAITING)).toContain(threadId));
    await server.client.workflow.getHandle(threadId).cancel();
    await eventually(async () => expect(await listed(WAITING)).not.toContain(threadId));
    expect((await published(threadId)).questions).toEqual([]);
    expect(await currentDetails(threadId)).toBe('');
  });
});

describe('the memo of a run', () => {
  it('shows its graph, values, next nodes and questions to anyone without a worker', async () => {
    const threadId = await paused(order, { order_total: 5 });
    const memo = await published(threadId);
    expect(memo).toMatchObject({
      graph: 'order',
      fingerprint: order.fingerprint,
      status: 'waiting',
      step: 2,
      values: { order_total: 5, approved: false },
      next: ['place_order'],
      questions: [{ id: '2.place_order:0', node: 'place_order', value: { question: 'approve?', total: 5 } }],
    });
    expect(memo.questions[0]?.digest).toMatch(/./);
    expect(Date.parse(memo.questions[0]?.askedAt ?? '')).not.toBeNaN();
    await server.graphs.thread(threadId).approve();
    await server.graphs.thread(threadId).untilStopped();
    expect(await published(threadId)).toMatchObject({ questions: [] });
  });

  it('costs one event when a question opens and one when none is left', async () => {
    const threadId = await paused(gate);
    const memoEvents = () => eventsOf(server.client, threadId, 'workflowPropertiesModifiedEventAttributes');
    const attributeEvents = () => eventsOf(server.client, threadId, 'upsertWorkflowSearchAttributesEventAttributes');
    expect([(await memoEvents()).length, (await attributeEvents()).length]).toEqual([1, 1]);
    await server.graphs.thread(threadId).approve();
    await server.graphs.thread(threadId).untilStopped();
    expect([(await memoEvents()).length, (await attributeEvents()).length]).toEqual([2, 2]);
  });
});

describe('the Temporal UI', () => {
  it('is told in words what is waited for and how to answer', async () => {
    const threadId = await paused(gate);
    const details = await currentDetails(threadId);
    expect(details).toContain('**gate** waits for an approval');
    expect(details).toContain('"question": "go ahead?"');
    expect(details).toContain('`approve` or `deny`');
    expect(details).toContain('2.gate:0');
    await server.graphs.thread(threadId).approve();
    await server.graphs.thread(threadId).untilStopped();
    expect(await currentDetails(threadId)).toBe('');
  });

  it('shows the node on each activity, and the graph on the run', async () => {
    const threadId = await paused(order, { order_total: 5 });
    await server.graphs.thread(threadId).approve();
    await server.graphs.thread(threadId).untilStopped();
    const scheduled = await eventsOf(server.client, threadId, 'activityTaskScheduledEventAttributes');
    const summaries = scheduled.map(
      ({ userMetadata, activityTaskScheduledEventAttributes: { activityId, activityType } = {} as any }) => [
        activityId,
        activityType.name,
        JSON.parse(String(Buffer.from(userMetadata?.summary?.data ?? []))),
      ],
    );
    expect(summaries).toEqual([
      ['1.step_one#1', 'order.step_one', 'step_one'],
      ['2.place_order#1', 'order.place_order', 'place_order'],
      ['2.place_order#2', 'order.place_order', 'place_order · after the answer'],
    ]);
    const { staticSummary } = await server.client.workflow
      .getHandle(threadId)
      .describe()
      .then(async (run) => ({
        staticSummary: await run.staticSummary(),
      }));
    expect(staticSummary).toBe('graph order');
  });

  it('lists the signals, updates and queries with what they do', async () => {
    const threadId = await paused(gate);
    const { definition } = await server.client.workflow.getHandle(threadId).query<any>('__temporal_workflow_metadata');
    const described = (list: readonly { name: string; description?: string }[]): string[] =>
      list.filter(({ description }) => description).map(({ name }) => name);
    expect(described(definition.signalDefinitions)).toEqual(
      expect.arrayContaining(['approve', 'deny', 'edit', 'respond', 'resume']),
    );
    expect(described(definition.updateDefinitions)).toEqual(
      expect.arrayContaining(['decide', 'resume', 'untilStopped']),
    );
    expect(described(definition.queryDefinitions)).toEqual(
      expect.arrayContaining(['state', 'pending', 'decisions', 'graph']),
    );
  });
});
