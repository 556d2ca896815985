import { HOARDED, hoard_stored, stored_large } from '../support/long-graphs';
import { storedNodes } from '../support/long-nodes';
import { workflowTaskFailures } from '../support/histories';
import { MemoryStorage } from '../support/memory-storage';
import { onServer } from '../support/on-server';
import { runsOf } from '../support/runs-of';

const storage = new MemoryStorage();
const server = onServer(() => ({ nodes: storedNodes }), { dataConverter: storage.converter() });

it('a result of 3 MB is carried, and a large state takes an answer', async () => {
  const threadId = server.threadId('stored');
  const characters = 3_000_000;
  await server.graphs.invoke(stored_large, { characters }, { threadId });
  const thread = server.graphs.thread(stored_large, threadId);
  expect(await thread.getState()).toMatchObject({ status: 'waiting', values: { text: 'x'.repeat(characters) } });
  const heard = 'y'.repeat(20_000);
  await thread.resume(heard);
  expect(await thread.untilStopped()).toEqual({
    characters,
    text: 'x'.repeat(characters),
    answer: { asked: characters, heard },
  });
  expect(storage.size).toBeGreaterThan(0);
  expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
});

it('a loop that adds 60 KiB of state a step, 200 times, completes with its values, over several runs', async () => {
  const threadId = server.threadId('hoard');
  const { at, hoard } = await server.graphs.invoke(hoard_stored, { steps: 200 }, { threadId, recursionLimit: 200 });
  expect({ at, length: hoard.length }).toEqual({ at: 200, length: 200 });
  expect(hoard.every((line) => line === HOARDED)).toBe(true);
  const runs = await runsOf(server.client, threadId);
  expect(runs.length).toBeGreaterThan(2);
  expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
}, 120_000);
