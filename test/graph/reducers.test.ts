import { z } from 'zod';
import { Command, Overwrite, ReducedValue, Send, START } from 'abeyance';
import { buildGraph, Log, type Bodies, type GraphPlan } from './support/build-graph';
import { inMemory } from './support/run-in-memory';

/** A promise and the hand that resolves it: lets a test say which body finishes first. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const THREE: GraphPlan['edges'] = [
  [START, 'zeta'],
  [START, 'alpha'],
  [START, 'mid'],
];

describe('a reduced value folds', () => {
  test('in the order of the nodes’ names, never in which they finished', async () => {
    const [alphaGate, midGate] = [gate(), gate()];
    const run = inMemory(buildGraph({ nodes: ['zeta', 'alpha', 'mid'], edges: THREE }), {
      zeta: async () => (midGate.open(), { log: 'zeta' }),
      mid: async () => (await midGate.opened, alphaGate.open(), { log: 'mid' }),
      alpha: async () => (await alphaGate.opened, { log: 'alpha' }),
    });
    expect((await run.invoke()).log).toEqual(['alpha', 'mid', 'zeta']);
  });

  test('nodes first, then Sends in the order they were made', async () => {
    const last = gate();
    const graph = buildGraph({
      nodes: ['work', 'zeta'],
      edges: [[START, 'zeta']],
      routers: [[START, () => [0, 1, 2].map((n) => new Send('work', { n }))]],
    });
    const run = inMemory(graph, {
      work: async ({ n }) => {
        if (n === 2) last.open();
        else await last.opened;
        return { log: `work ${n}` };
      },
      zeta: () => ({ log: 'zeta' }),
    });
    expect((await run.invoke()).log).toEqual(['zeta', 'work 0', 'work 1', 'work 2']);
  });

  test('several updates of one node in the order it gave them', async () => {
    const run = inMemory(buildGraph({ nodes: ['a'] }), {
      a: () => [{ log: '1' }, new Command({ update: { log: '2' } }), { log: '3' }],
    });
    expect((await run.invoke()).log).toEqual(['1', '2', '3']);
  });

  test('from undefined where its schema has no default', async () => {
    const sum = new ReducedValue<number | undefined, number>(z.number().optional(), {
      inputSchema: z.number(),
      reducer: (total, more) => (total ?? 0) + more,
    });
    const run = inMemory(buildGraph({ state: { sum }, nodes: ['a'] }), { a: () => ({ sum: 2 }) });
    expect(await run.invoke({ sum: 1 })).toEqual({ sum: 3 });
  });

  test('without leaking what the reducer changes in place', async () => {
    const list = new ReducedValue<any, string>(z.any().default([]), {
      inputSchema: z.string(),
      reducer: (lines, line) => (lines.push(line), lines),
    });
    const graph = buildGraph({
      state: { list },
      nodes: ['a', 'b'],
      edges: [
        [START, 'a'],
        [START, 'b'],
      ],
    });
    const run = inMemory(graph, { a: () => ({ list: 'a' }), b: () => ({ list: 'b' }) });
    expect(await run.invoke()).toEqual({ list: ['a', 'b'] });
    expect((await run.thread().getState()).values).toEqual({ list: ['a', 'b'] });
  });
});

describe('an Overwrite', () => {
  const SIDE_BY_SIDE: GraphPlan = {
    nodes: ['a', 'b', 'c'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      [START, 'c'],
    ],
  };

  test.each<[string, unknown]>([
    ['as its class', new Overwrite(['new'])],
    ['in its JSON form', { __overwrite__: ['new'] }],
  ])('%s replaces the value and drops the other writes of its superstep', async (_, overwrite) => {
    const run = inMemory(buildGraph(SIDE_BY_SIDE), {
      a: () => ({ log: 'before' }),
      b: () => ({ log: overwrite }),
      c: () => ({ log: 'after' }),
    });
    expect((await run.invoke({ log: 'old' })).log).toEqual(['new']);
  });

  test('may stand in the input', async () => {
    const run = inMemory(buildGraph({ nodes: ['a'] }), { a: () => ({}) });
    await run.invoke({ log: 'first run' });
    expect((await run.invoke({ log: new Overwrite(['second run']) })).log).toEqual(['second run']);
  });

  test('is refused when two nodes make one in a superstep', async () => {
    const overwrite = (): object => ({ log: new Overwrite([]) });
    const run = inMemory(buildGraph(SIDE_BY_SIDE), { a: overwrite, b: () => ({}), c: overwrite });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_CONCURRENT_UPDATE', node: 'c', key: 'log' });
  });

  test('is checked by the value’s own schema', async () => {
    const run = inMemory(buildGraph({ nodes: ['a'] }), { a: () => ({ log: new Overwrite('not a list') }) });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_INVALID', node: 'a', key: 'log' });
  });

  test('does nothing for a key that is not reduced: its schema refuses it', async () => {
    const graph = buildGraph({ state: { n: z.number().default(0) }, nodes: ['a'] });
    const run = inMemory(graph, { a: () => ({ n: new Overwrite(1) }) });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_INVALID', key: 'n' });
  });
});

describe('a reducer that fails', () => {
  const failing = new ReducedValue<number, number>(z.number().default(0), {
    reducer: (total, more) => {
      if (more < 0) throw new Error('no debts');
      return more > 99 ? ('too much' as never) : total + more;
    },
  });
  const play = (bodies: Bodies): Promise<unknown> =>
    inMemory(buildGraph({ state: { total: failing, log: Log }, nodes: ['a', 'b'] }), bodies).invoke();

  test('by a throw fails the run, naming the node whose update it was', async () => {
    await expect(play({ a: () => ({ total: 1 }), b: () => ({ total: -1 }) })).rejects.toMatchObject({
      code: 'REDUCER_FAILED',
      node: 'b',
      message: expect.stringContaining('no debts'),
    });
  });

  test('by a value its schema does not accept fails the run, naming the key', async () => {
    await expect(play({ a: () => ({ total: 100 }), b: () => ({}) })).rejects.toMatchObject({
      code: 'STATE_INVALID',
      node: 'a',
      key: 'total',
    });
  });
});
