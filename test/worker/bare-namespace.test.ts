import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { GraphClient } from 'abeyance/client';
import { AbeyancePlugin } from 'abeyance/worker';
import { MEMO_KEY } from 'abeyance/workflow';
import { gate } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { eventually } from '../support/eventually';
import { eventsOf, workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import { onServer, testServer } from '../support/on-server';

const server = onServer(() => ({ nodes: askingNodes(new Latches()) }), { silent: true });
const namespace = `bare-${randomUUID()}`;
const taskQueue = 'bare';
let native: NativeConnection;
let client: Client;

beforeAll(async () => {
  const { connection } = server.client;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: (24 * 60 * 60) as never },
  });
  client = new Client({ connection, namespace });
  native = await NativeConnection.connect({ address: testServer().address });
  // The server's services learn of a namespace one after the other.
  await eventually(() => client.workflow.count());
  await eventually(() =>
    expect(client.workflow.getHandle('nobody').describe()).rejects.toHaveProperty('name', 'WorkflowNotFoundError'),
  );
});
afterAll(() => native.close());

it('a namespace without the search attributes is warned about, and runs are started, shown and answered all the same', async () => {
  const warn = jest.spyOn(Runtime.instance().logger, 'warn');
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowBundle: { codePath: testServer().bundle },
    plugins: [new AbeyancePlugin({ nodes: askingNodes(new Latches()) })],
  });
  const command = `temporal operator search-attribute create --namespace ${namespace} --name AbeyanceStatus --type Keyword --name AbeyanceWaitingFor --type KeywordList`;
  expect(warn).toHaveBeenCalledWith(expect.stringContaining(command));

  await worker.runUntil(async () => {
    for (const start of ['invoke', 'start'] as const) {
      const graphs = new GraphClient(client, { taskQueue });
      const threadId = server.threadId('bare');
      await graphs[start](gate, {}, { threadId });
      const thread = graphs.thread(gate, threadId);
      expect(await thread.untilStopped()).toMatchObject({ __interrupt__: [{ id: '2.gate:0' }] });
      const { memo } = await client.workflow.getHandle(threadId).describe();
      expect(memo?.[MEMO_KEY]).toMatchObject({ graph: 'gate', status: 'waiting', questions: [{ id: '2.gate:0' }] });
      await thread.approve({ by: 'ana' });
      expect(await thread.untilStopped()).toEqual({ decision: { type: 'approve', by: 'ana' } });
      expect(await workflowTaskFailures(client, threadId)).toBe(0);
      expect(await eventsOf(client, threadId, 'upsertWorkflowSearchAttributesEventAttributes')).toEqual([]);
    }
  });
});

it('a namespace that has them is not warned about', async () => {
  const warn = jest.spyOn(Runtime.instance().logger, 'warn');
  warn.mockClear();
  await server.stopWorker();
  await server.startWorker();
  expect(warn).not.toHaveBeenCalledWith(expect.stringContaining('search attributes'));
});
