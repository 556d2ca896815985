import { z } from 'zod';
import { interrupt, rejectAnswer, START } from 'abeyance';
import { note, timesNoted } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal, type Stage } from '../stage';

const asking = scene('answers_asking', () => ({ state: { answer: z.any() }, nodes: ['ask'] }), {
  bodies: { ask: async () => ({ answer: interrupt('what now?') }) },
});

const FALSY: readonly (readonly [string, unknown])[] = [
  ['false', false],
  ['zero', 0],
  ['an empty text', ''],
  ['an empty list', []],
  ['an empty object', {}],
  ['null', null],
];

const falsy = [
  ...casesOf(
    'law 6',
    asking,
    FALSY.map(([name, value]) => [`${name} arrives as it is`, value]),
    async (stage, value) => {
      await stage.invoke();
      expect(await stage.resume(value)).toEqual({ answer: value });
    },
  ),
  ...casesOf(
    'law 6',
    asking,
    FALSY.map(([name, value]) => [`${name} arrives as it is in a map of answers`, value]),
    async (stage, value) => {
      await stage.invoke();
      expect(await stage.resume({ '1.ask:0': value })).toEqual({ answer: value });
    },
  ),
  ...casesOf(
    'law 6',
    asking,
    FALSY.map(([name, value]) => [`${name} arrives as it is by a command`, value]),
    async (stage, value) => {
      await stage.invoke();
      expect(await stage.command(value)).toEqual({ answer: value });
    },
  ),
  ...casesOf(
    'law 6',
    asking,
    FALSY.map(([name, value]) => [`${name} arrives as it is though it came before the question`, value]),
    async (stage, value) => {
      await stage.start();
      await stage.thread().resume(value, { question: '1.ask:0' });
      expect(await stage.stop()).toEqual({ answer: value });
    },
  ),
  ...cases('L01', asking, {
    'no value at all arrives as null': async (stage) => {
      await stage.invoke();
      expect(await stage.resume(undefined)).toEqual({ answer: null });
    },
    'null is an answer': async (stage) => {
      await stage.invoke();
      await stage.resume(null);
      expect((await stage.state()).status).toBe('done');
    },
  }),
  ...cases('law 6', asking, {
    'approve answers true': async (stage) => {
      await stage.invoke();
      expect(await stage.approve()).toEqual({ answer: true });
    },
    'deny answers false': async (stage) => {
      await stage.invoke();
      expect(await stage.deny()).toEqual({ answer: false });
    },
    'an object without question ids is one plain answer': async (stage) => {
      await stage.invoke();
      expect(await stage.resume({ decision: null, '1': 2 })).toEqual({ answer: { decision: null, '1': 2 } });
    },
    'a map of ids is one plain answer where the question is named beside it': async (stage) => {
      await stage.invoke();
      const value = { '1.ask:0': 'x', more: 1 };
      expect(await stage.resume(value, { question: '1.ask:0' })).toEqual({ answer: value });
    },
    'a large answer arrives whole': async (stage) => {
      await stage.invoke();
      const text = 'ü'.repeat(200_000);
      expect((await stage.resume({ text })).answer.text).toHaveLength(200_000);
    },
    'text of any script arrives whole': async (stage) => {
      await stage.invoke();
      expect((await stage.resume('好 👍🏽 \u0000 "quoted"')).answer).toBe('好 👍🏽 \u0000 "quoted"');
    },
  }),
];

const two = scene(
  'answers_two',
  () => ({
    state: { a: z.any(), b: z.any() },
    nodes: ['a', 'b'],
    edges: [
      [START, 'a'],
      [START, 'b'],
    ],
  }),
  { bodies: { a: async () => ({ a: interrupt('a?') }), b: async () => ({ b: interrupt('b?') }) } },
);

/** Refuses, leaves both questions open, and the right answers are taken afterwards. */
async function refusedWhole(stage: Stage, value: unknown, expected: object): Promise<void> {
  await stage.invoke();
  expect(await refusal(() => stage.thread().resume(value))).toMatchObject(expected);
  expect(await stage.open()).toEqual(['1.a:0', '1.b:0']);
  expect(await stage.resume({ '1.a:0': 1, '1.b:0': 2 })).toEqual({ a: 1, b: 2 });
}

const maps = [
  ...casesOf(
    'L03',
    two,
    [
      [
        'an answer under an id of another scheme is no answer to anything',
        { ['f'.repeat(32)]: 'x' },
        'ANSWER_AMBIGUOUS',
      ],
      ['an answer to an id that was never asked is refused', { '1.a:7': 'x' }, 'QUESTION_UNKNOWN'],
      ['one to a node that is not there is refused', { '1.nope:0': 'x' }, 'QUESTION_UNKNOWN'],
      ['one to a step that is over is refused', { '0.a:0': 'x' }, 'QUESTION_UNKNOWN'],
      ['one to a step to come is refused in a map', { '9.a:0': 'x' }, 'QUESTION_UNKNOWN'],
    ].map(([what, map, code]) => [`${what as string}, naming the open ones`, map, code]),
    async (stage, map, code) => {
      await refusedWhole(stage, map, { code, open: [{ id: '1.a:0' }, { id: '1.b:0' }] });
    },
  ),
  ...casesOf(
    'L24',
    two,
    [
      ['a map with one good and one unknown id', { '1.a:0': 1, '1.a:7': 2 }, 'QUESTION_UNKNOWN'],
      ['a map with an id and a word', { '1.a:0': 1, more: 2 }, 'DECISION_MALFORMED'],
      ['a map with more answers than questions', { '1.a:0': 1, '1.b:0': 2, '1.c:0': 3 }, 'QUESTION_UNKNOWN'],
    ].map(([what, map, code]) => [
      `${what as string} is refused whole, and a right one is taken afterwards`,
      map,
      code,
    ]),
    async (stage, map, code) => {
      await refusedWhole(stage, map, { code });
    },
  ),
  ...cases('law 5', two, {
    'a map with an answer to a settled question is refused whole': async (stage) => {
      await stage.invoke();
      await stage.resume(1, { question: '1.a:0' });
      expect(await refusal(() => stage.thread().resume({ '1.a:0': 9, '1.b:0': 2 }))).toMatchObject({
        code: 'QUESTION_SETTLED',
      });
      expect(await stage.open()).toEqual(['1.b:0']);
    },
    'a map is refused whole though the question to blame comes last': async (stage) => {
      await refusedWhole(stage, { '1.b:0': 2, '1.a:0': 1, '1.b:9': 3 }, { code: 'QUESTION_UNKNOWN' });
    },
    'an answer to a map’s questions is on record as one decision': async (stage) => {
      await stage.invoke();
      expect(await stage.thread().resume({ '1.b:0': 2, '1.a:0': 1 })).toEqual({
        kind: 'accepted',
        questions: ['1.b:0', '1.a:0'],
      });
      expect(await stage.thread().decisions()).toHaveLength(1);
    },
  }),
  ...cases('law 5', asking, {
    'an answer of more than 1.5 MB is refused to its sender, and nothing changes': async (stage) => {
      await stage.invoke();
      expect(await refusal(() => stage.thread().resume('x'.repeat(1_600_000)))).toMatchObject({
        code: 'ANSWER_TOO_LARGE',
        message: expect.stringContaining('1.6 MB'),
      });
      expect(await stage.resume('short')).toEqual({ answer: 'short' });
    },
  }),
];

/** What only the node can tell: nothing of it stands in the question. */
const unseen = (schema: z.ZodType): z.ZodType =>
  z.any().superRefine((value, context) => {
    const { error } = schema.safeParse(value);
    if (error) context.addIssue({ code: 'custom', message: error.issues[0]?.message ?? '' });
  });

/** What the node does with its answers, by the case. */
const PICKY: Readonly<Record<string, () => unknown>> = {
  object: () => interrupt('q?', { schema: z.object({ count: z.coerce.number() }) }),
  boolean: () => interrupt('q?', { schema: z.boolean() }),
  null: () => interrupt('q?', { schema: z.null() }),
  default: () => interrupt('q?', { schema: z.object({ size: z.string().default('M') }) }),
  choice: () => interrupt('q?', { schema: z.enum(['yes', 'no']) }),
  'unseen choice': () => interrupt('q?', { schema: unseen(z.enum(['yes', 'no'])) }),
  refined: () => interrupt('q?', { schema: z.string().refine((text) => text.startsWith('A'), 'must begin with A') }),
  transformed: () => interrupt('q?', { schema: z.string().transform((text) => text.length) }),
  both: () => Promise.all(['x', 'y'].map(async (key) => interrupt(key, { key, schema: unseen(z.number()) }))),
  'first and second': () => [interrupt('a?', { schema: unseen(z.number()) }), interrupt('b?')],
  stock: () => {
    const count = interrupt('how many?');
    note(`given ${count}`);
    if (count > 5) rejectAnswer('only 5 left');
    return count;
  },
  'the named one': () => {
    const count = interrupt('how many?', { key: 'count' });
    const place = interrupt('where to?', { key: 'place' });
    if (count > 5) rejectAnswer('only 5 left', { key: 'count' });
    return [count, place];
  },
  'no named one': () => {
    const count = interrupt('how many?', { key: 'count' });
    interrupt('where to?', { key: 'place' });
    if (count > 5) rejectAnswer('only 5 left');
    return count;
  },
  swallowed: () => {
    try {
      if (interrupt('q?') === 'bad') rejectAnswer('no');
    } catch {
      return 'swallowed';
    }
    return 'fine';
  },
  'nothing answered': () => rejectAnswer('no'),
  'not so named': () => {
    interrupt('q?', { key: 'a' });
    return rejectAnswer('no', { key: 'b' });
  },
  fails: () => {
    note(`given ${interrupt('q?')}`);
    throw new Error('broken');
  },
  'fails at first': () => {
    const answer = interrupt('q?');
    note(`given ${answer}`);
    if (timesNoted(`given ${answer}`) < 2) throw new Error('not yet');
    return answer;
  },
};
const picky = scene('answers_picky', () => ({ state: { how: z.string(), answer: z.any() }, nodes: ['ask'] }), {
  bodies: { ask: async ({ how }) => ({ answer: await PICKY[how]?.() }) },
});

const schemas = [
  ...casesOf(
    'law 7',
    picky,
    [
      ['as the schema reads it', 'object', { count: '3' }, { count: 3 }],
      ['with the schema’s defaults', 'default', {}, { size: 'M' }],
      ['as the schema transforms it', 'transformed', 'four', 4],
      ['false, where the schema takes it', 'boolean', false, false],
      ['null, where the schema takes it', 'null', null, null],
    ].map(([what, ...rest]) => [`an answer that fits is handed over: ${what as string}`, ...rest] as any),
    async (stage, how, value, expected) => {
      await stage.invoke({ how });
      expect((await stage.resume(value)).answer).toEqual(expected);
    },
  ),
  ...casesOf(
    'law 7',
    picky,
    [
      ['of a wrong type', 'object', 'three', { count: 1 }, 'expected object'],
      ['that lacks a part', 'object', {}, { count: 1 }, 'count'],
      ['that is null', 'boolean', null, true, 'expected boolean'],
      ['that is falsy, but of another kind', 'boolean', 0, false, 'expected boolean'],
      ['that is none of the choices', 'choice', 'maybe', 'no', 'yes'],
    ].map(
      ([what, ...rest]) =>
        [`an answer ${what as string} is refused at once, and the question stays open for a good one`, ...rest] as any,
    ),
    async (stage, how, bad, good, reason) => {
      await stage.invoke({ how });
      expect(await refusal(() => stage.thread().resume(bad))).toMatchObject({
        code: 'ANSWER_INVALID',
        message: expect.stringContaining(reason as string),
        open: [{ id: '1.ask:0' }],
      });
      expect((await stage.resume(good)).answer).toEqual(good);
    },
  ),
  ...casesOf(
    'law 7',
    picky,
    [
      ['that cannot be coerced', 'object', { count: 'many' }, { count: 1 }, 'expected number'],
      ['that fails a check', 'refined', 'Bo', 'Ana', 'must begin with A'],
      ['that is none of the choices the node has in mind', 'unseen choice', 'maybe', 'no', 'yes'],
    ].map(
      ([what, ...rest]) =>
        [`an answer ${what as string} is sent back with the reason, and a good one is taken`, ...rest] as any,
    ),
    async (stage, how, bad, good, reason) => {
      await stage.invoke({ how });
      const again = await stage.resume(bad);
      expect(again.__interrupt__).toEqual([
        { id: '1.ask:0', value: 'q?', rejected: expect.stringContaining(reason as string) },
      ]);
      expect((await stage.state()).interrupts[0]?.rejected).toContain(reason);
      expect((await stage.resume(good)).answer).toEqual(good);
    },
  ),
  ...cases('law 7', picky, {
    'an answer may be sent back as often as it takes': async (stage) => {
      await stage.invoke({ how: 'unseen choice' });
      for (const bad of ['a', 'b', 'c']) await stage.resume(bad);
      expect((await stage.resume('yes')).answer).toBe('yes');
      expect(await stage.thread().decisions()).toHaveLength(4);
    },
    'of several answers only the bad one is asked for again': async (stage) => {
      await stage.invoke({ how: 'both' });
      await stage.resume({ '1.ask:x': 'bad', '1.ask:y': 2 });
      expect(await stage.open()).toEqual(['1.ask:x']);
      expect((await stage.resume(1)).answer).toEqual([1, 2]);
    },
    'two bad answers are asked for again one by one': async (stage) => {
      await stage.invoke({ how: 'both' });
      await stage.resume({ '1.ask:x': 'bad', '1.ask:y': 'bad' });
      const [first] = await stage.open();
      await stage.resume(1, { question: first });
      const [second] = await stage.open();
      expect(second).not.toBe(first);
      expect((await stage.resume(2, { question: second })).answer).toEqual(expect.arrayContaining([1, 2]));
    },
    'an answer that was sent back is marked so on record': async (stage) => {
      await stage.invoke({ how: 'unseen choice' });
      await stage.resume('maybe', { by: 'ana' });
      expect(await stage.thread().decisions()).toMatchObject([
        { decision: { by: 'ana' }, verdict: { kind: 'accepted' }, sentBack: { question: '1.ask:0' } },
      ]);
    },
    'the question after a bad answer is not asked before a good one': async (stage) => {
      await stage.invoke({ how: 'first and second' });
      expect((await stage.resume('bad')).__interrupt__).toMatchObject([{ id: '1.ask:0' }]);
      expect((await stage.resume(1)).__interrupt__).toMatchObject([{ id: '1.ask:1' }]);
      expect((await stage.resume('b')).answer).toEqual([1, 'b']);
    },
  }),
  ...cases('law 7', picky, {
    'rejectAnswer opens the question again, showing the reason': async (stage) => {
      await stage.invoke({ how: 'stock' });
      expect((await stage.resume(9)).__interrupt__).toEqual([
        { id: '1.ask:0', value: 'how many?', rejected: 'only 5 left' },
      ]);
    },
    'an answer that rejectAnswer sent back is never handed over again': async (stage) => {
      await stage.invoke({ how: 'stock' });
      for (const count of [9, 8]) await stage.resume(count);
      expect((await stage.resume(5)).answer).toBe(5);
      expect(stage.notes()).toEqual(['given 9', 'given 8', 'given 5']);
    },
    'rejectAnswer sends back the answer it names, and the others are kept': async (stage) => {
      await stage.invoke({ how: 'the named one' });
      await stage.resume(9);
      expect((await stage.resume('here')).__interrupt__).toMatchObject([
        { id: '1.ask:count', rejected: 'only 5 left' },
      ]);
      expect((await stage.resume(2)).answer).toEqual([2, 'here']);
    },
    'rejectAnswer must name one of several, or the run fails': async (stage) => {
      await stage.invoke({ how: 'no named one' });
      await stage.resume(9);
      await stage.thread().resume('here');
      expect(await refusal(() => stage.stop())).toMatchObject({ code: 'REJECTION_AMBIGUOUS' });
    },
    'rejectAnswer works though the body swallows what it throws': async (stage) => {
      await stage.invoke({ how: 'swallowed' });
      expect((await stage.resume('bad')).__interrupt__).toMatchObject([{ rejected: 'no' }]);
      expect((await stage.resume('good')).answer).toBe('fine');
    },
    'rejectAnswer without an answer fails the run': async (stage) => {
      expect(await refusal(() => stage.invoke({ how: 'nothing answered' }))).toMatchObject({ code: 'OUTSIDE_NODE' });
    },
    'rejectAnswer of an answer that is not there fails the run': async (stage) => {
      await stage.invoke({ how: 'not so named' });
      await stage.thread().resume(1);
      expect(await refusal(() => stage.stop())).toMatchObject({ code: 'OUTSIDE_NODE' });
    },
    'any other error is retried with the same answer, and then fails the run': async (stage) => {
      await stage.invoke({ how: 'fails' });
      await stage.thread().resume('yes');
      expect(await refusal(() => stage.stop())).toMatchObject({ code: 'NODE_FAILED', node: 'ask' });
      expect(stage.notes()).toEqual(['given yes', 'given yes', 'given yes']);
    },
    'an error that passes keeps the answer': async (stage) => {
      await stage.invoke({ how: 'fails at first' });
      expect((await stage.resume('yes')).answer).toBe('yes');
      expect(stage.notes()).toEqual(['given yes', 'given yes']);
    },
    'a new run after the failure asks anew, and the old answer is not used': async (stage) => {
      await stage.invoke({ how: 'fails' });
      await stage.thread().resume('yes');
      await refusal(() => stage.stop());
      expect((await stage.invoke({ how: 'choice' })).__interrupt__).toEqual([{ id: '3.ask:0', value: 'q?' }]);
      expect((await stage.resume('no')).answer).toBe('no');
    },
  }),
];

export const answers = [...falsy, ...maps, ...schemas];
