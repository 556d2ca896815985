import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInterrupted } from 'abeyance';
import { gated_agent } from '../../examples/interrupt-chapter/graphs';
import { SideEffects } from '../../examples/interrupt-chapter/side-effects';
import { errand } from '../support/asking-graphs';
import { local_hang } from '../support/local-graphs';
import { eventually } from '../support/eventually';
import { forkWorker, type ForkedWorker } from '../support/fork-worker';
import { workflowTaskFailures } from '../support/histories';
import { onServer } from '../support/on-server';

const directory = mkdtempSync(join(tmpdir(), 'killed-worker-test-'));
const effectsFile = join(directory, 'effects.jsonl');
const orders = (threadId: string): readonly unknown[] => new SideEffects(effectsFile).of('order_placed', threadId);

const server = onServer(() => ({}));
const workers: ForkedWorker[] = [];

async function startWorker(): Promise<ForkedWorker> {
  const worker = await forkWorker(server.taskQueue, effectsFile);
  workers.push(worker);
  return worker;
}

// The workers of this file live in processes of their own.
beforeAll(() => server.stopWorker());
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  rmSync(directory, { recursive: true, force: true });
});

it('a worker killed between pause and decision loses nothing: denied orders nothing, approved orders once', async () => {
  const [denied, approved] = [server.threadId('denied'), server.threadId('approved')];
  const messages = [{ role: 'human' as const, content: 'Order 500 widgets.' }];
  const first = await startWorker();
  for (const threadId of [denied, approved])
    expect(isInterrupted(await server.graphs.invoke(gated_agent, { messages }, { threadId }))).toBe(true);
  await first.kill();

  const decided = Promise.all([
    server.graphs.thread(denied).deny({ by: 'ana' }),
    server.graphs.thread(approved).approve({ by: 'ana' }),
  ]);
  await startWorker();
  await decided;
  const ends = await Promise.all([denied, approved].map((id) => server.graphs.thread(gated_agent, id).untilStopped()));

  expect(ends.map((end) => end.messages.at(-1)?.content)).toEqual(['denied by approver', 'ordered 500 x widget']);
  expect(orders(denied)).toEqual([]);
  expect(orders(approved)).toHaveLength(1);
  for (const threadId of [denied, approved]) expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
});

it('a worker killed after its node has done two things once does neither of them again', async () => {
  const threadId = server.threadId('errand');
  const effects = (): string[] =>
    readFileSync(effectsFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes(threadId));
  const worker = workers.at(-1) as ForkedWorker;
  await server.graphs.start(errand, {}, { threadId });
  const handle = server.client.workflow.getHandle(threadId);
  await eventually(async () => {
    const { raw } = await handle.describe();
    const recorded = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0]?.data;
    expect(String(Buffer.from(recorded ?? []))).toContain('second');
  }, 1_200);
  await worker.kill();

  await startWorker();
  expect(await server.graphs.thread(errand, threadId).untilStopped()).toEqual({ done: ['first', 'second'] });
  expect(effects()).toEqual([`${threadId} first`, `${threadId} second`]);
});

it('a worker killed in a local node loses its workflow task and nothing else', async () => {
  const threadId = server.threadId('local');
  await server.graphs.start(local_hang, {}, { threadId });
  const begun = `${threadId} begun`;
  await eventually(() => expect(readFileSync(effectsFile, 'utf8')).toContain(begun));
  await (workers.at(-1) as ForkedWorker).kill();

  await startWorker();
  expect(await server.graphs.thread(local_hang, threadId).untilStopped()).toEqual({
    lines: ['before', 'hung no more'],
  });
  expect(readFileSync(effectsFile, 'utf8').split(begun)).toHaveLength(3);
}, 30_000);
