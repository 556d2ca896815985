import { OMITTED } from 'abeyance';
import { HOARDED, hoard, hoard_read, marathon, overgrown } from '../support/long-graphs';
import { longNodes } from '../support/long-nodes';
import { workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';
import { runsOf } from '../support/runs-of';

const server = onServer(() => ({ nodes: longNodes(new Latches(), new Map()) }), { silent: true });

const thrownBy = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

it('T13: a loop of 3,000 steps with thirty gates finishes, over several runs', async () => {
  const threadId = server.threadId('marathon');
  await server.graphs.invoke(marathon, { steps: 3_000 }, { threadId });
  const thread = server.graphs.thread(marathon, threadId);
  const asked: string[] = [];
  for (let gate = 0; gate < 30; gate++) {
    const [question] = (await thread.getState()).interrupts;
    asked.push(question?.id ?? 'none');
    await thread.approve({ question: question?.id, by: `approver ${gate}` });
    await thread.untilStopped();
  }
  const { at, worked, gates } = await thread.untilStopped();
  expect({ at, worked }).toEqual({ at: 3_000, worked: 270 });
  expect(gates).toEqual(Array.from({ length: 30 }, (_, n) => `${n * 100 + 99} approver ${n}`));
  expect(asked).toEqual(Array.from({ length: 30 }, (_, n) => `${(n + 1) * 100}.gate:0`));
  expect(await thread.decisions()).toHaveLength(30);
  expect((await runsOf(server.client, threadId)).length).toBeGreaterThan(3);
  expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
}, 90_000);

describe('a loop that adds 60 KiB of state a step, 200 times', () => {
  it('completes in one run, each step the same size, where nodes declare what they read', async () => {
    const threadId = server.threadId('hoard');
    const result = await server.graphs.invoke(hoard, { steps: 200 }, { threadId, recursionLimit: 200 });
    expect(result).toEqual({ [OMITTED]: { bytes: expect.any(Number) } });
    expect(result[OMITTED]?.bytes).toBeGreaterThan(200 * HOARDED.length);
    const runs = await runsOf(server.client, threadId);
    expect(runs).toHaveLength(1);
    const inputs = runs.flatMap(({ events }) =>
      events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled ? [scheduled.input?.payloads?.reduce((sum, { data }) => sum + (data?.length ?? 0), 0) ?? 0] : [],
      ),
    );
    expect(inputs).toHaveLength(200);
    expect(Math.max(...inputs) - Math.min(...inputs)).toBeLessThan(50);
    const { historySize } = await server.client.workflow.getHandle(threadId).describe();
    expect(historySize).toBeLessThan(200 * (HOARDED.length + 3_000));
    expect(await server.graphs.thread(hoard, threadId).getState()).toMatchObject({
      status: 'done',
      values: {},
      metadata: { omitted: { bytes: expect.any(Number) } },
    });
  }, 60_000);

  it('fails typed, naming node and size, where every node reads everything', async () => {
    const threadId = server.threadId('hoard-read');
    const running = server.graphs.invoke(hoard_read, { steps: 200 }, { threadId, recursionLimit: 200 });
    expect(await thrownBy(running)).toMatchObject({
      code: 'STATE_TOO_LARGE',
      node: 'add',
      message: expect.stringMatching(/input of "add" takes 1\.8 MB/),
    });
    expect((await runsOf(server.client, threadId)).length).toBeGreaterThan(1);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  }, 60_000);
});

it('a run that can neither go on nor roll over fails typed, and says what is too large', async () => {
  const threadId = server.threadId('overgrown');
  const error = await thrownBy(server.graphs.invoke(overgrown, {}, { threadId }));
  expect(error).toMatchObject({
    code: 'HISTORY_TOO_LARGE',
    message: expect.stringMatching(/state key "(one|two)" 1\.7 MB.*external storage/),
  });
  const [run, ...more] = await runsOf(server.client, threadId);
  expect(more).toEqual([]);
  expect(run?.events.at(-1)?.workflowExecutionFailedEventAttributes).toBeTruthy();
}, 60_000);
