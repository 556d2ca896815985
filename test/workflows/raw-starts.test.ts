import { NativeConnection, Worker } from '@temporalio/worker';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { askingNodes } from '../support/asking-nodes';
import { eventually } from '../support/eventually';
import { failingNodes } from '../support/failing-nodes';
import { workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import { onServer, testServer } from '../support/on-server';

const server = onServer(() => ({ nodes: [...askingNodes(new Latches()), ...failingNodes(new Map())] }), {
  silent: true,
});

async function failureOf(threadId: string): Promise<ApplicationFailure> {
  const error = await server.client.workflow.result(threadId).catch((thrown: unknown) => thrown);
  if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) return error.cause;
  throw new Error('the run did not end with an ApplicationFailure', { cause: error });
}

async function startRaw(type: string, args: unknown[], taskQueue = server.taskQueue): Promise<string> {
  const workflowId = server.threadId(`raw-${type}`);
  await server.client.workflow.start(type, { taskQueue, workflowId, args });
  return workflowId;
}

describe('a graph started by a plain Temporal client', () => {
  it('runs, takes a raw signal and returns the plain values', async () => {
    const threadId = await startRaw('order', [{ order_total: 7 }]);
    const handle = server.client.workflow.getHandle(threadId);
    await eventually(async () => expect(await handle.query('pending')).toHaveLength(1));
    await handle.signal('approve');
    expect(await handle.result()).toEqual({ order_total: 7, approved: true });
  });

  test.each([
    ['none', []],
    ['null', [null]],
    ['null and a null carry', [null, null]],
  ] as const)('takes no input for an empty one: %s', async (_, args) => {
    const threadId = await startRaw('ask', [...args]);
    await server.graphs.thread(threadId).untilStopped();
    await server.graphs.thread(threadId).resume('here');
    expect(await server.client.workflow.result(threadId)).toEqual({ answer: 'here' });
  });

  test.each([
    ['a key the state does not have', [{ nope: 1 }], 'STATE_UNKNOWN_KEY', 'nope'],
    ['a value its schema refuses', [{ order_total: 'much' }], 'STATE_INVALID', 'order_total'],
    ['a string', ['x'], 'INVALID_NODE_RETURN', 'a string'],
    ['a list', [[1]], 'INVALID_NODE_RETURN', 'an array'],
    ['a number', [42], 'INVALID_NODE_RETURN', 'a number'],
  ])('fails typed on bad input: %s', async (_, args, type, message) => {
    const threadId = await startRaw('order', args);
    const failure = await failureOf(threadId);
    expect(failure).toMatchObject({ type, nonRetryable: true, details: [expect.objectContaining({ node: 'input' })] });
    expect(failure.message).toContain(message);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
    await expect(server.graphs.thread(threadId).untilStopped()).rejects.toMatchObject({ code: type });
  });

  test.each([
    ['where its first router throws', { how: 'start router throws' }, 'ROUTER_FAILED'],
    ['where a reducer throws on the input', { log: 'bad' }, 'REDUCER_FAILED'],
  ])('fails typed %s', async (_, input, type) => {
    const threadId = await startRaw('picky', [input]);
    expect(await failureOf(threadId)).toMatchObject({ type });
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });
});

it('a node that no activity of the worker serves fails the run, and says what to do', async () => {
  const { address, namespace, bundle } = testServer();
  const connection = await NativeConnection.connect({ address });
  const taskQueue = server.threadId('plain');
  const activities = { unrelated: async () => 'done' };
  const workflowBundle = { codePath: bundle };
  const worker = await Worker.create({ connection, namespace, taskQueue, workflowBundle, activities });
  await worker.runUntil(async () => {
    const threadId = await startRaw('order', [{ order_total: 1 }], taskQueue);
    const failure = await failureOf(threadId);
    expect(failure).toMatchObject({ type: 'NODE_NOT_REGISTERED', details: [{ node: 'step_one' }] });
    expect(failure.message).toMatch(/"step_one".*Add it to the plugin's nodes and restart the worker/);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });
  await connection.close();
});
