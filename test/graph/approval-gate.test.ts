import { z } from 'zod';
import {
  approvalGate,
  END,
  MessagesValue,
  START,
  tool,
  toolNode,
  type ApprovalGateOptions,
  type ToolCall,
} from 'abeyance';
import { implementTool } from 'abeyance/activity';
import { buildGraph } from './support/build-graph';
import { inMemory, openIds, resume, type MemoryRun } from './support/run-in-memory';

const order = tool({ name: 'order', description: 'Orders.', schema: z.object({ item: z.string() }) });
const look = tool({ name: 'look', description: 'Looks.', schema: z.object({}) });

const call = (id: string, name = 'order', args: object = { item: id }): ToolCall => ({ id, name, args: args as never });

/** START → gate → tools or END, and what the tools were run with. */
function gated(
  options: Partial<ApprovalGateOptions> = {},
): MemoryRun & { ran: unknown[]; ask: (...calls: ToolCall[]) => Promise<any> } {
  const ran: unknown[] = [];
  const graph = buildGraph({
    state: { messages: MessagesValue },
    nodes: { gate: approvalGate({ approved: 'tools', ...options }), tools: toolNode({ tools: [order, look] }) },
    edges: [
      [START, 'gate'],
      ['tools', END],
    ],
  });
  const run = inMemory(
    graph,
    {},
    {
      nodes: [],
      graphs: [graph],
      tools: [
        implementTool(order, ({ item }) => (ran.push(item), `ordered ${item}`)),
        implementTool(look, () => (ran.push('look'), 'seen')),
      ],
    },
  );
  const ask = (...calls: ToolCall[]): Promise<any> =>
    run.invoke({ messages: [{ id: 'm', role: 'ai', content: '', tool_calls: calls }] });
  return { ...run, ran, ask };
}

async function answers(run: MemoryRun): Promise<unknown[]> {
  const { messages } = (await run.thread().getState()).values as any;
  return messages.slice(1).map(({ tool_call_id, content, status }: any) => [tool_call_id, content, status]);
}

describe('an approval gate', () => {
  test('lets through the call that was shown, whatever becomes of the conversation meanwhile', async () => {
    const ran: unknown[] = [];
    const graph = buildGraph({
      state: { messages: MessagesValue },
      nodes: { gate: approvalGate({ approved: 'tools' }), beside: undefined, tools: toolNode({ tools: [order] }) },
      edges: [
        [START, 'gate'],
        [START, 'beside'],
        ['tools', END],
      ],
    });
    const asked = (item: string) => ({ id: 'm', role: 'ai', content: '', tool_calls: [call('c1', 'order', { item })] });
    const run = inMemory(
      graph,
      { beside: () => ({ messages: [asked('PRODUCTION')] }) },
      { tools: [implementTool(order, ({ item }) => (ran.push(item), 'done'))] },
    );
    await run.invoke({ messages: [asked('tmp')] });
    await run.thread().approve();
    await run.thread().untilStopped();
    expect(ran).toEqual(['tmp']);
  });

  test.each<[string, Partial<ApprovalGateOptions>]>([
    ['leads to no tool node', { approved: 'gate' }],
    ['keeps another conversation', { messages: 'mesages' }],
  ])('is refused when it %s', (_, options) => {
    expect(() => gated(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  test('asks for each open call, bound to its name and arguments', async () => {
    const run = gated();
    await run.ask(call('c1'), call('c2', 'look', {}));
    expect((await run.thread().getState()).interrupts).toMatchObject([
      { id: '1.gate:call:c1', kind: 'approval', value: { tool: 'order', args: { item: 'c1' } } },
      { id: '1.gate:call:c2', kind: 'approval', value: { tool: 'look', args: {} } },
    ]);
    expect(run.ran).toEqual([]);
  });

  test('lets an approved call run', async () => {
    const run = gated();
    await run.ask(call('c1'));
    await run.thread().approve({ by: 'ana' });
    await run.thread().untilStopped();
    expect(run.ran).toEqual(['c1']);
    expect(await answers(run)).toEqual([['c1', 'ordered c1', 'success']]);
  });

  test.each<[string, object, string]>([
    ['without a note', {}, 'denied by approver'],
    ['with a note', { note: 'too dear' }, 'denied by approver: too dear'],
  ])('keeps a call that was denied %s from running, and tells the model', async (_, options, told) => {
    const run = gated();
    await run.ask(call('c1'));
    await run.thread().deny(options);
    await run.thread().untilStopped();
    expect(run.ran).toEqual([]);
    expect(await answers(run)).toEqual([['c1', told, 'error']]);
  });

  test('runs the approved and never the denied of several calls', async () => {
    const run = gated();
    await run.ask(call('c1'), call('c2'), call('c3'));
    await resume(run, {
      '1.gate:call:c1': false,
      '1.gate:call:c2': true,
      '1.gate:call:c3': { type: 'deny', note: 'no' },
    });
    expect(run.ran).toEqual(['c2']);
    expect(await answers(run)).toEqual([
      ['c1', 'denied by approver\nA human rejected this call; it was not run.', 'error'],
      ['c2', 'ordered c2', 'success'],
      ['c3', 'denied by approver: no\nA human rejected this call; it was not run.', 'error'],
    ]);
  });

  test('runs nothing before the last of several calls is decided', async () => {
    const run = gated();
    await run.ask(call('c1'), call('c2'));
    await run.thread().approve({ question: '1.gate:call:c1' });
    await run.thread().untilStopped();
    expect(run.ran).toEqual([]);
    expect(await openIds(run)).toEqual(['1.gate:call:c2']);
  });

  test('refuses a bare approval of several calls', async () => {
    const run = gated();
    await run.ask(call('c1'), call('c2'));
    await expect(run.thread().approve()).rejects.toMatchObject({ code: 'ANSWER_AMBIGUOUS' });
  });

  test('asks only about the tools it names, and lets the others pass', async () => {
    const run = gated({ tools: [order] });
    await run.ask(call('c1', 'look', {}), call('c2'));
    expect(await openIds(run)).toEqual(['1.gate:call:c2']);
    await run.thread().deny();
    await run.thread().untilStopped();
    expect(run.ran).toEqual(['look']);
  });

  test('asks nothing where no call is of a tool it names', async () => {
    const run = gated({ tools: [order] });
    await run.ask(call('c1', 'look', {}));
    expect(run.ran).toEqual(['look']);
  });

  test.each<[string, unknown]>([
    ['the last message asks for no tool', [{ id: 'm', role: 'ai', content: 'done' }]],
    ['there is no message', []],
    [
      'every call has its answer',
      [
        { id: 'm', role: 'ai', content: '', tool_calls: [call('c1')] },
        { id: 'n', role: 'tool', content: 'x', tool_call_id: 'c1' },
      ],
    ],
  ])('goes where it goes when none may run, when %s', async (_, messages) => {
    const run = gated();
    await run.invoke({ messages });
    expect((await run.thread().getState()).status).toBe('done');
    expect(run.ran).toEqual([]);
  });

  test('shows the approver what it is told to show', async () => {
    const run = gated({ ask: ({ name }) => `may I ${name}?` });
    await run.ask(call('c1'));
    expect((await run.thread().getState()).interrupts[0]?.value).toBe('may I order?');
  });

  test('asks about call ids that no question could be named by', async () => {
    const run = gated();
    await run.ask(call('call 1~x'));
    expect(await openIds(run)).toEqual(['1.gate:call:call_1_x']);
  });

  test('holds a decision against what it was made for', async () => {
    const run = gated();
    await run.ask(call('c1'));
    await expect(run.thread().approve({ digest: 'of other arguments' })).rejects.toMatchObject({
      code: 'QUESTION_CHANGED',
    });
  });

  test('may lead elsewhere when all calls are denied', async () => {
    const run = gated({ denied: 'gate' });
    await run.ask(call('c1'));
    await run.thread().deny();
    await expect(run.thread().untilStopped()).rejects.toMatchObject({ code: 'GRAPH_RECURSION_LIMIT' });
  });

  test('must lead to a node there is', () => {
    const nodes = { gate: approvalGate({ approved: 'nope' }) };
    expect(() => buildGraph({ state: { messages: MessagesValue }, nodes })).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_NODE' }),
    );
  });
});
