import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { GraphRunError } from 'abeyance';
import { failing, two_writers } from '../support/failing-graphs';
import { failingNodes } from '../support/failing-nodes';
import { workflowTaskFailures } from '../support/histories';
import { onServer } from '../support/on-server';

const attempts = new Map<string, number>();
const server = onServer(() => ({ nodes: failingNodes(attempts) }));

/** The failure that ended a run, as any Temporal client sees it. */
async function failureOf(threadId: string): Promise<ApplicationFailure> {
  const error = await server.client.workflow.result(threadId).catch((thrown: unknown) => thrown);
  if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) return error.cause;
  throw new Error('the run did not end with an ApplicationFailure', { cause: error });
}

async function runToFailure(how: string): Promise<{ readonly threadId: string; readonly failure: ApplicationFailure }> {
  const threadId = server.threadId('failing');
  await server.graphs.start(failing, { how }, { threadId });
  return { threadId, failure: await failureOf(threadId) };
}

describe('a run ends with a typed failure that names the node, and no workflow task of it fails', () => {
  test.each([
    ['a node returns a Date inside a value', 'Date', 'STATE_NOT_JSON', 'act', 'value.at'],
    ['a node returns a BigInt inside a list', 'BigInt', 'STATE_NOT_JSON', 'act', 'value[0]'],
    ['a node returns a class instance', 'class', 'STATE_NOT_JSON', 'act', 'Money'],
    ['a node returns NaN', 'NaN', 'STATE_NOT_JSON', 'act', 'NaN'],
    ['a node writes a key the state does not have', 'unknown key', 'STATE_UNKNOWN_KEY', 'act', '"nope"'],
    ['a node writes a value its schema refuses', 'invalid value', 'STATE_INVALID', 'act', '"count"'],
    ['a node returns something that is no update', 'no update', 'INVALID_NODE_RETURN', 'act', 'number'],
    ['a node asks a question that JSON cannot carry', 'once unrecordable', 'STATE_NOT_JSON', 'act', 'Date'],
    ['a reducer throws', 'reducer throws', 'REDUCER_FAILED', 'act', 'this line cannot be added'],
    ['a router throws', 'router throws', 'ROUTER_FAILED', 'act', 'left or right?'],
    ['a router names a node that is not there', 'router is lost', 'UNKNOWN_GOTO', 'act', '"nowhere"'],
    ['a router returns nothing', 'router is silent', 'ROUTER_FAILED', 'act', 'undefined'],
    ['a command goes to a node that is not there', 'goto', 'UNKNOWN_GOTO', 'act', '"nowhere"'],
    ['a workflow-side node throws', 'think throws', 'NODE_FAILED', 'think', 'thinking is hard'],
    ['a workflow-side node throws a string', 'think throws a string', 'NODE_FAILED', 'think', 'thinking is hard'],
    ['a workflow-side node returns a Date', 'think writes a Date', 'STATE_NOT_JSON', 'think', 'Date'],
    ['the run takes too many steps', 'endless', 'GRAPH_RECURSION_LIMIT', 'act', '25 supersteps'],
  ])('when %s', async (_, how, type, node, message) => {
    const { threadId, failure } = await runToFailure(how);
    expect(failure).toMatchObject({ type, nonRetryable: true, details: [expect.objectContaining({ node })] });
    expect(failure.message).toContain(message);
    expect(failure.message).toContain(node);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('when two nodes write one value in one superstep', async () => {
    const threadId = server.threadId('two-writers');
    const error: unknown = await server.graphs.invoke(two_writers, {}, { threadId }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GraphRunError);
    expect(error).toMatchObject({ code: 'STATE_CONCURRENT_UPDATE', message: expect.stringContaining('"value"') });
    expect(await failureOf(threadId)).toMatchObject({ type: 'STATE_CONCURRENT_UPDATE' });
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });
});

describe('what a node throws follows its retry policy, then fails the run', () => {
  test.each([
    ['an Error', 'throws', 'out of stock'],
    ['an Error that bears the name Temporal gives a missing activity', 'throws NotFoundError', 'no such customer'],
    ['a string', 'throws a string', 'out of stock'],
    ['null', 'throws null', 'null was thrown'],
  ])('%s: three attempts', async (_, how, message) => {
    const { threadId, failure } = await runToFailure(how);
    expect(failure).toMatchObject({ type: 'NODE_FAILED', details: [{ node: 'act' }] });
    expect(failure.message).toBe(`Node "act" failed: ${message}`);
    expect(attempts.get(threadId)).toBe(3);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  });

  it('a value that does not fit the state is not tried again', async () => {
    const { threadId } = await runToFailure('invalid value');
    expect(attempts.get(threadId)).toBe(1);
  });
});

describe('a caller of invoke and untilStopped gets the failure as an error it can act on', () => {
  it('code, node and message are those of the run', async () => {
    const threadId = server.threadId('failing');
    const expected = { code: 'NODE_FAILED', node: 'act', message: 'Node "act" failed: out of stock' };
    await expect(server.graphs.invoke(failing, { how: 'throws' }, { threadId })).rejects.toMatchObject(expected);
    await expect(server.graphs.thread(failing, threadId).untilStopped()).rejects.toMatchObject(expected);
    expect(await server.graphs.thread(failing, threadId).getState()).toMatchObject({
      status: 'failed',
      next: ['act'],
      values: { how: 'throws', count: 0 },
      metadata: { error: { code: 'NODE_FAILED', message: expected.message } },
    });
  });
});
