import { z } from 'zod';
import { interrupt, ReducedValue, START } from 'abeyance';
import { cases, casesOf } from '../conformance-case';
import { note } from '../backstage';
import { scene } from '../scene';
import { refusal } from '../stage';

class Money {
  constructor(readonly cents: number) {}
}

function cycle(): object {
  const self: { self?: object } = {};
  self.self = self;
  return self;
}

function deep(levels: number): unknown {
  return levels === 0 ? 'bottom' : [deep(levels - 1)];
}

/** What JSON would change or lose, by what the message calls it. */
const UNFAITHFUL: Readonly<Record<string, readonly [value: () => unknown, called: string]>> = {
  'a Date': [() => new Date(0), 'a Date'],
  'a Map': [() => new Map([[1, 2]]), 'a Map'],
  'a Set': [() => new Set([1]), 'a Set'],
  'a RegExp': [() => /x/, 'a RegExp'],
  'an Error': [() => new RangeError('x'), 'a RangeError'],
  'a URL': [() => new URL('http://localhost'), 'a URL'],
  bytes: [() => new Uint8Array([1]), 'a Uint8Array'],
  'a class instance': [() => new Money(5), 'a Money'],
  'a function': [() => () => 1, 'a function'],
  'a symbol': [() => Symbol('x'), 'a symbol'],
  'a BigInt': [() => 10n, 'a bigint'],
  NaN: [() => Number.NaN, 'NaN'],
  Infinity: [() => Infinity, 'Infinity'],
  'minus Infinity': [() => -Infinity, '-Infinity'],
  'undefined in a list': [() => [1, undefined], 'undefined'],
  'a hole in a list': [() => [1, , 2], 'undefined'],
  'a Date deep inside': [() => ({ at: [{ when: new Date(0) }] }), 'value.at[0].when'],
  'a cycle': [cycle, 'cyclic'],
  'more than 200 levels': [() => deep(201), 'nested deeper'],
};

/** What JSON carries, though it looks as if it might not. */
const FAITHFUL: Readonly<Record<string, readonly [value: () => unknown, comesBackAs?: unknown]>> = {
  'every kind of JSON at once': [() => ({ a: [null, true, false, 0, -1.5, 'x', [], {}] })],
  'the largest and the smallest numbers': [() => [Number.MAX_VALUE, Number.MIN_VALUE, Number.MAX_SAFE_INTEGER]],
  'minus zero as zero': [() => -0, 0],
  'text beyond ASCII': [() => 'Grüße 👋🏽 \u0000 \u2028 \ud800'],
  'an empty key': [() => ({ '': 1 })],
  'a property that is undefined as none': [() => ({ a: 1, b: undefined }), { a: 1 }],
  'an object without a prototype': [() => Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  '200 levels': [() => deep(190)],
};

const carry = scene(
  'fidelity_carry',
  () => ({ state: { how: z.string(), value: z.any() }, nodes: ['write', 'pass'] }),
  {
    bodies: {
      write: async ({ how }) => {
        note('ran');
        return { value: (UNFAITHFUL[how] ?? FAITHFUL[how])?.[0]() };
      },
      pass: async ({ value }) => ({ value }),
    },
  },
);

const carried = [
  ...casesOf(
    'law 12',
    carry,
    Object.entries(UNFAITHFUL)
      .filter(([how]) => how !== 'a BigInt')
      .map(([how, [, called]]) => [`${how} is refused at the write`, how, called]),
    async (stage, how, called) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code: 'STATE_NOT_JSON', node: 'write' });
      expect(error.message).toContain(called);
      expect(error.message).toContain('"value"');
      expect(stage.notes()).toEqual(['ran']);
    },
  ),
  ...casesOf(
    'law 12',
    carry,
    Object.entries(FAITHFUL).map(([how, [value, as]]) => [`carried is ${how}`, how, as === undefined ? value() : as]),
    async (stage, how, expected) => {
      expect((await stage.invoke({ how })).value).toEqual(expected);
      expect((await stage.state()).values.value).toEqual(expected);
    },
  ),
  ...cases('law 12', carry, {
    'carried is a key that is called __proto__': async (stage) => {
      const value = JSON.parse('{"__proto__":{"a":1},"b":2}');
      const { value: back } = await stage.invoke({ how: 'none', value });
      expect(JSON.stringify(back)).toBe('{"__proto__":{"a":1},"b":2}');
      expect(back.a).toBeUndefined();
    },
  }),
];

const DateCodec = z.codec(z.string(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const SetCodec = z.codec(z.array(z.string()), z.set(z.string()), {
  decode: (list) => new Set(list),
  encode: (set) => [...set],
});
const BigIntCodec = z.codec(z.string(), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString(),
});

const codec = scene(
  'fidelity_codec',
  () => ({
    state: {
      at: DateCodec.default(new Date(0)),
      tags: SetCodec.optional(),
      big: BigIntCodec.optional(),
      days: new ReducedValue(z.array(DateCodec).default([]), {
        inputSchema: DateCodec,
        reducer: (days, day) => [...days, day],
      }),
      oneWay: z.string().transform(Number).optional(),
      slow: z
        .string()
        .refine(async () => true)
        .optional(),
      how: z.string().default(''),
      seen: z.any(),
    },
    nodes: ['write', 'ask', 'day', 'night'],
    edges: [
      [START, 'write'],
      ['write', 'ask'],
    ],
    routers: [['ask', ({ at }) => (at instanceof Date && at.getUTCHours() < 12 ? 'day' : 'night'), ['day', 'night']]],
  }),
  {
    bodies: {
      write: async ({ how }) => {
        if (how === 'one way') return { oneWay: 5 };
        if (how === 'slow') return { slow: 'x' };
        if (how === 'not a date') return { at: '2026-01-01' };
        return { at: new Date(1000), tags: new Set(['a']), big: 12345678901234567890n, days: new Date(2000) };
      },
      ask: async ({ at, tags, big }) => {
        const before = [at instanceof Date, tags instanceof Set, typeof big];
        const answer = interrupt('what now?');
        return { seen: [...before, answer, at.getTime()] };
      },
      day: async () => ({ how: 'day' }),
      night: async () => ({ how: 'night' }),
    },
  },
);

const encoded = [
  ...cases('law 12', codec, {
    'a codec’s values are the same before and after a pause': async (stage) => {
      const paused = await stage.invoke();
      expect(paused.at).toEqual(new Date(1000));
      expect((await stage.resume('go on')).seen).toEqual([true, true, 'bigint', 'go on', 1000]);
    },
    'a codec’s values come back decoded from the run and from getState': async (stage) => {
      await stage.invoke();
      const { values } = await stage.state();
      expect([values.at, values.tags, values.big]).toEqual([new Date(1000), new Set(['a']), 12345678901234567890n]);
      expect(await stage.resume(1)).toMatchObject({ tags: new Set(['a']), big: 12345678901234567890n });
    },
    'a reducer of a codec sees decoded values': async (stage) => {
      expect((await stage.invoke({ days: new Date(1) })).days).toEqual([new Date(1), new Date(2000)]);
    },
    'a router sees decoded values': async (stage) => {
      await stage.invoke();
      expect((await stage.resume(1)).how).toBe('day');
    },
    'input takes what the codec decodes to': async (stage) => {
      expect((await stage.invoke({ at: new Date(5000), how: 'fine' })).at).toEqual(new Date(1000));
      expect(await stage.resume(1)).toMatchObject({ how: 'day' });
    },
    'a default of a codec is decoded': async (stage) => {
      await refusal(() => stage.invoke({ how: 'not a date' }));
      expect((await stage.state()).values.at).toEqual(new Date(0));
    },
  }),
  ...casesOf(
    'law 12',
    codec,
    [
      ['what a codec does not take is refused', 'not a date', 'at'],
      ['a transform, which cannot be undone, is refused at the write', 'one way', 'oneWay'],
      ['a check that needs a promise is refused at the write', 'slow', 'slow'],
    ],
    async (stage, how, key) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code: 'STATE_INVALID', node: 'write' });
      expect(error.message).toContain(`"${key}"`);
    },
  ),
];

const asks = scene('fidelity_asks', () => ({ state: { how: z.string(), answer: z.any() }, nodes: ['ask'] }), {
  bodies: {
    ask: async ({ how }) => {
      note('ran');
      return { answer: interrupt({ value: UNFAITHFUL[how]?.[0]() }) };
    },
  },
});

const asked = [
  ...casesOf(
    'law 12',
    asks,
    ['a Date', 'a BigInt', 'NaN', 'a Map', 'a cycle'].map((how) => [`a question with ${how} in it fails the run`, how]),
    async (stage, how) => {
      expect(await refusal(() => stage.invoke({ how }))).toMatchObject({ code: 'STATE_NOT_JSON', node: 'ask' });
      expect(stage.notes()).toEqual(['ran']);
    },
  ),
  ...casesOf(
    'law 12',
    asks,
    ['a Date', 'a BigInt', 'NaN', 'a function', 'a class instance'].map((how) => [
      `an answer that is ${how} is refused to its sender, and nothing changes`,
      how,
    ]),
    async (stage, how) => {
      await stage.invoke({ how: 'plain' });
      expect(await refusal(() => stage.thread().resume(UNFAITHFUL[how]?.[0]()))).toMatchObject({
        code: 'STATE_NOT_JSON',
      });
      expect(await stage.open()).toEqual(['1.ask:0']);
      expect(await stage.resume('plain')).toMatchObject({ answer: 'plain' });
    },
  ),
];

const big = scene('fidelity_big', () => ({ state: { a: z.any() }, nodes: ['write', 'gate'] }), {
  bodies: { write: async () => ({ a: 10n }), gate: async () => ({ a: interrupt('?') }) },
});
const reported = cases('L34', big, {
  'a BigInt is refused at the write, naming node and key, and the thread can be read': async (stage) => {
    const error = await refusal(() => stage.invoke());
    expect(error).toMatchObject({ code: 'STATE_NOT_JSON', node: 'write' });
    expect(error.message).toMatch(/"write".*"a".*a bigint/);
    expect(await stage.state()).toMatchObject({ status: 'failed', values: {}, interrupts: [] });
  },
});

export const fidelity = [...reported, ...carried, ...encoded, ...asked];
