import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { findServer } from '../../src/server/find-server';
import { isPortFree } from '../../src/server/free-port';
import { type RunningServer, startServer } from '../../src/server/index';
import { scratchDirectory, temporalBody, writeProgram } from './fake-programs';

const env = { ...process.env, TEMPORAL_ADDRESS: undefined };
const scratch = scratchDirectory();
afterAll(scratch.remove);

const portOf = (server: RunningServer) => Number(server.address.split(':')[1]);

describe('a started server', () => {
  let server: RunningServer;
  let connection: Connection;

  beforeAll(async () => {
    server = await startServer({
      env: { ...env, TEMPORAL_NAMESPACE: 'elsewhere', TEMPORAL_PROFILE: 'production' },
      searchAttributes: { Team: 'Keyword' },
    });
    connection = await Connection.connect({ address: server.address });
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  test('listens on this machine only and uses the default namespace, whatever profile is set', async () => {
    expect(server).toMatchObject({ address: expect.stringMatching(/^127\.0\.0\.1:\d+$/), namespace: 'default' });
    const { namespaces } = await connection.workflowService.listNamespaces({});
    expect(namespaces.map(({ namespaceInfo }) => namespaceInfo?.name).sort()).toEqual(['default', 'temporal-system']);
  });

  test("has the library's search attributes and those asked for", async () => {
    const { namespace } = server;
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const [keyword, keywordList] = [2, 7];
    expect(customAttributes).toMatchObject({ AbeyanceStatus: keyword, AbeyanceWaitingFor: keywordList, Team: keyword });
  });

  test('takes runs at once, and its timers are not rounded up to a second', async () => {
    const client = new Client({ connection });
    const { namespace } = server;
    const taskQueue = 'timers';
    const started = performance.now();
    for (const workflowId of ['one', 'two', 'three', 'four', 'five']) {
      await client.workflow.start('any', { workflowId, taskQueue, startDelay: '1 ms' });
      const task = await connection.withDeadline(Date.now() + 10_000, () =>
        connection.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
      );
      expect(task.workflowExecution?.workflowId).toBe(workflowId);
    }
    expect(performance.now() - started).toBeLessThan(1_500);
  });

  test('serves the web UI', async () => {
    expect((await fetch(server.uiUrl!)).status).toBe(200);
  });
});

describe('stopping', () => {
  test('ends the server for good, also when asked twice, and a database file keeps its workflows', async () => {
    const options = { env, ui: false, dbFilename: path.join(scratch.path, 'temporal.db') };
    const first = await startServer(options);
    expect(first.uiUrl).toBeUndefined();
    const connection = await Connection.connect({ address: first.address });
    await new Client({ connection }).workflow.start('any', { workflowId: 'kept', taskQueue: 'none' });
    await connection.close();
    await Promise.all([first.stop(), first.stop()]);
    await first.stop();
    expect(await isPortFree('127.0.0.1', portOf(first))).toBe(true);

    const second = await startServer({ ...options, port: portOf(first) });
    expect(second.address).toBe(first.address);
    const again = await Connection.connect({ address: second.address });
    const description = await new Client({ connection: again }).workflow.getHandle('kept').describe();
    expect(description.status.name).toBe('RUNNING');
    await again.close();
    await second.stop();
  });

  test('does nothing to a server that was already there', async () => {
    const server = await startServer({ env: { TEMPORAL_ADDRESS: 'temporal.test:7233', TEMPORAL_NAMESPACE: 'orders' } });
    expect(server).toMatchObject({ address: 'temporal.test:7233', namespace: 'orders', origin: { kind: 'existing' } });
    await server.stop();
  });
});

describe('a server that does not come up', () => {
  const fakeTemporal = (name: string, body: string) => {
    const PATH = path.join(scratch.path, name);
    const asCli = `if [ "$1" = --version ]; then ${temporalBody('1.5.1')}; exit; fi\n${body}`;
    writeProgram(PATH, 'temporal', asCli);
    return { env: { PATH }, log: path.join(PATH, 'log') };
  };

  test('is tried again with other ports when it ends at once', async () => {
    const found = await findServer({ env, onProgress: () => undefined });
    const real = found.kind === 'binary' ? found.origin.binary : '';
    const log = path.join(scratch.path, 'flaky', 'log');
    const fake = fakeTemporal(
      'flaky',
      `echo "$6" >> '${log}'
if [ ! -e '${log}.seen' ]; then : > '${log}.seen'; echo 'bind: address already in use' >&2; exit 1; fi
exec '${real}' "$@"`,
    );
    const server = await startServer({ env: fake.env, ui: false });
    const [lost, used] = readFileSync(log, 'utf8').trim().split('\n').map(Number);
    expect(used).toBe(portOf(server));
    expect(lost).not.toBe(used);
    await server.stop();
  });

  test('is given up after three tries, with what it printed', async () => {
    const { env: broken, log } = fakeTemporal(
      'broken',
      `echo x >> '${scratch.path}/broken/log'; echo 'no such db' >&2; exit 1`,
    );
    await expect(startServer({ env: broken })).rejects.toMatchObject({
      code: 'SERVER_START_FAILED',
      output: 'no such db',
      message: expect.stringContaining('no such db'),
    });
    expect(readFileSync(log, 'utf8')).toBe('x\nx\nx\n');
  });

  test('is not even started on a port that is taken', async () => {
    const { env: unused, log } = fakeTemporal('unused', `echo x >> '${scratch.path}/unused/log'`);
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    await expect(startServer({ env: unused, port })).rejects.toMatchObject({ code: 'PORT_IN_USE', port });
    await expect(startServer({ env: unused, uiPort: port })).rejects.toMatchObject({ code: 'PORT_IN_USE', port });
    expect(existsSync(log)).toBe(false);
    taken.close();
  });
});
