import { z } from 'zod';
import { interrupt, MessagesValue, Send, START, tool, toolNode, type ToolCall } from 'abeyance';
import { implementTool, type ToolBody } from 'abeyance/activity';
import { buildGraph } from './support/build-graph';
import { inMemory, openIds, resume, type MemoryRun } from './support/run-in-memory';

const work = tool({ name: 'work', description: 'Works.', schema: z.object({ n: z.number() }) });

const call = (id: string, args: unknown = { n: 1 }, name = 'work'): ToolCall => ({ id, name, args: args as never });
const says = (...calls: ToolCall[]): object => ({
  messages: [{ id: 'm', role: 'ai', content: '', tool_calls: calls }],
});

function working(body: ToolBody, options: object = {}): MemoryRun {
  const nodes = { tools: toolNode({ tools: [work], ...options }) };
  const graph = buildGraph({ state: { messages: MessagesValue }, nodes });
  return inMemory(graph, {}, { nodes: [], graphs: [graph], tools: [implementTool(work, body)] });
}

async function results(run: MemoryRun, ...calls: ToolCall[]): Promise<unknown[]> {
  const { messages } = await run.invoke(says(...calls));
  return messages.slice(1);
}

describe('a tool node', () => {
  test('answers every call with a tool message, in the order the model asked', async () => {
    let open!: () => void;
    const second = new Promise<void>((resolve) => (open = resolve));
    const run = working(async ({ n }) => {
      if (n === 1) await second;
      else open();
      return `result ${n}`;
    });
    expect(await results(run, call('c1', { n: 1 }), call('c2', { n: 2 }))).toEqual([
      { id: '1.tools.c0/0', role: 'tool', name: 'work', tool_call_id: 'c1', content: 'result 1', status: 'success' },
      { id: '1.tools.c1/0', role: 'tool', name: 'work', tool_call_id: 'c2', content: 'result 2', status: 'success' },
    ]);
  });

  test.each<[string, unknown, string]>([
    ['a string as it is', 'plain "text"', 'plain "text"'],
    ['an object as JSON', { a: [1] }, '{"a":[1]}'],
    ['a number as JSON', 0, '0'],
    ['nothing as null', undefined, 'null'],
  ])('tells the model %s', async (_, result, content) => {
    expect(
      await results(
        working(() => result),
        call('c1'),
      ),
    ).toMatchObject([{ content, status: 'success' }]);
  });

  test.each<[string, ToolBody, string]>([
    [
      'throws an Error',
      () => {
        throw new Error('out of stock');
      },
      'Error: out of stock',
    ],
    [
      'rejects',
      async () => {
        throw new Error('out of stock');
      },
      'Error: out of stock',
    ],
    [
      'throws a string',
      () => {
        throw 'out of stock';
      },
      'Error: out of stock',
    ],
    [
      'throws null',
      () => {
        throw null;
      },
      'Error: null was thrown',
    ],
    [
      'returns what JSON cannot carry',
      () => new Map(),
      'Error: the value is a Map, which JSON cannot carry faithfully',
    ],
  ])('tells the model of the error when the tool %s', async (_, body, content) => {
    expect(await results(working(body), call('c1'))).toMatchObject([{ tool_call_id: 'c1', content, status: 'error' }]);
  });

  test.each<[string, ToolCall, string]>([
    ['an unknown tool', call('c1', {}, 'play'), 'there is no tool "play". The tools are: work.'],
    ['arguments that do not fit', call('c1', { n: 'one' }), 'the arguments do not fit'],
    ['missing arguments', call('c1', {}), 'the arguments do not fit'],
    ['arguments that are no JSON', call('c1', '{"n": 1'), 'the arguments are not valid JSON: {"n": 1'],
  ])('tells the model of %s, and does not run the tool', async (_, asked, told) => {
    const body = jest.fn();
    expect(await results(working(body), asked)).toMatchObject([
      { tool_call_id: 'c1', content: expect.stringContaining(told), status: 'error' },
    ]);
    expect(body).not.toHaveBeenCalled();
  });

  test('still runs the other calls when one of them fails', async () => {
    const run = working(({ n }) => {
      if (n === 1) throw new Error('no');
      return 'fine';
    });
    expect(await results(run, call('c1', { n: 1 }), call('c2', { n: 2 }))).toMatchObject([
      { status: 'error' },
      { status: 'success' },
    ]);
  });

  test.each<[string, unknown, string]>([
    ['an Error', new Error('out of stock'), 'out of stock'],
    ['a string', 'out of stock', 'out of stock'],
    ['null', null, 'null was thrown'],
  ])('fails the run when its tool throws %s and it is told to', async (_, thrown, mentioned) => {
    const run = working(
      () => {
        throw thrown;
      },
      { onToolError: 'fail' },
    );
    await expect(results(run, call('c1'))).rejects.toMatchObject({
      code: 'NODE_FAILED',
      message: expect.stringContaining(mentioned),
    });
  });

  test('runs no call that has its answer, and none of an earlier message', async () => {
    const seen: number[] = [];
    const run = working(({ n }) => void seen.push(n));
    await run.invoke({
      messages: [
        { role: 'ai', content: '', tool_calls: [call('old', { n: 1 })] },
        { role: 'ai', content: '', tool_calls: [call('c2', { n: 2 }), call('c3', { n: 3 })] },
        { role: 'tool', content: 'denied', tool_call_id: 'c2' },
      ],
    });
    expect(seen).toEqual([3]);
  });

  test('without a call to run passes on', async () => {
    expect(await results(working(() => 'x'))).toEqual([]);
  });

  test('hands its tool what the schema reads, also where JSON could not carry it', async () => {
    const later = tool({
      name: 'later',
      description: 'Waits.',
      schema: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
    });
    const graph = buildGraph({ state: { messages: MessagesValue }, nodes: { tools: toolNode({ tools: [later] }) } });
    const tools = [implementTool(later, ({ at }) => at.getTime())];
    const run = inMemory(graph, {}, { nodes: [], graphs: [graph], tools });
    const asked = call('c1', { at: '1970-01-01T00:00:01Z' }, 'later');
    expect(await results(run, asked)).toMatchObject([{ content: '1000', status: 'success' }]);
  });

  test('tells its tool whose call it serves', async () => {
    const run = working((_, { threadId, callId, attempt, signal }) => ({
      threadId,
      callId,
      attempt,
      aborted: signal.aborted,
    }));
    expect(await results(run, call('c1'))).toMatchObject([
      { content: '{"threadId":"thread","callId":"c1","attempt":1,"aborted":false}' },
    ]);
  });

  test('keeps its conversation under a key of its own', async () => {
    const nodes = { tools: toolNode({ tools: [work], messages: 'talk' }) };
    const graph = buildGraph({ state: { talk: MessagesValue }, nodes });
    const run = inMemory(graph, {}, { nodes: [], graphs: [graph], tools: [implementTool(work, () => 'ok')] });
    const { talk } = await run.invoke({ talk: [{ role: 'ai', content: '', tool_calls: [call('c1')] }] });
    expect(talk).toHaveLength(2);
  });
});

describe('a tool that asks', () => {
  const asking: ToolBody = ({ n }) => `${n}: ${interrupt(`may I do ${n}?`)}`;

  test('pauses its own call alone, and gets its own answer', async () => {
    const run = working(asking);
    await run.invoke(says(call('c1', { n: 1 }), call('c2', { n: 2 })));
    const { messages } = await resume(run, { '1.tools.c1:0': 'no', '1.tools.c0:0': 'yes' });
    expect(messages.slice(1).map(({ content }: any) => content)).toEqual(['1: yes', '2: no']);
  });

  test('is not an error for the model, nor a failure', async () => {
    const run = working(asking, { onToolError: 'fail' });
    await run.invoke(says(call('c1')));
    expect(await openIds(run)).toEqual(['1.tools.c0:0']);
  });

  test('can be answered by id where a Send has brought it to its node', async () => {
    const nodes = { tools: toolNode({ tools: [work] }) };
    const routers = [
      [START, () => [new Send('tools', says(call('c1'))), new Send('tools', says(call('c2')))]],
    ] as const;
    const graph = buildGraph({ state: { messages: MessagesValue }, nodes, routers });
    const run = inMemory(graph, {}, { nodes: [], graphs: [graph], tools: [implementTool(work, asking)] });
    await run.invoke();
    expect(await openIds(run)).toEqual(['1.tools.0.c0:0', '1.tools.1.c0:0']);
    const { messages } = await resume(run, { '1.tools.0.c0:0': 'first', '1.tools.1.c0:0': 'second' });
    expect(messages.map(({ content }: any) => content)).toEqual(['1: first', '1: second']);
  });
});
