import { z } from 'zod';
import { END, inWorkflow, interrupt, Send, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

/** Where the router behind `a` goes, by what the case asks for. */
const ROUTES: Readonly<Record<string, (state: any) => unknown>> = {
  'a name': () => 'b',
  'a list': () => ['c', 'b'],
  'one name twice': () => ['b', 'b'],
  END: () => END,
  'an empty list': () => [],
  'END in a list': () => [END, 'b'],
  'a Send': () => new Send('b', { from: 'send' }),
  'a name and a Send': () => ['c', new Send('b', { from: 'send' })],
  'a name and a Send to it': () => ['b', new Send('b', { from: 'send' })],
  'what the node wrote': ({ log }) => (log.includes('a') ? 'b' : 'c'),
  'a default': ({ kind }) => (kind === 'plain' ? 'b' : 'c'),
  'after a change in place': ({ log }) => (log.push('leaked'), 'b'),
  'an unknown name': () => 'nowhere',
  'an unknown name in a list': () => ['b', 'nowhere'],
  START: () => START,
  'an unknown Send': () => new Send('nowhere', {}),
  'a Send to END': () => new Send(END, {}),
  'an object that is no Send': () => ({ node: 'b' }),
  'undefined in a list': () => ['b', undefined],
  undefined: () => undefined,
  null: () => null,
  'a number': () => 3,
  true: () => true,
  'a promise': () => Promise.resolve('b'),
  'a throw': () => {
    throw new TypeError('left or right?');
  },
  'a thrown text': () => {
    throw 'left or right?';
  },
  'a question': () => interrupt('where?'),
  'a Send of a Date': () => new Send('b', { at: new Date(0) }),
  'a Send of a BigInt': () => new Send('b', 10n),
  'a Send of NaN': () => new Send('b', Number.NaN),
};

const fork = scene(
  'routing_fork',
  () => ({
    state: { how: z.string(), kind: z.string().default('plain'), log: Log },
    nodes: ['a', 'b', 'c'],
    edges: [[START, 'a']],
    routers: [['a', (state) => ROUTES[state.how]?.(state)]],
  }),
  {
    bodies: {
      a: async () => ({ log: 'a' }),
      b: async (input: any) => ({ log: input?.from === 'send' ? 'b by send' : 'b' }),
      c: async () => ({ log: 'c' }),
    },
  },
);

const routers = [
  ...casesOf(
    'routing',
    fork,
    [
      ['a router may name a node', 'a name', ['a', 'b']],
      ['a router may name several, which run by name', 'a list', ['a', 'b', 'c']],
      ['a node that a router names twice runs once', 'one name twice', ['a', 'b']],
      ['a router may end the branch', 'END', ['a']],
      ['a router may go nowhere', 'an empty list', ['a']],
      ['END in a list leaves the others', 'END in a list', ['a', 'b']],
      ['a router may send', 'a Send', ['a', 'b by send']],
      ['a router may name and send', 'a name and a Send', ['a', 'c', 'b by send']],
      ['a node that is named and sent to runs for both', 'a name and a Send to it', ['a', 'b', 'b by send']],
      ['a router sees what its node wrote', 'what the node wrote', ['a', 'b']],
      ['a router sees defaults', 'a default', ['a', 'b']],
      ['what a router changes in place is not the state', 'after a change in place', ['a', 'b']],
    ],
    async (stage, how, expected) => {
      expect((await stage.invoke({ how })).log).toEqual(expected);
    },
  ),
  ...casesOf(
    'law 13',
    fork,
    [
      ['names a node that is not there', 'an unknown name', 'UNKNOWN_GOTO', '"nowhere"'],
      ['names one in a list', 'an unknown name in a list', 'UNKNOWN_GOTO', '"nowhere"'],
      ['goes to START', 'START', 'UNKNOWN_GOTO', '__start__'],
      ['sends to a node that is not there', 'an unknown Send', 'UNKNOWN_GOTO', '"nowhere"'],
      ['sends to END', 'a Send to END', 'UNKNOWN_GOTO', '__end__'],
      ['returns an object that is no Send', 'an object that is no Send', 'UNKNOWN_GOTO', 'no node'],
      ['returns undefined in a list', 'undefined in a list', 'UNKNOWN_GOTO', 'undefined'],
      ['returns undefined', 'undefined', 'ROUTER_FAILED', 'undefined'],
      ['returns null', 'null', 'ROUTER_FAILED', 'null'],
      ['returns a number', 'a number', 'ROUTER_FAILED', '3'],
      ['returns true', 'true', 'ROUTER_FAILED', 'true'],
      ['returns a promise', 'a promise', 'ROUTER_FAILED', 'promise'],
      ['throws', 'a throw', 'ROUTER_FAILED', 'left or right?'],
      ['throws a text', 'a thrown text', 'ROUTER_FAILED', 'left or right?'],
      ['asks a question', 'a question', 'ROUTER_FAILED', 'no node is running'],
      ['sends a Date', 'a Send of a Date', 'STATE_NOT_JSON', 'a Date'],
      ['sends a BigInt', 'a Send of a BigInt', 'STATE_NOT_JSON', 'a bigint'],
      ['sends NaN', 'a Send of NaN', 'STATE_NOT_JSON', 'NaN'],
    ].map(([what, ...rest]) => [`a router that ${what} fails the run, naming its node`, ...rest] as any),
    async (stage, how, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code, node: 'a', message: expect.stringContaining(mentioned) });
      expect(await stage.state()).toMatchObject({ status: 'failed', values: { log: ['a'] } });
    },
  ),
];

const branches = scene(
  'routing_branches',
  () => ({
    state: { log: Log, seen: Log },
    nodes: ['a', 'b', 'c', 'd', 'e'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      ['a', 'e'],
    ],
    routers: [
      ['a', () => 'c', ['c']],
      ['a', () => 'd', ['d']],
      ['b', ({ log }) => (log.includes('a') ? 'e' : []), ['e']],
    ],
  }),
  {
    bodies: Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e'].map((name) => [
        name,
        async () => {
          note(name);
          return { log: name };
        },
      ]),
    ),
  },
);

const several = cases('routing', branches, {
  'two routers and an edge behind one node all count': async (stage) => {
    expect((await stage.invoke()).log).toEqual(['a', 'b', 'c', 'd', 'e']);
  },
  'a router does not see what a sibling of its node wrote': async (stage) => {
    await stage.invoke();
    expect(stage.notes().filter((name) => name === 'e')).toHaveLength(1);
    expect((await stage.state()).metadata.step).toBe(2);
  },
});

const send = scene(
  'routing_send',
  () => ({
    state: { inputs: z.array(z.any()).default([]), shared: z.string().default('shared'), got: z.any(), log: Log },
    nodes: ['work', 'after'],
    edges: [['work', 'after']],
    routers: [[START, ({ inputs }) => inputs.map((input: unknown) => new Send('work', input)), ['work']]],
  }),
  {
    bodies: {
      work: async (input: any) => {
        const got = JSON.stringify(input);
        if (input?.inner) input.inner.push('leaked');
        return { log: got };
      },
      after: async () => ({ log: 'after' }),
    },
  },
);

const sending = [
  ...casesOf(
    'routing',
    send,
    [
      ['an object', { a: 1 }],
      ['a text', 'x'],
      ['zero', 0],
      ['false', false],
      ['an empty text', ''],
      ['null', null],
      ['a list', [1, 2]],
    ].map(([what, input]) => [`a Send’s input stands in for the state: ${what as string}`, input] as any),
    async (stage, input) => {
      expect((await stage.invoke({ inputs: [input] })).log).toEqual([JSON.stringify(input), 'after']);
    },
  ),
  ...cases('routing', send, {
    'each Send runs the node once, and what comes after them runs once': async (stage) => {
      expect((await stage.invoke({ inputs: [3, 1, 2] })).log).toEqual(['3', '1', '2', 'after']);
    },
    'thirty Sends come back in their order': async (stage) => {
      const inputs = Array.from({ length: 30 }, (_, index) => index);
      expect((await stage.invoke({ inputs })).log).toEqual([...inputs.map(String), 'after']);
    },
    'no Send at all ends the run': async (stage) => {
      expect((await stage.invoke()).log).toEqual([]);
      expect((await stage.state()).status).toBe('done');
    },
    'what a node changes in its Send’s input is not the state': async (stage) => {
      expect((await stage.invoke({ inputs: [{ inner: [] }] })).inputs).toEqual([{ inner: [] }]);
    },
  }),
];

const undefinedSend = scene('routing_undefined_send', () => ({
  state: { got: z.any() },
  nodes: { work: inWorkflow((input: unknown) => ({ got: { input } })) },
  edges: [],
  routers: [[START, () => new Send('work', undefined), ['work']]],
}));
const chain = scene(
  'routing_chain',
  () => ({
    state: { log: Log },
    nodes: ['split', 'sum'],
    edges: [],
    routers: [
      [START, () => [new Send('split', { depth: 2 }), new Send('split', { depth: 1 })], ['split']],
      ['split', ({ log }) => (log.length < 4 ? [new Send('split', { depth: log.length })] : 'sum'), ['split', 'sum']],
    ],
  }),
  {
    bodies: {
      split: async ({ depth }) => ({ log: `split ${depth}` }),
      sum: async ({ log }) => ({ log: `sum of ${log.length}` }),
    },
  },
);
const chained = [
  ...cases('routing', undefinedSend, {
    'a Send without input brings null': async (stage) => {
      expect((await stage.invoke()).got).toEqual({ input: null });
    },
  }),
  ...cases('routing', chain, {
    'a router behind a node that was sent to sees the writes of each of its tasks for itself': async (stage) => {
      const steps = [
        ['split 2', 'split 1'],
        ['split 1', 'split 1'],
        ['split 3', 'split 3'],
      ];
      expect((await stage.invoke()).log).toEqual([...steps.flat(), 'sum of 6']);
    },
  }),
];

const startFails = scene('routing_start_fails', () => ({
  state: { how: z.string() },
  nodes: { b: inWorkflow(() => ({})) },
  edges: [],
  routers: [[START, (state) => ROUTES[state.how]?.(state)]],
}));
const atStart = casesOf(
  'law 13',
  startFails,
  [
    ['a router at START that throws fails the run', 'a throw', 'ROUTER_FAILED'],
    ['a router at START that names no node fails the run', 'an unknown name', 'UNKNOWN_GOTO'],
    ['a router at START that returns nothing fails the run', 'undefined', 'ROUTER_FAILED'],
  ],
  async (stage, how, code) => {
    expect(await refusal(() => stage.invoke({ how }))).toMatchObject({ code });
    expect((await stage.state()).status).toBe('failed');
  },
);

export const routing = [...routers, ...several, ...sending, ...chained, ...atStart];
