import { GraphRunError, type Json } from 'abeyance';
import { implementTool, type ChatModel, type ToolRecord } from 'abeyance/activity';
import { InMemoryGraphs, scriptedModel } from 'abeyance/testing';
import { recordsOf } from '../support/history-text';
import { errands, placeOrder, strict_errands } from '../support/model-graphs';
import { ModelOfThread } from '../support/model-of-thread';
import { onServer } from '../support/on-server';

const bodies = new Map<string, () => unknown>();
const planner = new ModelOfThread();
const dependencies = {
  graphs: [errands, strict_errands],
  models: { planner },
  tools: [implementTool(placeOrder, (_, { threadId }) => bodies.get(threadId)?.())],
};
const temporal = onServer(() => dependencies, { silent: true });
const memory = new InMemoryGraphs(dependencies);

const GIVEN = { item: 'widget', quantity: 500, note: 'unknown to the schema' };
const READ = { item: 'widget', quantity: 500 };

function asking(name: string, args: Json): ChatModel {
  return scriptedModel([{ toolCalls: [{ name, args, id: 'c1' }] }]);
}

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

interface Case {
  readonly name?: string;
  readonly args?: Json;
  readonly body?: () => unknown;
}

function prepare({ name = 'place_order', args = GIVEN, body = () => 'ordered' }: Case): string {
  const threadId = temporal.threadId('errands');
  planner.set(threadId, asking(name, args));
  bodies.set(threadId, body);
  return threadId;
}

const WENT_WRONG: [string, Case, Partial<ToolRecord>, RegExp][] = [
  ['arguments that are no JSON', { args: '{"item": ' }, { given: '{"item": ' }, /not valid JSON: \{"item":/],
  ['arguments that do not fit', { args: { item: 7 } }, { given: { item: 7 } }, /do not fit/],
  ['a tool that throws an Error', { body: throwing(new RangeError('out of stock')) }, { args: READ }, /out of stock/],
  ['a tool that throws a string', { body: throwing('out of stock') }, { args: READ }, /out of stock/],
  ['a tool that throws null', { body: throwing(null) }, { args: READ }, /null was thrown/],
  ['a result that is no JSON', { body: () => new Date(0) }, { args: READ }, /Date/],
];

describe('the record of a tool call, on a Temporal server', () => {
  test('has the arguments as given and as read, the result, attempt and time', async () => {
    const threadId = prepare({ body: () => ({ id: 7 }) });
    const { messages } = await temporal.graphs.invoke(errands, { messages: 'Order.' }, { threadId });
    expect(messages.at(-1)).toMatchObject({ role: 'tool', status: 'success', content: '{"id":7}', tool_call_id: 'c1' });
    const records = await recordsOf(temporal.client, threadId);
    expect(records).toMatchObject([
      { kind: 'model' },
      { kind: 'tool', tool: 'place_order', callId: 'c1', given: GIVEN, args: READ, result: { id: 7 }, attempt: 1 },
    ]);
    expect(records[1]?.durationMs).toBeGreaterThan(0);
    expect(records[1]).not.toHaveProperty('error');
  });

  test.each(WENT_WRONG)('has the error of %s, which the model is told', async (_, one, record, error) => {
    const threadId = prepare(one);
    const { messages } = await temporal.graphs.invoke(errands, { messages: 'Order.' }, { threadId });
    expect(messages.at(-1)).toMatchObject({ role: 'tool', status: 'error', content: expect.stringMatching(error) });
    const [, tool] = await recordsOf(temporal.client, threadId);
    expect(tool).toMatchObject({ kind: 'tool', error: expect.stringMatching(error), attempt: 1, ...record });
    expect(tool).not.toHaveProperty('result');
    if (!('args' in record)) expect(tool).not.toHaveProperty('args');
  });

  test('of a tool that is not there is the message alone', async () => {
    const threadId = prepare({ name: 'fly' });
    const { messages } = await temporal.graphs.invoke(errands, { messages: 'Order.' }, { threadId });
    expect(messages.at(-1)).toMatchObject({
      status: 'error',
      content: expect.stringContaining('there is no tool "fly"'),
    });
    expect(await recordsOf(temporal.client, threadId)).toHaveLength(1);
  });
});

describe.each([
  ['on a Temporal server', () => temporal.graphs],
  ['in memory', () => memory],
])('told to fail, %s', (_, graphs) => {
  const cases = [
    ...WENT_WRONG,
    ['a tool that is not there', { name: 'fly' }, {}, /no tool "fly"/],
  ] as typeof WENT_WRONG;
  test.each(cases)('%s fails the run', async (_what, one, _record, error) => {
    const threadId = prepare(one);
    const failure: unknown = await graphs()
      .invoke(strict_errands, { messages: 'Order.' }, { threadId })
      .catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(GraphRunError);
    expect(failure).toMatchObject({ code: 'NODE_FAILED', message: expect.stringMatching(error) });
  });
});
