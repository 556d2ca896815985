import { z } from 'zod';
import { Command, Overwrite, ReducedValue, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

const Sum = new ReducedValue(z.number().default(0), { reducer: (total, more) => total + more });

/** Returns what the case names by `how`, from its only node. */
const RETURNS: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  'an empty object': () => ({}),
  'an empty list': () => [],
  'an undefined key': () => ({ word: undefined }),
  'a null': () => ({ maybe: null }),
  false: () => ({ flag: false }),
  zero: () => ({ count: 0 }),
  'an empty text': () => ({ word: '' }),
  'an empty array': () => ({ list: [] }),
  'a smaller tree': () => ({ tree: { b: 2 } }),
  'two updates': () => [{ log: 'first' }, { log: 'second' }],
  'a list with holes': () => [null, { log: 'one' }, undefined],
  'one key twice': () => [{ word: 'first' }, { word: 'second' }],
  'an unknown key': () => ({ nope: 1 }),
  'an unknown key in a command': () => new Command({ update: { nope: 1 } }),
  'a key of every object': () => ({ constructor: 1 }),
  'a wrong type': () => ({ count: 'three' }),
  'a wrong type in a command': () => new Command({ update: { count: 'three' } }),
  'a wrong type in the second update': () => [{ word: 'fine' }, { count: 'three' }],
  'a fraction where a whole number is due': () => ({ count: 1.5 }),
  'what its check refuses': () => ({ even: 3 }),
  'an unknown key inside': () => ({ strict: { a: 1, b: 2 } }),
  'a wrong type for a reducer': () => ({ log: 7 }),
  'what the reducer makes invalid': () => ({ bounded: 9 }),
  'what the reducer chokes on': () => ({ touchy: 'bad' }),
  'to be summed': () => [{ sum: 2 }, { sum: 3 }],
  'without a default': () => [{ bare: 'a' }, { bare: 'b' }],
  'a text for a list of texts': () => ({ log: ['a', 'b'] }),
  'a number': () => 42,
  'a text': () => 'word',
  true: () => true,
  'a list of numbers': () => [42],
  'a list of lists': () => [[{ word: 'x' }]],
  'a function': () => () => ({}),
  'a command that resumes': () => new Command({ resume: 1 }),
  'an overwrite': () => ({ log: new Overwrite(['new']) }),
  'an overwrite as JSON': () => ({ log: { __overwrite__: ['new'] } }),
  'an overwrite and more': () => [{ log: 'before' }, { log: new Overwrite(['new']) }, { log: 'after' }],
  'an overwrite of a plain key': () => ({ word: new Overwrite('x') }),
  'an overwrite that does not fit': () => ({ log: new Overwrite('x') }),
};

const write = scene(
  'state_write',
  () => ({
    state: {
      how: z.string().default('nothing'),
      word: z.string().default('untouched'),
      count: z.number().int().default(7),
      flag: z.boolean().default(true),
      even: z
        .number()
        .refine((value) => value % 2 === 0, 'must be even')
        .default(0),
      maybe: z.string().nullable().default('something'),
      absent: z.string().optional(),
      list: z.array(z.number()).default([1]),
      tree: z.record(z.string(), z.number()).default({ a: 1 }),
      strict: z.strictObject({ a: z.number() }).default({ a: 0 }),
      log: Log,
      sum: Sum,
      bounded: new ReducedValue(z.number().max(5).default(0), {
        inputSchema: z.number(),
        reducer: (total, more) => total + more,
      }),
      touchy: new ReducedValue(z.array(z.string()).default([]), {
        inputSchema: z.string(),
        reducer: (lines, line) => {
          if (line === 'bad') throw new TypeError('indigestible');
          return [...lines, line];
        },
      }),
      bare: new ReducedValue(z.string(), {
        reducer: (before: string | undefined, more: string) => `${before ?? 'none'}+${more}`,
      }),
    },
    nodes: ['write'],
  }),
  {
    bodies: {
      write: async ({ how }) => {
        note('ran');
        return RETURNS[how]?.();
      },
    },
  },
);

const writing = [
  ...casesOf(
    'state',
    write,
    [
      ['a node that returns nothing changes nothing', 'nothing', { word: 'untouched' }],
      ['a node that returns null changes nothing', 'null', { word: 'untouched' }],
      ['a node that returns {} changes nothing', 'an empty object', { word: 'untouched' }],
      ['a node that returns an empty list changes nothing', 'an empty list', { word: 'untouched' }],
      ['a key that is undefined is no write', 'an undefined key', { word: 'untouched' }],
      ['null is a write', 'a null', { maybe: null }],
      ['false is a write', 'false', { flag: false }],
      ['zero is a write', 'zero', { count: 0 }],
      ['an empty text is a write', 'an empty text', { word: '' }],
      ['an empty list is a write', 'an empty array', { list: [] }],
      ['an object replaces the one before, it is not merged', 'a smaller tree', { tree: { b: 2 } }],
      ['a list of updates is applied in its order', 'two updates', { log: ['first', 'second'] }],
      ['nothing and null in a list of updates are left out', 'a list with holes', { log: ['one'] }],
      ['one task may write a plain key twice, and the last one stays', 'one key twice', { word: 'second' }],
      ['a reducer folds each update', 'to be summed', { sum: 5 }],
      ['a reducer without a default begins with undefined', 'without a default', { bare: 'none+a+b' }],
      ['a reducer takes what its input schema takes', 'a text for a list of texts', { log: ['a', 'b'] }],
      ['an Overwrite replaces what was folded', 'an overwrite', { log: ['new'] }],
      ['an Overwrite counts in its JSON form', 'an overwrite as JSON', { log: ['new'] }],
    ],
    async (stage, how, expected) => {
      expect(await stage.invoke({ how })).toMatchObject(expected);
    },
  ),
  ...casesOf(
    'state',
    write,
    [
      ['a key that the state does not have', 'an unknown key', 'STATE_UNKNOWN_KEY', '"nope"'],
      ['one in a command', 'an unknown key in a command', 'STATE_UNKNOWN_KEY', '"nope"'],
      ['one that every object inherits', 'a key of every object', 'STATE_UNKNOWN_KEY', '"constructor"'],
      ['a value of the wrong type', 'a wrong type', 'STATE_INVALID', '"count"'],
      ['one in a command’s update', 'a wrong type in a command', 'STATE_INVALID', '"count"'],
      ['one in the second of two updates', 'a wrong type in the second update', 'STATE_INVALID', '"count"'],
      ['a fraction where a whole number is due', 'a fraction where a whole number is due', 'STATE_INVALID', 'int'],
      ['a value that fails its own check', 'what its check refuses', 'STATE_INVALID', 'must be even'],
      ['an unknown key inside a strict object', 'an unknown key inside', 'STATE_INVALID', '"strict"'],
      ['an update its reducer does not take', 'a wrong type for a reducer', 'STATE_INVALID', '"log"'],
      ['an Overwrite of a key that does not fold', 'an overwrite of a plain key', 'STATE_INVALID', '"word"'],
      ['an Overwrite that does not fit', 'an overwrite that does not fit', 'STATE_INVALID', '"log"'],
      ['a number for an update', 'a number', 'INVALID_NODE_RETURN', 'a number'],
      ['a text for an update', 'a text', 'INVALID_NODE_RETURN', 'a string'],
      ['true for an update', 'true', 'INVALID_NODE_RETURN', 'a boolean'],
      ['a number in a list of updates', 'a list of numbers', 'INVALID_NODE_RETURN', 'a number'],
      ['a list in a list of updates', 'a list of lists', 'INVALID_NODE_RETURN', 'an array'],
      ['a function for an update', 'a function', 'INVALID_NODE_RETURN', 'a function'],
      ['a command with resume, which only a client sends', 'a command that resumes', 'INVALID_NODE_RETURN', 'resume'],
    ].map(([what, ...rest]) => [`refused at the write, naming the node, and not tried again: ${what}`, ...rest] as any),
    async (stage, how, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code, node: 'write' });
      expect(error.message).toContain(mentioned);
      expect(error.message).toContain('"write"');
      expect(stage.notes()).toEqual(['ran']);
      expect(await stage.state()).toMatchObject({ status: 'failed', values: { how, word: 'untouched', count: 7 } });
    },
  ),
  ...casesOf(
    'law 13',
    write,
    [
      [
        'a result of a reducer that does not fit fails the run',
        'what the reducer makes invalid',
        'STATE_INVALID',
        '"bounded"',
      ],
      [
        'a reducer that throws fails the run, naming node and key',
        'what the reducer chokes on',
        'REDUCER_FAILED',
        'indigestible',
      ],
    ],
    async (stage, how, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code, node: 'write', message: expect.stringContaining(mentioned) });
      expect((await stage.state()).status).toBe('failed');
    },
  ),
  ...cases('state', write, {
    'an Overwrite drops the other writes of its step': async (stage) => {
      expect(await stage.invoke({ how: 'an overwrite and more', log: 'old' })).toMatchObject({ log: ['new'] });
    },
    'defaults hold until somebody writes, and a key without one is absent': async (stage) => {
      const values = await stage.invoke();
      expect(values).toMatchObject({ word: 'untouched', count: 7, flag: true, list: [1], log: [], sum: 0 });
      expect(values).not.toHaveProperty('absent');
      expect(values).not.toHaveProperty('bare');
    },
    'input goes before defaults': async (stage) => {
      expect(await stage.invoke({ word: 'given', sum: 3 })).toMatchObject({ word: 'given', sum: 3 });
    },
    'input may be an Overwrite': async (stage) => {
      expect(await stage.invoke({ log: new Overwrite(['given']) })).toMatchObject({ log: ['given'] });
    },
    'a key of the input that is undefined is left out': async (stage) => {
      expect(await stage.invoke({ word: undefined })).toMatchObject({ word: 'untouched' });
    },
  }),
  ...casesOf(
    'state',
    write,
    [
      ['input of a wrong type', { count: 'three' }, { code: 'STATE_INVALID', node: 'input', key: 'count' }],
      [
        'input under a key the state does not have',
        { nope: 1 },
        { code: 'STATE_UNKNOWN_KEY', node: 'input', key: 'nope' },
      ],
      ['input that JSON cannot carry', { list: [Number.NaN] }, { node: 'input', key: 'list' }],
      ['input that is a list', [], { code: 'INVALID_NODE_RETURN', node: 'input' }],
      ['input that is a text', 'word', { code: 'INVALID_NODE_RETURN', node: 'input' }],
    ].map(([what, ...rest]) => [`refused before anything is started: ${what as string}`, ...rest] as any),
    async (stage, input, expected) => {
      expect(await refusal(() => stage.graphs.invoke(stage.graph, input, { threadId: stage.threadId }))).toMatchObject(
        expected,
      );
      expect(await refusal(() => stage.state())).toMatchObject({ code: 'THREAD_UNKNOWN' });
    },
  ),
];

const concurrent = scene(
  'state_concurrent',
  () => ({
    state: {
      how: z.string().default(''),
      word: z.string().default('untouched'),
      log: Log,
      done: z.string().default(''),
    },
    nodes: ['a', 'b', 'c'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      ['a', 'c'],
      ['b', 'c'],
    ],
  }),
  {
    bodies: {
      a: async ({ how }) =>
        ({
          'both differ': { word: 'a' },
          'both agree': { word: 'same' },
          'both add': { log: 'a' },
          'both overwrite': { log: new Overwrite(['a']) },
          'one overwrites': { log: new Overwrite(['a']) },
          'one after the other': { word: 'a' },
        })[how as string],
      b: async ({ how }) =>
        ({
          'both differ': { word: 'b' },
          'both agree': { word: 'same' },
          'both add': { log: 'b' },
          'both overwrite': { log: new Overwrite(['b']) },
          'one overwrites': { log: 'b' },
        })[how as string],
      c: async ({ how }) => (how === 'one after the other' ? { word: 'c' } : {}),
    },
  },
);

const concurrency = [
  ...casesOf(
    'state',
    concurrent,
    [
      ['two writers of one plain key in one superstep are an error', 'both differ', 'word'],
      ['they are one though both write the same', 'both agree', 'word'],
      ['two Overwrites of one key in one superstep are an error', 'both overwrite', 'log'],
    ],
    async (stage, how, key) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code: 'STATE_CONCURRENT_UPDATE', node: 'b' });
      expect(error.message).toContain(`"${key}"`);
    },
  ),
  ...cases('state', concurrent, {
    'two writers of a reduced key in one superstep both count': async (stage) => {
      expect(await stage.invoke({ how: 'both add' })).toMatchObject({ log: ['a', 'b'] });
    },
    'an Overwrite drops what a sibling adds in that superstep': async (stage) => {
      expect(await stage.invoke({ how: 'one overwrites', log: 'old' })).toMatchObject({ log: ['a'] });
    },
    'two writers of a plain key in two supersteps follow each other': async (stage) => {
      expect(await stage.invoke({ how: 'one after the other' })).toMatchObject({ word: 'c' });
    },
    'a thread that failed by two writers can be used again': async (stage) => {
      await refusal(() => stage.invoke({ how: 'both differ' }));
      expect(await stage.invoke({ how: 'both add' })).toMatchObject({ word: 'untouched', log: ['a', 'b'] });
    },
  }),
];

const mutate = scene(
  'state_mutate',
  () => ({
    state: {
      how: z.string(),
      list: z.array(z.string()).default([]),
      tree: z.any().default({ deep: { leaves: [1] } }),
      seen: z.any(),
    },
    nodes: { change: undefined, look: undefined, peek: { reads: ['list'] } },
  }),
  {
    bodies: {
      change: async (state) => {
        if (state.how === 'push') state.list.push('leaked');
        if (state.how === 'deep') state.tree.deep.leaves.push('leaked');
        if (state.how === 'assign') state.list = ['leaked'];
        return {};
      },
      look: async ({ list, tree }) => ({ seen: { list, leaves: tree.deep.leaves } }),
      peek: async (state) => ({ list: Object.keys(state) }),
    },
  },
);

const mutation = [
  ...casesOf(
    'state',
    mutate,
    [
      ['a list that a node changes in place is not the state', 'push'],
      ['what lies deep in a value neither', 'deep'],
      ['a key that a node assigns neither', 'assign'],
    ],
    async (stage, how) => {
      expect(await stage.invoke({ how })).toMatchObject({ seen: { list: [], leaves: [1] } });
    },
  ),
  ...cases('state', mutate, {
    'a node that declares what it reads sees nothing else': async (stage) => {
      expect(await stage.invoke({ how: '' })).toMatchObject({ list: ['list'] });
    },
  }),
];

export const state = [...writing, ...concurrency, ...mutation];
