import { z } from 'zod';
import { Command, END, inWorkflow, Send, START } from 'abeyance';
import { buildGraph, Log, loggers, type GraphPlan } from './support/build-graph';
import { inMemory } from './support/run-in-memory';

/** A fork: START → a → whatever is under test, with b and c to go to. */
async function fork(route: (state: any) => unknown, edges: GraphPlan['edges'] = []): Promise<string[]> {
  const graph = buildGraph({ nodes: ['a', 'b', 'c'], edges: [[START, 'a'], ...edges], routers: [['a', route]] });
  const run = inMemory(graph, {
    ...loggers('a'),
    b: ({ sent }) => ({ log: sent === undefined ? 'b' : `b(${sent})` }),
    c: () => ({ log: 'c' }),
  });
  return (await run.invoke()).log;
}

describe('a conditional edge', () => {
  test.each<[string, unknown, string[]]>([
    ['a name', 'b', ['a', 'b']],
    ['a list of names', ['c', 'b'], ['a', 'b', 'c']],
    ['the same name twice', ['b', 'b'], ['a', 'b']],
    ['END', END, ['a']],
    ['an empty list', [], ['a']],
    ['END among others', [END, 'b'], ['a', 'b']],
    ['a Send', new Send('b', { sent: 1 }), ['a', 'b(1)']],
    ['a mix of names, Sends and END', ['c', new Send('b', { sent: 1 }), END, 'b'], ['a', 'b', 'c', 'b(1)']],
  ])('may return %s', async (_, route, expected) => {
    expect(await fork(() => route)).toEqual(expected);
  });

  test('runs beside the plain edges of its node', async () => {
    expect(await fork(() => 'b', [['a', 'c']])).toEqual(['a', 'b', 'c']);
  });

  test('sees the writes of its own node', async () => {
    expect(await fork(({ log }) => (log.includes('a') ? 'b' : 'c'))).toEqual(['a', 'b']);
  });

  test('does not see the writes of a sibling', async () => {
    const graph = buildGraph({
      nodes: ['a', 'b', 'late'],
      edges: [
        [START, 'a'],
        [START, 'b'],
      ],
      routers: [['a', ({ log }) => (log.includes('b') ? 'late' : END), ['late', END]]],
    });
    expect((await inMemory(graph, loggers('a', 'b', 'late')).invoke()).log).toEqual(['a', 'b']);
  });

  test.each<[string, () => unknown, string, string]>([
    ['returns an unknown name', () => 'nope', 'UNKNOWN_GOTO', '"nope"'],
    ['sends to an unknown node', () => new Send('nope', {}), 'UNKNOWN_GOTO', '"nope"'],
    ['returns something else in a list', () => [7], 'UNKNOWN_GOTO', '7'],
    ['returns undefined', () => undefined, 'ROUTER_FAILED', 'undefined'],
    ['returns null', () => null, 'ROUTER_FAILED', 'null'],
    ['returns a number', () => 7, 'ROUTER_FAILED', '7'],
    ['is asynchronous', async () => 'b', 'ROUTER_FAILED', 'promise'],
    [
      'throws',
      () => {
        throw new Error('lost the way');
      },
      'ROUTER_FAILED',
      'lost the way',
    ],
    [
      'throws a string',
      () => {
        throw 'lost the way';
      },
      'ROUTER_FAILED',
      'lost the way',
    ],
  ])('that %s fails the run, naming its node', async (_, route, code, mentioned) => {
    await expect(fork(route)).rejects.toMatchObject({ code, node: 'a', message: expect.stringContaining(mentioned) });
  });

  test('that fails at START is a failure of the run as well', async () => {
    const graph = buildGraph({ nodes: ['a'], routers: [[START, () => 'nope', ['a']]] });
    await expect(inMemory(graph, loggers('a')).invoke()).rejects.toMatchObject({ code: 'UNKNOWN_GOTO' });
  });

  test('may end a run at START', async () => {
    const graph = buildGraph({ nodes: ['a'], routers: [[START, () => END, ['a', END]]] });
    expect(await inMemory(graph, loggers('a')).invoke()).toEqual({ log: [] });
  });
});

describe('a Send', () => {
  const state = { items: z.array(z.number()).default([]), log: Log };
  const graph = buildGraph({
    state,
    nodes: ['work', 'collect'],
    edges: [['work', 'collect']],
    routers: [[START, ({ items }) => items.map((n: number) => new Send('work', { n })), ['work']]],
  });

  test('hands its node an input that stands in for the state', async () => {
    const seen: unknown[] = [];
    const run = inMemory(graph, { work: (input) => void seen.push(input), collect: () => ({}) });
    await run.invoke({ items: [1, 2] });
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('maps, and what comes after reduces once', async () => {
    const run = inMemory(graph, {
      work: ({ n }) => ({ log: `${n}²=${n * n}` }),
      collect: ({ log }) => ({ log: `${log.length}` }),
    });
    expect((await run.invoke({ items: [3, 1, 2] })).log).toEqual(['3²=9', '1²=1', '2²=4', '3']);
  });

  test.each([null, 0, '', false])('may carry %j', async (input) => {
    const seen: unknown[] = [];
    const sending = buildGraph({ nodes: ['a'], routers: [[START, () => new Send('a', input)]] });
    await inMemory(sending, { a: (given) => void seen.push(given) }).invoke();
    expect(seen).toEqual([input]);
  });

  test('of nothing carries null', async () => {
    const seen: unknown[] = [];
    const sending = buildGraph({ nodes: ['a'], routers: [[START, () => new Send('a', undefined)]] });
    await inMemory(sending, { a: (given) => void seen.push(given) }).invoke();
    expect(seen).toEqual([null]);
  });
});

describe('a Command', () => {
  const play = async (returned: unknown, edges: GraphPlan['edges'] = []): Promise<string[]> => {
    const graph = buildGraph({ nodes: { a: { ends: ['b', 'c'] }, b: {}, c: {} }, edges: [[START, 'a'], ...edges] });
    const run = inMemory(graph, {
      a: () => returned,
      b: ({ sent = '' }) => ({ log: `b${sent}` }),
      c: () => ({ log: 'c' }),
    });
    return (await run.invoke()).log;
  };

  test.each<[string, unknown, GraphPlan['edges'], string[]]>([
    ['updates and goes on', new Command({ update: { log: 'a' }, goto: 'b' }), [], ['a', 'b']],
    ['only goes on', new Command({ goto: 'b' }), [], ['b']],
    ['only updates', new Command({ update: { log: 'a' } }), [], ['a']],
    ['goes beside a static edge, not instead of it', new Command({ goto: 'b' }), [['a', 'c']], ['b', 'c']],
    ['to END does not stop a static edge', new Command({ goto: END }), [['a', 'c']], ['c']],
    ['goes to several', new Command({ goto: ['c', 'b'] }), [], ['b', 'c']],
    ['sends', new Command({ goto: [new Send('b', { sent: 2 }), new Send('b', { sent: 1 })] }), [], ['b2', 'b1']],
    [
      'may come in a list, with plain updates among them',
      [new Command({ goto: 'b' }), { log: 'a' }, new Command({ update: { log: 'a2' }, goto: 'c' })],
      [],
      ['a', 'a2', 'b', 'c'],
    ],
  ])('%s', async (_, returned, edges, expected) => {
    expect(await play(returned, edges)).toEqual(expected);
  });

  test('to an unknown node fails the run and names those there are', async () => {
    await expect(play(new Command({ goto: 'nope' }))).rejects.toMatchObject({
      code: 'UNKNOWN_GOTO',
      node: 'a',
      message: expect.stringContaining('a, b, c, and END'),
    });
  });

  test('to an unknown node leaves none of its updates', async () => {
    const graph = buildGraph({ nodes: ['a'] });
    const run = inMemory(graph, { a: () => new Command({ update: { log: 'a' }, goto: 'nope' }) });
    await run.invoke().catch(() => undefined);
    expect((await run.thread().getState()).values).toEqual({ log: [] });
  });

  test.each([true, undefined])('that resumes with %j is refused from a node', async (answer) => {
    await expect(play(new Command({ resume: answer }))).rejects.toMatchObject({
      code: 'INVALID_NODE_RETURN',
      node: 'a',
    });
  });

  test('may come from a node in workflow code', async () => {
    const a = inWorkflow(() => new Command({ update: { log: 'a' }, goto: 'b' }), { ends: ['b'] });
    const graph = buildGraph({ nodes: { a, b: undefined }, edges: [[START, 'a']] });
    expect((await inMemory(graph, loggers('b')).invoke()).log).toEqual(['a', 'b']);
  });

  test('of another copy of the package is understood', async () => {
    const foreign = { [Symbol.for('abeyance.kind')]: 'command', resumes: false, update: { log: 'a' }, goto: 'b' };
    expect(await play(foreign)).toEqual(['a', 'b']);
  });
});
