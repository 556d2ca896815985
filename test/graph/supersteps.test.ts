import { z } from 'zod';
import { END, interrupt, isInterrupted, START } from 'abeyance';
import { buildGraph, Log, loggers, type GraphPlan } from './support/build-graph';
import { inMemory, resume } from './support/run-in-memory';

const UNEVEN: GraphPlan['edges'] = [
  [START, 'a1'],
  [START, 'b1'],
  ['b1', 'b2'],
  ['a1', 'm'],
  ['b2', 'm'],
];

describe('a superstep', () => {
  test('runs a node with branches of uneven length once for each', async () => {
    const graph = buildGraph({ nodes: ['a1', 'b1', 'b2', 'm'], edges: UNEVEN });
    const { log } = await inMemory(graph, loggers('a1', 'b1', 'b2', 'm')).invoke();
    expect(log).toEqual(['a1', 'b1', 'b2', 'm', 'm']);
  });

  test('runs a joined node once, after all it waits for', async () => {
    const edges: GraphPlan['edges'] = [...UNEVEN.slice(0, 3), [['a1', 'b2'], 'm']];
    const graph = buildGraph({ nodes: ['a1', 'b1', 'b2', 'm'], edges });
    const { log } = await inMemory(graph, loggers('a1', 'b1', 'b2', 'm')).invoke();
    expect(log).toEqual(['a1', 'b1', 'b2', 'm']);
  });

  test('runs a deferred node once, when nothing else is left', async () => {
    const graph = buildGraph({ nodes: { a1: {}, b1: {}, b2: {}, m: { defer: true } }, edges: UNEVEN });
    const { log } = await inMemory(graph, loggers('a1', 'b1', 'b2', 'm')).invoke();
    expect(log).toEqual(['a1', 'b1', 'b2', 'm']);
  });

  test('goes on behind a deferred node', async () => {
    const graph = buildGraph({ nodes: { a: {}, last: { defer: true }, after: {} } });
    expect((await inMemory(graph, loggers('a', 'last', 'after')).invoke()).log).toEqual(['a', 'last', 'after']);
  });

  test('never runs a join that only one side has reached', async () => {
    const edges: GraphPlan['edges'] = [
      [START, 'a'],
      [['a', 'b'], 'm'],
      ['a', END],
    ];
    const graph = buildGraph({ nodes: ['a', 'b', 'm'], edges, routers: [['a', () => END, ['b', END]]] });
    expect((await inMemory(graph, loggers('a', 'b', 'm')).invoke()).log).toEqual(['a']);
  });

  test('meets a join anew on every round of a cycle', async () => {
    const graph = buildGraph({
      nodes: ['a', 'b', 'm'],
      edges: [
        [START, 'a'],
        [START, 'b'],
        [['a', 'b'], 'm'],
      ],
      routers: [['m', ({ log }) => (log.length < 6 ? ['a', 'b'] : END), ['a', 'b', END]]],
    });
    expect((await inMemory(graph, loggers('a', 'b', 'm')).invoke()).log).toEqual(['a', 'b', 'm', 'a', 'b', 'm']);
  });

  test('follows a cycle until its router leaves it', async () => {
    const graph = buildGraph({
      state: { n: z.number().default(0) },
      nodes: ['count'],
      edges: [[START, 'count']],
      routers: [['count', ({ n }) => (n < 5 ? 'count' : END)]],
    });
    expect(await inMemory(graph, { count: ({ n }) => ({ n: n + 1 }) }).invoke()).toEqual({ n: 5 });
  });

  test('shows all its nodes the same snapshot', async () => {
    const graph = buildGraph({
      nodes: ['a', 'b'],
      edges: [
        [START, 'a'],
        [START, 'b'],
      ],
    });
    const bodies = { a: () => ({ log: 'a' }), b: ({ log }: { log: string[] }) => ({ log: `b saw ${log.length}` }) };
    expect((await inMemory(graph, bodies).invoke()).log).toEqual(['a', 'b saw 0']);
  });

  test('shows the writes of finished siblings while another waits', async () => {
    const graph = buildGraph({
      nodes: ['ask', 'write'],
      edges: [
        [START, 'ask'],
        [START, 'write'],
      ],
    });
    const run = inMemory(graph, { ask: () => ({ log: interrupt('go on?') }), write: () => ({ log: 'written' }) });
    const paused = await run.invoke();
    expect(isInterrupted(paused)).toBe(true);
    expect(paused.log).toEqual(['written']);
    expect((await run.thread().getState()).values).toEqual({ log: ['written'] });
    expect((await resume(run, 'answered')).log).toEqual(['answered', 'written']);
  });

  test('leaves out what a node returned as nothing', async () => {
    const graph = buildGraph({ nodes: ['a', 'b', 'c'] });
    expect(await inMemory(graph, { a: () => undefined, b: () => null, c: () => ({}) }).invoke()).toEqual({ log: [] });
  });

  test.each(['a string', 7, true])('refuses %j as what a node returned', async (returned) => {
    const run = inMemory(buildGraph({ nodes: ['a'] }), { a: () => returned });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'INVALID_NODE_RETURN', node: 'a' });
  });
});

describe('the recursion limit', () => {
  test.each([
    ['passes a chain of as many nodes', 3],
    ['passes a shorter chain', 4],
  ])('%s', async (_, recursionLimit) => {
    const graph = buildGraph({ nodes: ['a', 'b', 'c'], recursionLimit });
    expect((await inMemory(graph, loggers('a', 'b', 'c')).invoke()).log).toEqual(['a', 'b', 'c']);
  });

  test('fails a longer chain and names what was still to run', async () => {
    const graph = buildGraph({ nodes: ['a', 'b', 'c'], recursionLimit: 2 });
    await expect(inMemory(graph, loggers('a', 'b', 'c')).invoke()).rejects.toMatchObject({
      code: 'GRAPH_RECURSION_LIMIT',
      node: 'c',
      message: expect.stringContaining('2 supersteps'),
    });
  });

  test('keeps what was written before it was met, each write once', async () => {
    const run = inMemory(buildGraph({ nodes: ['a', 'b', 'c'], recursionLimit: 2 }), loggers('a', 'b', 'c'));
    await run.invoke().catch(() => undefined);
    expect((await run.thread().getState()).values).toEqual({ log: ['a', 'b'] });
  });

  test('can be set for one run', async () => {
    const run = inMemory(buildGraph({ nodes: ['a', 'b', 'c'] }), loggers('a', 'b', 'c'));
    await expect(run.invoke({}, { recursionLimit: 2 })).rejects.toMatchObject({ code: 'GRAPH_RECURSION_LIMIT' });
  });

  test('is 25 where nobody sets it', async () => {
    const graph = buildGraph({
      state: { n: z.number().default(0), log: Log },
      nodes: ['count'],
      edges: [
        [START, 'count'],
        ['count', 'count'],
      ],
    });
    const run = inMemory(graph, { count: ({ n }) => ({ n: n + 1 }) });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'GRAPH_RECURSION_LIMIT' });
    expect((await run.thread().getState()).values.n).toBe(25);
  });
});
