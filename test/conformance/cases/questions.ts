import { z } from 'zod';
import { END, inWorkflow, interrupt, isInterrupted, Send, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { note, timesNoted } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

/** What the only node does, by the case's `how`; it returns its answer. */
const BODIES: Readonly<Record<string, (state: any) => unknown>> = {
  one: () => interrupt('q?'),
  'after an await': async () => {
    await Promise.resolve();
    return interrupt('q?');
  },
  'in a function': () => (() => (() => interrupt('q?'))())(),
  'in try and finally': () => {
    try {
      return interrupt('q?');
    } finally {
      note('finally');
    }
  },
  two: () => [interrupt('a?'), interrupt('b?')],
  three: () => [interrupt('a?'), interrupt('b?'), interrupt('c?')],
  'the same twice': () => [interrupt('same?'), interrupt('same?')],
  'until it is good': () => {
    const given = [];
    for (let answer = interrupt('go on?'); ; answer = interrupt('go on?')) {
      given.push(answer);
      if (answer === 'good') return given;
    }
  },
  'depending on the first': () => (interrupt('more?') ? interrupt('what?') : 'none'),
  'all at once by key': () => Promise.all(['x', 'y'].map(async (key) => interrupt(`${key}?`, { key }))),
  'all at once': () => Promise.all(['x', 'y'].map(async (key) => interrupt(`${key}?`))),
  'all at once, in another order the second time': () => {
    note('asked');
    const keys = timesNoted('asked') % 2 === 1 ? ['x', 'y'] : ['y', 'x'];
    return Promise.all(keys.map(async (key) => [key, interrupt(`${key}?`, { key })]));
  },
  'a key and an index': () => [interrupt('a?', { key: 'name' }), interrupt('b?')],
  'changed in the second run': () => {
    note('asked');
    return interrupt(timesNoted('asked') === 1 ? 'may I pay 5?' : 'may I pay 500?');
  },
  'changed and changed back': () => {
    note('asked');
    return interrupt(timesNoted('asked') === 2 ? 'may I pay 500?' : 'may I pay 5?');
  },
  'changed in schema': () => {
    note('asked');
    return interrupt('q?', { schema: timesNoted('asked') === 1 ? z.number() : z.string() });
  },
  'with a schema': () => interrupt('how many?', { schema: z.object({ count: z.number() }) }),
  approval: () => interrupt({ pay: 5 }, { approval: true }),
  'an empty key': () => interrupt('q?', { key: '' }),
  'a key with a space': () => interrupt('q?', { key: 'a b' }),
  'a key of digits': () => interrupt('q?', { key: '12' }),
  'a key with a tilde': () => interrupt('q?', { key: 'a~2' }),
  'a long key': () => interrupt('q?', { key: 'k'.repeat(201) }),
  'one key twice': () => [interrupt('a?', { key: 'k' }), interrupt('b?', { key: 'k' })],
  undefined: () => interrupt(undefined),
};

const ask = scene(
  'questions_ask',
  () => ({
    state: { how: z.string(), question: z.any(), answer: z.any(), log: Log },
    nodes: ['before', 'ask', 'after'],
  }),
  {
    bodies: {
      before: async () => {
        note('before');
        return { log: 'before' };
      },
      ask: async (state) => {
        note('ask');
        return { answer: await (state.how ? BODIES[state.how]?.(state) : interrupt(state.question)), log: 'ask' };
      },
      after: async () => {
        note('after');
        return { log: 'after' };
      },
    },
  },
);

const asking = [
  ...casesOf(
    'law 2',
    ask,
    [
      ['a node may ask after an await', 'after an await'],
      ['a node may ask deep in its functions', 'in a function'],
      ['a node may ask in a try with a finally', 'in try and finally'],
    ],
    async (stage, how) => {
      const paused = await stage.invoke({ how });
      expect(isInterrupted(paused)).toBe(true);
      expect(paused.__interrupt__).toEqual([{ id: '2.ask:0', value: 'q?' }]);
      expect(await stage.resume('yes')).toMatchObject({ answer: 'yes', log: ['before', 'ask', 'after'] });
    },
  ),
  ...cases('law 2', ask, {
    'a resume runs the node that asked from its top, and no earlier one': async (stage) => {
      await stage.invoke({ how: 'one' });
      await stage.resume('yes');
      expect(stage.notes()).toEqual(['before', 'ask', 'ask', 'after']);
    },
    'finally runs on every pause': async (stage) => {
      await stage.invoke({ how: 'in try and finally' });
      await stage.resume(1);
      expect(stage.notes().filter((what) => what === 'finally')).toHaveLength(2);
    },
    'two questions are asked one after the other, and the body runs three times': async (stage) => {
      expect((await stage.invoke({ how: 'two' })).__interrupt__).toEqual([{ id: '2.ask:0', value: 'a?' }]);
      expect((await stage.resume(1)).__interrupt__).toEqual([{ id: '2.ask:1', value: 'b?' }]);
      expect((await stage.resume(2)).answer).toEqual([1, 2]);
      expect(stage.notes().filter((what) => what === 'ask')).toHaveLength(3);
    },
    'three questions keep their answers in order': async (stage) => {
      await stage.invoke({ how: 'three' });
      for (const answer of ['x', 'y']) await stage.resume(answer);
      expect((await stage.resume('z')).answer).toEqual(['x', 'y', 'z']);
    },
    'a node without a pause writes nothing before it has its answer': async (stage) => {
      const paused = await stage.invoke({ how: 'one' });
      expect(paused.log).toEqual(['before']);
      expect(paused).not.toHaveProperty('answer');
    },
    'a question that depends on the answer to another is asked or not': async (stage) => {
      await stage.invoke({ how: 'depending on the first' });
      expect((await stage.resume(false)).answer).toBe('none');
    },
    'a question of the second run is asked where the first answer leads to it': async (stage) => {
      await stage.invoke({ how: 'depending on the first' });
      expect((await stage.resume(true)).__interrupt__).toEqual([{ id: '2.ask:1', value: 'what?' }]);
      expect((await stage.resume('that')).answer).toBe('that');
    },
  }),
  ...cases('L15', ask, {
    'a loop around a question asks under an id of its own each time, and keeps every answer': async (stage) => {
      await stage.invoke({ how: 'until it is good' });
      expect((await stage.resume('bad')).__interrupt__).toEqual([{ id: '2.ask:1', value: 'go on?' }]);
      expect((await stage.resume('worse')).__interrupt__).toEqual([{ id: '2.ask:2', value: 'go on?' }]);
      expect((await stage.resume('good')).answer).toEqual(['bad', 'worse', 'good']);
    },
  }),
  ...cases('law 3', ask, {
    'the same question twice is two questions': async (stage) => {
      await stage.invoke({ how: 'the same twice' });
      expect((await stage.resume('one')).__interrupt__).toEqual([{ id: '2.ask:1', value: 'same?' }]);
      expect((await stage.resume('two')).answer).toEqual(['one', 'two']);
    },
    'questions asked at once by key are open at once, under their keys': async (stage) => {
      expect((await stage.invoke({ how: 'all at once by key' })).__interrupt__).toEqual([
        { id: '2.ask:x', value: 'x?' },
        { id: '2.ask:y', value: 'y?' },
      ]);
      expect((await stage.resume({ '2.ask:y': 'Y', '2.ask:x': 'X' })).answer).toEqual(['X', 'Y']);
    },
    'questions asked at once without keys are open at once, by their order': async (stage) => {
      expect((await stage.invoke({ how: 'all at once' })).__interrupt__.map(({ id }: any) => id)).toEqual([
        '2.ask:0',
        '2.ask:1',
      ]);
      expect((await stage.resume({ '2.ask:0': 'X', '2.ask:1': 'Y' })).answer).toEqual(['X', 'Y']);
    },
    'each answer finds its key though the order of the questions changes between two runs': async (stage) => {
      await stage.invoke({ how: 'all at once, in another order the second time' });
      const { answer } = await stage.resume({ '2.ask:x': 'X', '2.ask:y': 'Y' });
      expect(answer).toEqual([
        ['y', 'Y'],
        ['x', 'X'],
      ]);
    },
    'a question with a key does not count among those without': async (stage) => {
      await stage.invoke({ how: 'a key and an index' });
      expect(await stage.open()).toEqual(['2.ask:name']);
      expect((await stage.resume(1)).__interrupt__).toEqual([{ id: '2.ask:0', value: 'b?' }]);
    },
    'a question that changed between two runs is a new one, and the old answer is not handed over': async (stage) => {
      await stage.invoke({ how: 'changed in the second run' });
      expect((await stage.resume('pay')).__interrupt__).toEqual([{ id: '2.ask:0~2', value: 'may I pay 500?' }]);
      expect((await stage.resume('no')).answer).toBe('no');
      expect(await stage.verdicts()).toEqual(['resume accepted', 'resume accepted']);
    },
    'a question that changes back gets the answer that was given to it': async (stage) => {
      await stage.invoke({ how: 'changed and changed back' });
      expect(await stage.resume('pay 5')).toMatchObject({ __interrupt__: [{ id: '2.ask:0~2' }] });
      expect((await stage.resume('pay 500')).answer).toBe('pay 5');
    },
    'a question whose schema changed is a new one': async (stage) => {
      await stage.invoke({ how: 'changed in schema' });
      expect(await stage.resume(5)).toMatchObject({ __interrupt__: [{ id: '2.ask:0~2' }] });
      expect((await stage.resume('five')).answer).toBe('five');
    },
    'an open question says what it is': async (stage) => {
      await stage.invoke({ how: 'with a schema' });
      const [question] = (await stage.state()).interrupts;
      expect(question).toEqual({
        id: '2.ask:0',
        kind: 'question',
        node: 'ask',
        task: '2.ask',
        value: 'how many?',
        digest: expect.stringMatching(/^[0-9a-f]{32}$/),
        schema: expect.objectContaining({ type: 'object', required: ['count'] }),
        askedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      });
    },
    'a question that asks for an approval says so': async (stage) => {
      await stage.invoke({ how: 'approval' });
      expect((await stage.state()).interrupts).toMatchObject([{ kind: 'approval', value: { pay: 5 } }]);
    },
    'the same question on two threads has one digest, another has another': async (stage) => {
      const digest = async (suffix: string, question: unknown): Promise<string | undefined> => {
        const threadId = `${stage.threadId}-${suffix}`;
        await stage.graphs.invoke(stage.graph, { how: '', question }, { threadId });
        return (await stage.graphs.thread(stage.graph, threadId).getState()).interrupts[0]?.digest;
      };
      const [one, two, other] = [
        await digest('1', { a: 1, b: 2 }),
        await digest('2', { b: 2, a: 1 }),
        await digest('3', { a: 2 }),
      ];
      expect(one).toBe(two);
      expect(other).not.toBe(one);
    },
  }),
  ...casesOf(
    'law 3',
    ask,
    [
      ['an empty key', 'an empty key', 'INVALID_NAME'],
      ['a key with a space', 'a key with a space', 'INVALID_NAME'],
      ['a key of digits, which would stand for an index', 'a key of digits', 'INVALID_NAME'],
      ['a key with a tilde, which marks a revision', 'a key with a tilde', 'INVALID_NAME'],
      ['a key of more than 200 characters', 'a long key', 'INVALID_NAME'],
    ].map(([what, ...rest]) => [`a question cannot have ${what as string}`, ...rest] as any),
    async (stage, how, code) => {
      expect(await refusal(() => stage.invoke({ how }))).toMatchObject({ code });
    },
  ),
  ...cases('law 3', ask, {
    'two questions under one key fail the run, so that one answer cannot serve for both': async (stage) => {
      await stage.invoke({ how: 'one key twice' });
      await stage.thread().resume(1);
      expect(await refusal(() => stage.stop())).toMatchObject({ code: 'DUPLICATE_KEY' });
    },
    'a question must be something': async (stage) => {
      expect(await refusal(() => stage.invoke({ how: 'undefined' }))).toMatchObject({ code: 'STATE_NOT_JSON' });
    },
  }),
  ...casesOf(
    'law 3',
    ask,
    [
      ['an object', { question: 'approve?', lines: [1, 2] }],
      ['a list', [1, 'two', null]],
      ['null', null],
      ['false', false],
      ['zero', 0],
      ['an empty text', ''],
    ].map(([what, question]) => [`a question may be ${what as string}, and is shown as it is`, question] as any),
    async (stage, question) => {
      expect((await stage.invoke({ how: '', question })).__interrupt__).toEqual([{ id: '2.ask:0', value: question }]);
      expect((await stage.state()).interrupts).toMatchObject([{ value: question }]);
    },
  ),
];

const places = scene(
  'questions_places',
  () => ({
    state: { path: z.array(z.string()), log: Log },
    nodes: {
      first: undefined,
      here: inWorkflow(() => ({ log: `here ${interrupt('here?')}` })),
      send: undefined,
      last: undefined,
    },
    edges: [],
    routers: [
      [
        START,
        ({ path }) =>
          path[0] === 'send' ? [new Send('send', { n: 1 }), new Send('send', { n: 2 })] : (path[0] ?? END),
        ['first', 'here', 'send', END],
      ],
      ['first', ({ path }) => path[1] ?? END, ['here', 'last', 'first', END]],
      [
        'here',
        ({ path, log }) => (log.length < path.length ? (path[log.length] as string) : END),
        ['here', 'last', END],
      ],
    ],
  }),
  {
    bodies: {
      first: async () => ({ log: `first ${interrupt('first?')}` }),
      send: async ({ n }: any) => ({ log: `${n} ${interrupt(`send ${n}?`)}` }),
      last: async () => ({ log: `last ${interrupt('last?')}` }),
    },
  },
);

const positions = [
  ...casesOf(
    'law 3',
    places,
    [
      ['in the first node', ['first'], ['1.first:0']],
      ['in a node behind another', ['first', 'last'], ['1.first:0', '2.last:0']],
      ['in workflow code', ['here'], ['1.here:0']],
      ['in workflow code behind an activity', ['first', 'here'], ['1.first:0', '2.here:0']],
      ['in an activity behind workflow code', ['here', 'last'], ['1.here:0', '2.last:0']],
      ['in workflow code, again and again', ['here', 'here', 'here'], ['1.here:0', '2.here:0', '3.here:0']],
    ].map(([where, ...rest]) => [`a question's id tells step and node: ${where as string}`, ...rest] as any),
    async (stage, path, ids) => {
      await stage.invoke({ path });
      for (const [index, id] of ids.entries()) {
        expect(await stage.open()).toEqual([id]);
        await stage.resume(index);
      }
      expect((await stage.state()).values.log).toEqual(path.map((name: string, index: number) => `${name} ${index}`));
    },
  ),
  ...cases('law 3', places, {
    "the question of a Send bears the Send's number": async (stage) => {
      const { __interrupt__ } = await stage.invoke({ path: ['send'] });
      expect(__interrupt__).toEqual([
        { id: '1.send.0:0', value: 'send 1?' },
        { id: '1.send.1:0', value: 'send 2?' },
      ]);
      expect((await stage.resume({ '1.send.1:0': 'b', '1.send.0:0': 'a' })).log).toEqual(['1 a', '2 b']);
    },
  }),
];

const visits = scene(
  'questions_visits',
  () => ({
    state: { log: Log },
    nodes: ['ask', 'again'],
    edges: [
      [START, 'ask'],
      ['again', 'ask'],
    ],
    routers: [['ask', ({ log }) => (log.at(-1) === 'stop' ? END : 'again'), ['again', END]]],
  }),
  {
    bodies: {
      ask: async () => ({ log: interrupt('more?') }),
      again: async () => ({}),
    },
  },
);
const visiting = cases('law 3', visits, {
  'a node that is visited again asks under a new id, also where it asks the same': async (stage) => {
    await stage.invoke();
    const seen: string[] = [];
    for (const answer of ['a', 'b', 'stop']) {
      seen.push(...(await stage.open()));
      await stage.resume(answer);
    }
    expect(seen).toEqual(['1.ask:0', '3.ask:0', '5.ask:0']);
  },
  'an answer of the visit before is refused, and does not pass the next': async (stage) => {
    await stage.invoke();
    await stage.resume('a');
    expect(await refusal(() => stage.thread().resume('late', { question: '1.ask:0' }))).toMatchObject({
      code: 'QUESTION_SETTLED',
    });
    expect(await stage.open()).toEqual(['3.ask:0']);
  },
});

export const questions = [...asking, ...positions, ...visiting];
