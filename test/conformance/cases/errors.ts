import { z } from 'zod';
import { inWorkflow, interrupt, nodeContext, ReducedValue, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

class CardError extends Error {
  override readonly name = 'CardError';
}

const THROWS: Readonly<Record<string, () => unknown>> = {
  'an Error': () => {
    throw new Error('broken');
  },
  'an Error of a class of its own': () => {
    throw new CardError('declined');
  },
  'a rejection': async () => Promise.reject(new Error('broken later')),
  'a text': () => {
    throw 'a bare text';
  },
  null: () => {
    throw null;
  },
  undefined: () => {
    throw undefined;
  },
  'a number': () => {
    throw 7;
  },
  'an object': () => {
    throw { code: 7 };
  },
  'an Error without a message': () => {
    throw new Error();
  },
  'an Error with a cause': () => {
    throw new Error('outer', { cause: new Error('inner') });
  },
  'an Error named as a missing activity is': () => {
    throw Object.assign(new Error('no such customer'), { name: 'NotFoundError' });
  },
  'at first': () => {
    if (nodeContext().attempt < 2) throw new Error('not yet');
    return {};
  },
  'until the last attempt': () => {
    if (nodeContext().attempt < 3) throw new Error('not yet');
    return {};
  },
};

const act = scene('errors_act', () => ({ state: { how: z.string(), log: Log }, nodes: ['before', 'act', 'after'] }), {
  bodies: {
    before: async () => ({ log: 'before' }),
    act: async ({ how }) => {
      note('act');
      await THROWS[how]?.();
      return { log: 'act' };
    },
    after: async () => ({ log: 'after' }),
  },
});

const bodies = [
  ...casesOf(
    'law 7',
    act,
    [
      ['an Error', 'broken'],
      ['an Error of a class of its own', 'declined'],
      ['a rejection', 'broken later'],
      ['a text', 'a bare text'],
      ['null', 'null was thrown'],
      ['undefined', 'undefined was thrown'],
      ['a number', '7 was thrown'],
      ['an object', 'was thrown'],
      ['an Error without a message', 'failed'],
      ['an Error with a cause', 'outer'],
      ['an Error named as a missing activity is', 'no such customer'],
    ].map(([how, message]) => [`a node that throws ${how} three times fails the run, which names it`, how, message]),
    async (stage, how, message) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code: 'NODE_FAILED', node: 'act' });
      expect(error.message).toMatch(/^Node "act" failed/);
      expect(error.message).toContain(message);
      expect(stage.notes()).toEqual(['act', 'act', 'act']);
    },
  ),
  ...cases('law 7', act, {
    'a node that throws at first and then works has not failed': async (stage) => {
      expect((await stage.invoke({ how: 'at first' })).log).toEqual(['before', 'act', 'after']);
      expect(stage.notes()).toHaveLength(2);
    },
    'the third attempt is the last one': async (stage) => {
      expect((await stage.invoke({ how: 'until the last attempt' })).log).toEqual(['before', 'act', 'after']);
      expect(stage.notes()).toHaveLength(3);
    },
  }),
  ...cases('T21', act, {
    'after a failure the state says what happened, and keeps what was done before': async (stage) => {
      await refusal(() => stage.invoke({ how: 'an Error' }));
      expect(await stage.state()).toMatchObject({
        status: 'failed',
        values: { how: 'an Error', log: ['before'] },
        next: ['act'],
        interrupts: [],
        metadata: { step: 2, error: { code: 'NODE_FAILED', message: expect.stringContaining('broken') } },
      });
    },
    'a failed run tells whoever waits for it, as often as they ask': async (stage) => {
      await refusal(() => stage.invoke({ how: 'an Error' }));
      for (const time of [1, 2]) {
        expect([time, (await refusal(() => stage.stop())).code]).toEqual([time, 'NODE_FAILED']);
      }
    },
    'a failed run tells whoever waits while it fails': async (stage) => {
      const thread = await stage.start({ how: 'an Error' });
      const both = await Promise.all([refusal(() => thread.untilStopped()), refusal(() => stage.stop())]);
      expect(both.map(({ code, node }) => [code, node])).toEqual([
        ['NODE_FAILED', 'act'],
        ['NODE_FAILED', 'act'],
      ]);
    },
    'a failed thread can be started again, on what it had': async (stage) => {
      await refusal(() => stage.invoke({ how: 'an Error' }));
      expect((await stage.invoke({ how: 'well' })).log).toEqual(['before', 'before', 'act', 'after']);
    },
  }),
];

const policy = scene(
  'errors_policy',
  () => ({
    state: { fails: z.string(), until: z.number().default(99), log: Log },
    nodes: {
      once: { activity: { retry: { maximumAttempts: 1 } } },
      graphs: undefined,
      picky: { activity: { retry: { nonRetryableErrorTypes: ['CardError'] } } },
      often: { activity: { retry: { maximumAttempts: 5 } } },
    },
    activity: { retry: { maximumAttempts: 2, initialInterval: 1, backoffCoefficient: 1 } },
  }),
  {
    bodies: Object.fromEntries(
      ['once', 'graphs', 'picky', 'often'].map((name) => [
        name,
        async ({ fails, until }: any) => {
          if (fails === name && nodeContext().attempt < until) {
            note(name);
            throw name === 'picky' ? new CardError('declined') : new Error('broken');
          }
          return { log: name };
        },
      ]),
    ),
  },
);
const policies = [
  ...casesOf(
    'law 7',
    policy,
    [
      ['a node with one attempt is not tried again', 'once', 1],
      ['a node without a policy has the graph’s', 'graphs', 2],
      ['a node’s policy goes before the graph’s', 'often', 5],
      ['an error that the policy does not retry ends it at once', 'picky', 1],
    ],
    async (stage, fails, attempts) => {
      expect(await refusal(() => stage.invoke({ fails }))).toMatchObject({ code: 'NODE_FAILED', node: fails });
      expect(stage.notes()).toHaveLength(attempts);
    },
  ),
  ...cases('law 7', policy, {
    'within its attempts a node may fail and the run does not': async (stage) => {
      expect((await stage.invoke({ fails: 'often', until: 5 })).log).toEqual(['once', 'graphs', 'picky', 'often']);
    },
  }),
];

const THINKS: Readonly<Record<string, () => any>> = {
  ...THROWS,
  'a Date': () => ({ value: new Date(0) }),
  'a BigInt': () => ({ value: 10n }),
  'an unknown key': () => ({ nope: 1 }),
  'a wrong type': () => ({ count: 'three' }),
  'a number': () => 42,
  'an unknown goto': () => interrupt('never', { key: 'a b' }),
  'a late rejection': async () => {
    await Promise.resolve();
    throw new TypeError('thought too long');
  },
};
const think = scene('errors_think', () => ({
  state: { how: z.string(), value: z.any(), count: z.number().default(0) },
  nodes: { think: inWorkflow(({ how }: { readonly how: string }) => THINKS[how]?.()) },
}));
const thoughts = [
  ...casesOf(
    'T15',
    think,
    [
      ['throws an Error', 'an Error', 'NODE_FAILED', 'broken'],
      ['throws a text', 'a text', 'NODE_FAILED', 'a bare text'],
      ['throws null', 'null', 'NODE_FAILED', 'null was thrown'],
      ['rejects at once', 'a rejection', 'NODE_FAILED', 'broken later'],
      ['rejects later', 'a late rejection', 'NODE_FAILED', 'thought too long'],
      ['returns a Date', 'a Date', 'STATE_NOT_JSON', 'a Date'],
      ['returns a BigInt', 'a BigInt', 'STATE_NOT_JSON', 'a bigint'],
      ['writes an unknown key', 'an unknown key', 'STATE_UNKNOWN_KEY', 'nope'],
      ['writes a wrong type', 'a wrong type', 'STATE_INVALID', 'count'],
      ['returns a number', 'a number', 'INVALID_NODE_RETURN', 'a number'],
      ['asks under a bad key', 'an unknown goto', 'INVALID_NAME', 'a b'],
    ].map(
      ([what, ...rest]) =>
        [`a node in workflow code that ${what as string} fails the run, which does not hang`, ...rest] as any,
    ),
    async (stage, how, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code, message: expect.stringContaining(mentioned) });
      expect((await stage.state()).status).toBe('failed');
    },
  ),
];

const reduce = scene(
  'errors_reduce',
  () => ({
    state: {
      what: z.string(),
      list: new ReducedValue(z.array(z.string()).default([]), {
        inputSchema: z.string(),
        reducer: (lines, line) => {
          if (line === 'Error') throw new TypeError('cannot fold');
          if (line === 'text') throw 'cannot fold';
          if (line === 'wrong') return 'no list' as never;
          if (line === 'undefined') return undefined as never;
          if (line === 'Date') return [new Date(0)] as never;
          return [...lines, line];
        },
      }),
    },
    nodes: ['write'],
  }),
  { bodies: { write: async ({ what }) => ({ list: what }) } },
);
const reducers = [
  ...casesOf(
    'T15',
    reduce,
    [
      ['throws an Error', 'Error', 'REDUCER_FAILED', 'cannot fold'],
      ['throws a text', 'text', 'REDUCER_FAILED', 'cannot fold'],
      ['returns what the key does not take', 'wrong', 'STATE_INVALID', 'list'],
      ['returns nothing', 'undefined', 'STATE_INVALID', 'list'],
      ['returns a Date where a text is due', 'Date', 'STATE_INVALID', 'list'],
    ].map(
      ([what, ...rest]) =>
        [`a reducer that ${what as string} fails the run, naming the node that wrote`, ...rest] as any,
    ),
    async (stage, what, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ what }));
      expect(error).toMatchObject({ code, node: 'write', message: expect.stringContaining(mentioned) });
      expect(await stage.state()).toMatchObject({ status: 'failed', values: { list: [] } });
    },
  ),
  ...cases('T15', reduce, {
    'a reducer that fails on the input fails the run': async (stage) => {
      expect(await refusal(() => stage.invoke({ what: 'x', list: 'Error' }))).toMatchObject({ code: 'REDUCER_FAILED' });
      expect((await stage.state()).status).toBe('failed');
    },
    'a run that failed on its input leaves the values for the next': async (stage) => {
      await stage.invoke({ what: 'one' });
      await refusal(() => stage.invoke({ what: 'x', list: 'Error' }));
      expect((await stage.state()).values.list).toEqual(['one']);
      expect((await stage.invoke({ what: 'two' })).list).toEqual(['one', 'two']);
    },
  }),
];

const beside = scene(
  'errors_beside',
  () => ({
    state: { fails: z.boolean(), log: Log },
    nodes: ['ask', 'fail'],
    edges: [
      [START, 'ask'],
      [START, 'fail'],
    ],
  }),
  {
    bodies: {
      ask: async () => ({ log: `ask ${interrupt('q?')}` }),
      fail: async ({ fails }) => {
        if (fails) throw new Error('broken');
        return { log: 'fail did not' };
      },
    },
  },
);
const siblings = cases('law 13', beside, {
  'a node that fails beside one that asks fails the run, whose question is open no more': async (stage) => {
    expect(await refusal(() => stage.invoke({ fails: true }))).toMatchObject({ code: 'NODE_FAILED', node: 'fail' });
    expect(await stage.state()).toMatchObject({ status: 'failed', interrupts: [], values: { log: [] } });
  },
  'the next run asks anew, under a new id': async (stage) => {
    await refusal(() => stage.invoke({ fails: true }));
    await stage.invoke({ fails: false });
    expect(await stage.open()).toEqual(['3.ask:0']);
    expect((await stage.resume('y')).log).toEqual(['ask y', 'fail did not']);
  },
});

export const errors = [...bodies, ...policies, ...thoughts, ...reducers, ...siblings];
