import { z } from 'zod';
import {
  Command,
  implement,
  interrupt,
  isInterrupted,
  MessagesValue,
  modelNode,
  START,
  StateGraph,
  StateSchema,
  tool,
  toolNode,
} from 'abeyance';
import type { GraphDependencies } from 'abeyance/activity';
import { InMemoryGraphs } from 'abeyance/testing';

const OrderState = new StateSchema({ total: z.number(), approved: z.boolean().default(false) });
const order = new StateGraph(OrderState).addNode('ask').addEdge(START, 'ask').compile({ name: 'order' });
const orderNodes = implement(order, { ask: async ({ total }) => ({ approved: interrupt(`approve ${total}?`) }) });
const other = new StateGraph(OrderState).addNode('ask').addEdge(START, 'ask').compile({ name: 'other' });
const otherNodes = implement(other, { ask: async () => ({}) });

const inMemory = (): InMemoryGraphs => new InMemoryGraphs({ nodes: [orderNodes, otherNodes] });

describe('a thread in memory', () => {
  test('starts, waits, is answered and ends', async () => {
    const graphs = inMemory();
    const thread = await graphs.start(order, { total: 5 }, { threadId: 'o-1' });
    expect(isInterrupted(await thread.untilStopped())).toBe(true);
    await thread.approve({ by: 'ana' });
    expect(await thread.untilStopped()).toEqual({ total: 5, approved: true });
  });

  test('is answered by a Command', async () => {
    const graphs = inMemory();
    await graphs.invoke(order, { total: 5 }, { threadId: 'o-1' });
    const result = await graphs.invoke(order, new Command({ resume: true }), { threadId: 'o-1' });
    expect(result.approved).toBe(true);
  });

  test('gets an id of its own where none is given', async () => {
    const graphs = inMemory();
    const [one, two] = [await graphs.start(order, { total: 1 }), await graphs.start(order, { total: 2 })];
    expect(one.id).not.toBe(two.id);
  });

  test.each(['', 'x'.repeat(1_001), 5 as never])(
    'is not begun under an id that a server does not take',
    async (threadId) => {
      const begun = inMemory().start(order, { total: 5 }, { threadId });
      await expect(begun).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    },
  );

  test('tells where it stands', async () => {
    const graphs = inMemory();
    await graphs.invoke(order, { total: 5 }, { threadId: 'o-1' });
    expect(await graphs.thread(order, 'o-1').getState()).toMatchObject({
      values: { total: 5, approved: false },
      next: ['ask'],
      status: 'waiting',
      metadata: { threadId: 'o-1', graph: 'order', step: 1, source: 'run', runId: expect.any(String) },
    });
  });

  test('tells where it ended', async () => {
    const graphs = inMemory();
    await graphs.invoke(other, { total: 5 }, { threadId: 'o-1' });
    expect(await graphs.thread('o-1').getState()).toMatchObject({
      next: [],
      tasks: [],
      interrupts: [],
      status: 'done',
      metadata: { source: 'result' },
    });
  });

  test('keeps every decision, also the refused', async () => {
    const graphs = inMemory();
    await graphs.invoke(order, { total: 5 }, { threadId: 'o-1' });
    const thread = graphs.thread(order, 'o-1');
    await thread.approve({ node: 'nope' }).catch(() => undefined);
    await thread.deny({ by: 'ana' });
    expect(
      (await thread.decisions()).map(({ decision, verdict }) => [decision.type, decision.via, verdict.kind]),
    ).toEqual([
      ['approve', 'memory', 'refused'],
      ['deny', 'memory', 'accepted'],
    ]);
  });

  test('tells what became of a decision', async () => {
    const graphs = inMemory();
    await graphs.invoke(order, { total: 5 }, { threadId: 'o-1' });
    expect(await graphs.thread('o-1').approve()).toEqual({ kind: 'accepted', questions: ['1.ask:0'] });
  });

  test('lets any number wait for its next stop', async () => {
    const graphs = inMemory();
    const thread = await graphs.start(order, { total: 5 });
    const stops = await Promise.all([thread.untilStopped(), thread.untilStopped()]);
    expect(stops.map(isInterrupted)).toEqual([true, true]);
  });

  test('does not mix with another of the same graph', async () => {
    const graphs = inMemory();
    await graphs.invoke(order, { total: 1 }, { threadId: 'o-1' });
    await graphs.invoke(order, { total: 2 }, { threadId: 'o-2' });
    await graphs.thread(order, 'o-2').approve();
    expect((await graphs.thread(order, 'o-1').getState()).status).toBe('waiting');
  });
});

describe('refused is', () => {
  test.each<[string, (graphs: InMemoryGraphs) => unknown, object]>([
    [
      'a handle on an unknown thread',
      (graphs) => graphs.thread(order, 'nope'),
      { code: 'THREAD_UNKNOWN', threadId: 'nope' },
    ],
    ['an untyped handle on one', (graphs) => graphs.thread('nope'), { code: 'THREAD_UNKNOWN' }],
    ['a handle on another graph’s thread', (graphs) => graphs.thread(other, 'o-1'), { code: 'THREAD_OF_OTHER_GRAPH' }],
    [
      'input to a thread that waits',
      (graphs) => graphs.invoke(order, { total: 6 }, { threadId: 'o-1' }),
      { code: 'THREAD_BUSY' },
    ],
    [
      'a start on a thread that waits',
      (graphs) => graphs.start(order, { total: 6 }, { threadId: 'o-1' }),
      { code: 'THREAD_BUSY' },
    ],
    [
      'input to another graph’s thread',
      (graphs) => graphs.invoke(other, { total: 6 }, { threadId: 'o-1' }),
      { code: 'THREAD_OF_OTHER_GRAPH' },
    ],
    [
      'an answer to an unknown thread',
      (graphs) => graphs.invoke(order, new Command({ resume: 1 }), { threadId: 'nope' }),
      { code: 'THREAD_UNKNOWN' },
    ],
    [
      'an answer to no thread',
      (graphs) => graphs.invoke(order, new Command({ resume: 1 })),
      { code: 'THREAD_UNKNOWN' },
    ],
    [
      'a Command that updates',
      (graphs) => graphs.invoke(order, new Command({ update: { total: 1 } }), { threadId: 'o-1' }),
      { code: 'DECISION_MALFORMED' },
    ],
    [
      'a Command that goes somewhere',
      (graphs) => graphs.invoke(order, new Command({ resume: 1, goto: 'ask' }), { threadId: 'o-1' }),
      { code: 'DECISION_MALFORMED' },
    ],
    ['input that does not fit', (graphs) => graphs.invoke(order, { total: 'x' as never }), { code: 'STATE_INVALID' }],
    [
      'a map of mixed keys',
      (graphs) => graphs.thread('o-1').resume({ '1.ask:0': 1, more: 2 }),
      { code: 'DECISION_MALFORMED' },
    ],
  ])('%s, and the waiting thread keeps its question', async (_, act, expected) => {
    const graphs = inMemory();
    await graphs.invoke(order, { total: 5 }, { threadId: 'o-1' });
    await expect((async () => act(graphs))()).rejects.toMatchObject(expected);
    expect((await graphs.thread(order, 'o-1').getState()).interrupts).toHaveLength(1);
  });

  test('a decision on a finished thread, other than on an unknown one', async () => {
    const graphs = inMemory();
    await graphs.invoke(other, { total: 5 }, { threadId: 'o-1' });
    await expect(graphs.thread('o-1').approve()).rejects.toMatchObject({ code: 'THREAD_FINISHED', threadId: 'o-1' });
  });

  test('a decision on a failed thread', async () => {
    const failing = implement(other, { ask: async () => Promise.reject(new Error('broken')) });
    const graphs = new InMemoryGraphs({ nodes: [failing] });
    await graphs.invoke(other, { total: 5 }, { threadId: 'o-1' }).catch(() => undefined);
    await expect(graphs.thread('o-1').approve()).rejects.toMatchObject({ code: 'THREAD_FINISHED' });
  });
});

describe('what a graph runs with is checked at once:', () => {
  const look = tool({ name: 'look', description: '', schema: z.object({}) });
  const agent = new StateGraph(new StateSchema({ messages: MessagesValue }))
    .addNode('think', modelNode({ model: 'planner' }))
    .addNode('act', toolNode({ tools: [look] }))
    .addEdge(START, 'think')
    .addEdge('think', 'act')
    .compile({ name: 'agent' });
  const namesake = new StateGraph(OrderState).addNode('ask').addEdge(START, 'ask').compile({ name: 'order' });
  const model = { provider: 'test', call: async () => ({ content: '', model: 'test' }) };
  const lookTool = { tool: look, body: () => '' };

  test.each<[string, GraphDependencies, string, string]>([
    ['a node without an implementation', { graphs: [order] }, 'MISSING_IMPLEMENTATION', 'ask'],
    ['a model that is not there', { graphs: [agent], tools: [lookTool] }, 'MISSING_IMPLEMENTATION', '"planner"'],
    ['a tool that is not there', { graphs: [agent], models: { planner: model } }, 'MISSING_IMPLEMENTATION', '"look"'],
    ['nodes given twice', { nodes: [orderNodes, orderNodes] }, 'DUPLICATE_REGISTRATION', 'order'],
    ['two graphs of one name', { nodes: [orderNodes], graphs: [namesake] }, 'DUPLICATE_REGISTRATION', 'order'],
    ['a tool given twice', { tools: [lookTool, lookTool] }, 'DUPLICATE_REGISTRATION', 'look'],
  ])('%s', (_, dependencies, code, mentioned) => {
    expect(() => new InMemoryGraphs(dependencies)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(mentioned) }),
    );
  });

  test.each<[string, object, string]>([
    ['a missing body', {}, 'MISSING_IMPLEMENTATION'],
    ['a body that is none', { ask: 'not a function' }, 'MISSING_IMPLEMENTATION'],
    ['a body of no node', { ask: () => ({}), more: () => ({}) }, 'EXTRA_IMPLEMENTATION'],
  ])('%s, for callers without types', (_, bodies, code) => {
    expect(() => implement(order, bodies as never)).toThrow(expect.objectContaining({ code }));
  });

  test('a graph that was not given', async () => {
    const graphs = new InMemoryGraphs({ nodes: [orderNodes] });
    await expect(graphs.invoke(other, { total: 1 })).rejects.toMatchObject({ code: 'MISSING_IMPLEMENTATION' });
  });
});
