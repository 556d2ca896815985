import { z } from 'zod';
import { Command, interrupt, inWorkflow, START } from 'abeyance';
import { buildGraph, Log, type GraphPlan } from './support/build-graph';
import { inMemory } from './support/run-in-memory';

const SIDE_BY_SIDE: GraphPlan['edges'] = [
  [START, 'a'],
  [START, 'b'],
];

describe('the state starts with', () => {
  test.each<[string, Record<string, any>, object, object]>([
    ['the defaults of its schemas', { n: z.number().default(7), log: Log }, {}, { n: 7, log: [] }],
    ['no value where there is no default', { n: z.number(), s: z.string().optional() }, {}, {}],
    ['the input instead of a default', { n: z.number().default(7) }, { n: 1 }, { n: 1 }],
    ['the input folded into a reduced default', { log: Log }, { log: 'in' }, { log: ['in'] }],
    ['null where the schema takes it', { n: z.number().nullable().default(7) }, { n: null }, { n: null }],
    ['the default where the input is undefined', { n: z.number().default(7) }, { n: undefined }, { n: 7 }],
  ])('%s', async (_, state, input, expected) => {
    let seen: unknown;
    const graph = buildGraph({ state, nodes: ['a'] });
    await inMemory(graph, { a: (values) => void (seen = values) }).invoke(input);
    expect(seen).toEqual(expected);
  });

  test('a default that does not fit its own schema as a typed failure', async () => {
    const graph = buildGraph({ state: { n: z.string().transform(Number).default(3) }, nodes: ['a'] });
    await expect(inMemory(graph, { a: () => ({}) }).invoke()).rejects.toMatchObject({
      code: 'STATE_INVALID',
      key: 'n',
    });
  });
});

describe('a write', () => {
  const state = { n: z.number().default(0), s: z.string().optional(), log: Log };

  test.each<[string, object, object]>([
    ['an unknown key', { nope: 1 }, { code: 'STATE_UNKNOWN_KEY', node: 'a', key: 'nope' }],
    ['a key that only objects have', { constructor: 1 }, { code: 'STATE_UNKNOWN_KEY', node: 'a', key: 'constructor' }],
    ['a value of the wrong type', { n: '1' }, { code: 'STATE_INVALID', node: 'a', key: 'n' }],
    ['null where the schema does not take it', { n: null }, { code: 'STATE_INVALID', node: 'a', key: 'n' }],
    ['an update that the reducer’s input schema refuses', { log: 1 }, { code: 'STATE_INVALID', node: 'a', key: 'log' }],
  ])('of %s is refused, naming node and key', async (_, update, expected) => {
    const run = inMemory(buildGraph({ state, nodes: ['a'] }), { a: () => update });
    await expect(run.invoke()).rejects.toMatchObject(expected);
  });

  test('that does not fit is refused from the input too, before anything runs', async () => {
    let ran = false;
    const run = inMemory(buildGraph({ state, nodes: ['a'] }), { a: () => void (ran = true) });
    await expect(run.invoke({ nope: 1 })).rejects.toMatchObject({ code: 'STATE_UNKNOWN_KEY', node: 'input' });
    expect(ran).toBe(false);
  });

  test('of undefined is none', async () => {
    const run = inMemory(buildGraph({ state, nodes: ['a'] }), { a: () => ({ n: undefined, log: undefined }) });
    expect(await run.invoke({ n: 5 })).toEqual({ n: 5, log: [] });
  });

  test('that is refused leaves no other write of its superstep behind', async () => {
    const graph = buildGraph({
      state,
      nodes: ['a', 'b', 'c'],
      edges: [
        [START, 'c'],
        ['c', 'a'],
        ['c', 'b'],
      ],
    });
    const run = inMemory(graph, { a: () => ({ log: 'a' }), b: () => ({ nope: 1 }), c: () => ({ n: 1 }) });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_UNKNOWN_KEY' });
    expect((await run.thread().getState()).values.n).toBe(1);
  });
});

describe('two nodes that write one plain key in a superstep', () => {
  const state = { n: z.number().default(0), log: Log };

  test('are refused, and both are named', async () => {
    const graph = buildGraph({ state, nodes: ['a', 'b'], edges: SIDE_BY_SIDE });
    const run = inMemory(graph, { a: () => ({ n: 1 }), b: () => ({ n: 1 }) });
    await expect(run.invoke()).rejects.toMatchObject({
      code: 'STATE_CONCURRENT_UPDATE',
      key: 'n',
      message: expect.stringMatching(/"b".*1\.a/),
    });
  });

  test('leave a thread that can be read and started again', async () => {
    let clash = true;
    const graph = buildGraph({ state, nodes: ['a', 'b'], edges: SIDE_BY_SIDE });
    const run = inMemory(graph, { a: () => ({ n: 1 }), b: () => (clash ? { n: 2 } : {}) });
    await run.invoke().catch(() => undefined);
    expect(await run.thread().getState()).toMatchObject({ status: 'failed', values: { n: 0 } });
    clash = false;
    expect(await run.invoke()).toEqual({ n: 1, log: [] });
  });

  test('fail the run at once, though a sibling waits for an answer', async () => {
    const graph = buildGraph({ state, nodes: ['a', 'ask', 'b'], edges: [...SIDE_BY_SIDE, [START, 'ask']] });
    const run = inMemory(graph, { a: () => ({ n: 1 }), b: () => ({ n: 2 }), ask: () => interrupt('?') });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_CONCURRENT_UPDATE' });
  });

  test('may be one node that writes it in several commands: the last one counts', async () => {
    const commands = [{ n: 1 }, new Command({ update: { n: 2 } })];
    const run = inMemory(buildGraph({ state, nodes: ['a'] }), { a: () => commands });
    expect((await run.invoke()).n).toBe(2);
  });
});

describe('state that a body changes in place', () => {
  const state = { list: z.any().default([]), log: Log };
  const meddle = ({ list, log }: any): void => {
    list.push('leaked');
    log.push('leaked');
  };

  test.each<[string, GraphPlan['nodes'], Record<string, any>]>([
    ['in an activity', ['a', 'b'], { a: meddle, b: () => ({}) }],
    ['in workflow code', { a: inWorkflow(meddle as never), b: undefined }, { b: () => ({}) }],
  ])('%s does not leak into the run', async (_, nodes, bodies) => {
    const run = inMemory(buildGraph({ state, nodes }), bodies);
    expect(await run.invoke({ list: [] })).toEqual({ list: [], log: [] });
  });

  test('by a router does not leak into the run', async () => {
    const graph = buildGraph({
      state,
      nodes: ['a'],
      edges: [[START, 'a']],
      routers: [['a', (values) => (meddle(values), [])]],
    });
    expect(await inMemory(graph, { a: () => ({}) }).invoke({ list: [] })).toEqual({ list: [], log: [] });
  });

  test('of a result does not leak into the thread', async () => {
    const run = inMemory(buildGraph({ state, nodes: ['a'] }), { a: () => ({}) });
    meddle(await run.invoke({ list: [] }));
    expect((await run.thread().getState()).values).toEqual({ list: [], log: [] });
  });
});

test('a node sees only the keys it reads', async () => {
  let seen: unknown;
  const graph = buildGraph({ state: { x: z.number(), y: z.number() }, nodes: { a: { reads: ['y'] } } });
  await inMemory(graph, { a: (values) => void (seen = values) }).invoke({ x: 1, y: 2 });
  expect(seen).toEqual({ y: 2 });
});
