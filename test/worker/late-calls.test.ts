import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pausing_order } from '../../examples/interrupt-chapter/graphs';
import { careless } from '../support/asking-graphs';
import { eventually } from '../support/eventually';
import { forkWorker } from '../support/fork-worker';
import { onServer } from '../support/on-server';

const directory = mkdtempSync(join(tmpdir(), 'late-calls-test-'));
const effectsFile = join(directory, 'effects.jsonl');
const server = onServer(() => ({}));
// What ends a process must not end the tests' own.
beforeAll(() => server.stopWorker());
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const wasLate = (threadId: string): Promise<void> =>
  eventually(() => expect(readFileSync(effectsFile, 'utf8')).toContain(`${threadId} late`));

it('an interrupt from a branch that a body left behind does not end the worker; any other rejection does', async () => {
  const worker = await forkWorker(server.taskQueue, effectsFile);
  const first = server.threadId('careless');
  expect(await server.graphs.invoke(careless, {}, { threadId: first })).toEqual({ what: 'interrupt' });
  await wasLate(first);
  const threadId = server.threadId('pausing-order');
  expect(await server.graphs.invoke(pausing_order, { order_total: 1 }, { threadId })).toHaveProperty('__interrupt__');
  await eventually(() => expect(worker.errors()).toContain('Await every branch'));

  const second = server.threadId('careless');
  await server.graphs.start(careless, { what: 'an error' }, { threadId: second });
  expect(await worker.ended).toBe(1);
  expect(worker.errors()).toContain('an error of their own');
  await wasLate(second);
});
