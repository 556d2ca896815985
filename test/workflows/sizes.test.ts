import { isInterrupted, OMITTED } from 'abeyance';
import { workflowTaskFailures } from '../support/histories';
import { large, largeNodes, overweight, wide } from '../support/large-graphs';
import { onServer } from '../support/on-server';

const server = onServer(() => ({ nodes: largeNodes }), { silent: true });

async function statusOf(threadId: string): Promise<string> {
  return (await server.client.workflow.getHandle(threadId).describe()).status.name;
}

describe('a run that holds more than a reply can carry', () => {
  it('waits on though its question is large, whoever looks', async () => {
    const threadId = server.threadId('large');
    const thread = await server.graphs.start(large, { question: 1_100_000 }, { threadId });
    await thread.untilStopped();
    await server.graphs.thread(threadId).untilStopped();
    expect((await thread.getState()).interrupts).toMatchObject([{ id: '3.ask:0' }]);
    expect(await statusOf(threadId)).toBe('RUNNING');
    await thread.approve();
    expect(await thread.untilStopped()).toMatchObject({ answer: true });
  });

  it('says that its values are left out, and waits on', async () => {
    const threadId = server.threadId('large');
    const paused = await server.graphs.invoke(large, { state: 1_100_000 }, { threadId });
    expect(isInterrupted(paused)).toBe(true);
    const { metadata, values, next } = await server.graphs.thread(large, threadId).getState();
    expect({ values, next }).toEqual({ values: {}, next: ['ask'] });
    expect(metadata.omitted?.bytes).toBeGreaterThan(2_000_000);
    expect(await statusOf(threadId)).toBe('RUNNING');
  });

  it('ends without its values, says so, and is not taken for one that can be gone on from', async () => {
    const threadId = server.threadId('large');
    await server.graphs.invoke(large, { state: 1_100_000 }, { threadId });
    const thread = server.graphs.thread(large, threadId);
    await thread.approve();
    const omitted = { bytes: expect.any(Number) };
    expect(await thread.untilStopped()).toEqual({ [OMITTED]: omitted });
    expect(await server.client.workflow.getHandle(threadId).result()).toEqual({ [OMITTED]: omitted });
    expect(await thread.getState()).toMatchObject({ status: 'done', values: {}, metadata: { omitted } });
    await expect(server.graphs.invoke(large, {}, { threadId })).rejects.toMatchObject({ code: 'STATE_TOO_LARGE' });
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });
});

describe('an answer from outside never ends the run', () => {
  it.each([
    ['too large to be carried', 'x'.repeat(1_600_000)],
    ['nested too deep to be read', Array.from({ length: 250 }).reduce<unknown>((inner) => [inner], 0)],
  ])('though it is %s, as a signal', async (_, value) => {
    const threadId = server.threadId('large');
    const thread = await server.graphs.start(large, {}, { threadId });
    await thread.untilStopped();
    await server.client.workflow.getHandle(threadId).signal('resume', value);
    await thread.approve();
    expect(await thread.untilStopped()).toMatchObject({ answer: true });
    expect((await thread.decisions()).filter(({ verdict }) => verdict.kind === 'refused')).toHaveLength(1);
  });

  it('though it is too large, as an update: it is refused to the sender', async () => {
    const threadId = server.threadId('large');
    const thread = await server.graphs.start(large, {}, { threadId });
    await thread.untilStopped();
    await expect(thread.resume('x'.repeat(1_600_000))).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE' });
    await thread.resume('x'.repeat(1_000_000));
    expect(await thread.untilStopped()).toMatchObject({ answer: 'x'.repeat(1_000_000) });
  });
});

describe('a node that gives back more than can be carried', () => {
  it.each(['result', 'once'])('fails the run typed, naming node and size: %s', async (how) => {
    const threadId = server.threadId('overweight');
    await expect(server.graphs.invoke(overweight, { how }, { threadId })).rejects.toMatchObject({
      code: 'STATE_TOO_LARGE',
      node: 'act',
      message: expect.stringContaining('3.0 MB'),
    });
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });
});

describe('a fan-out that is too much for one workflow task', () => {
  it.each([
    ['by its bytes', { tasks: 6, characters: 900_000 }],
    ['by its number', { tasks: 2_500, characters: 10 }],
  ])(
    'is scheduled in several: %s',
    async (_, input) => {
      const threadId = server.threadId('wide');
      expect(await server.graphs.invoke(wide, input, { threadId })).toMatchObject({ count: input.tasks });
      expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
    },
    120_000,
  );
});
