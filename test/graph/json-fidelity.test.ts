import { z } from 'zod';
import { interrupt, once, Send, START } from 'abeyance';
import { buildGraph } from './support/build-graph';
import { inMemory } from './support/run-in-memory';

class Money {
  constructor(readonly cents: number) {}
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;

const UNFAITHFUL: [string, unknown, string][] = [
  ['a Date', new Date(0), 'a Date'],
  ['a Map', new Map([['a', 1]]), 'a Map'],
  ['a Set', new Set([1]), 'a Set'],
  ['a BigInt', 1n, 'a bigint'],
  ['NaN', NaN, 'NaN'],
  ['Infinity', -Infinity, '-Infinity'],
  ['a class instance', new Money(5), 'a Money'],
  ['a function', () => 1, 'a function'],
  ['a symbol', Symbol('s'), 'a symbol'],
  ['a cycle', cycle, 'cyclic'],
  ['undefined in an array', [1, undefined], 'undefined'],
  ['a hole in an array', new Array(1), 'undefined'],
  ['bytes', new Uint8Array([1]), 'a Uint8Array'],
  ['an Error', new Error('x'), 'a Error'],
  ['something deep inside', { a: [{ b: new Date(0) }] }, 'v.a[0].b is a Date'],
];

describe('what JSON cannot carry is refused', () => {
  const graph = buildGraph({ state: { v: z.any() }, nodes: ['a'] });

  test.each(UNFAITHFUL)('as a state value, naming node and key: %s', async (_, value, named) => {
    const run = inMemory(graph, { a: () => ({ v: value }) });
    await expect(run.invoke()).rejects.toMatchObject({
      code: 'STATE_NOT_JSON',
      node: 'a',
      key: 'v',
      message: expect.stringContaining(named),
    });
  });

  test.each(UNFAITHFUL)('as an input: %s', async (_, value) => {
    const run = inMemory(graph, { a: () => ({}) });
    await expect(run.invoke({ v: value })).rejects.toMatchObject({ code: 'STATE_NOT_JSON', node: 'input', key: 'v' });
  });

  test.each(UNFAITHFUL)('as a question: %s', async (_, value) => {
    const run = inMemory(graph, { a: () => interrupt(value) });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_NOT_JSON', node: 'a' });
  });

  test.each(UNFAITHFUL)('as an answer, and the question stays open: %s', async (_, value) => {
    const run = inMemory(graph, { a: () => void interrupt('?') });
    await run.invoke();
    await expect(run.thread().resume(value)).rejects.toMatchObject({ code: 'STATE_NOT_JSON' });
    expect((await run.thread().getState()).status).toBe('waiting');
  });

  test('as the input of a Send', async () => {
    const sending = buildGraph({ nodes: ['a'], routers: [[START, () => new Send('a', new Date(0))]] });
    await expect(inMemory(sending, { a: () => ({}) }).invoke()).rejects.toMatchObject({ code: 'STATE_NOT_JSON' });
  });

  test('as the result of once, naming its key', async () => {
    const run = inMemory(graph, { a: () => once('when', () => new Date(0)).then(() => ({})) });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_NOT_JSON', node: 'a', key: 'when' });
  });
});

describe('what JSON carries comes back as it was', () => {
  test.each<[string, unknown]>([
    ['nested lists and objects', { a: [1, 'two', { three: null }], b: false }],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['a key called __proto__', JSON.parse('{"__proto__":{"x":1}}')],
    ['empty things', { s: '', l: [], o: {}, z: 0 }],
  ])('%s', async (_, value) => {
    const run = inMemory(buildGraph({ state: { v: z.any() }, nodes: ['a'] }), { a: () => ({ v: value }) });
    expect(JSON.stringify((await run.invoke()).v)).toBe(JSON.stringify(value));
  });

  test('properties that are undefined are left out', async () => {
    const run = inMemory(buildGraph({ state: { v: z.any() }, nodes: ['a'] }), { a: () => ({ v: { x: undefined } }) });
    expect((await run.invoke()).v).toStrictEqual({});
  });
});

describe('a codec', () => {
  const when = z.codec(z.iso.datetime(), z.date(), {
    decode: (text) => new Date(text),
    encode: (date) => date.toISOString(),
  });
  const graph = buildGraph({ state: { when, list: z.array(when).default([]) }, nodes: ['write', 'read'] });

  test('lets a value be written that JSON does not know, and decodes it in bodies and results', async () => {
    let seen: unknown;
    const run = inMemory(graph, {
      write: () => ({ list: [new Date(1000)] }),
      read: (state) => void (seen = state),
    });
    const result = await run.invoke({ when: new Date(0) });
    expect(seen).toEqual({ when: new Date(0), list: [new Date(1000)] });
    expect(result).toEqual({ when: new Date(0), list: [new Date(1000)] });
  });

  test('refuses what it does not encode', async () => {
    const run = inMemory(graph, { write: () => ({ when: '1970-01-01T00:00:00.000Z' }), read: () => ({}) });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_INVALID', node: 'write', key: 'when' });
  });
});

test.each<[string, z.ZodType, unknown]>([
  ['z.date()', z.date(), new Date(0)],
  ['z.map()', z.map(z.string(), z.number()), new Map()],
  ['z.bigint()', z.bigint(), 1n],
])('a schema that JSON cannot carry, %s, is refused at the first write', async (_, schema, value) => {
  const run = inMemory(buildGraph({ state: { v: schema }, nodes: ['a'] }), { a: () => ({ v: value }) });
  await expect(run.invoke()).rejects.toMatchObject({
    code: 'STATE_NOT_JSON',
    message: expect.stringContaining('z.codec'),
  });
});

test('a schema with a one-way transform is a typed error at the first write', async () => {
  const run = inMemory(buildGraph({ state: { v: z.string().transform(Number) }, nodes: ['a'] }), {
    a: () => ({ v: 1 }),
  });
  await expect(run.invoke()).rejects.toMatchObject({ code: 'STATE_INVALID', node: 'a', key: 'v' });
});
