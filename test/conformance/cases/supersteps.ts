import { z } from 'zod';
import { Command, END, inWorkflow, Send, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { eventually } from '../../support/eventually';
import { latch, note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

/** Bodies that write their name to the log. */
function loggers(...names: readonly string[]): Record<string, () => Promise<object>> {
  return Object.fromEntries(
    names.map((name) => [
      name,
      async () => {
        await latch(name);
        note(name);
        return { log: name };
      },
    ]),
  );
}

const log = { log: Log };

const pair = scene(
  'supersteps_pair',
  () => ({
    state: { ...log, seen: Log },
    nodes: ['zb', 'za', 'after'],
    edges: [
      [START, 'zb'],
      [START, 'za'],
      ['za', 'after'],
      ['zb', 'after'],
    ],
  }),
  {
    bodies: {
      ...loggers('zb', 'za'),
      after: async ({ log }) => ({ seen: log, log: 'after' }),
    },
  },
);

const order = [
  ...cases('law 1', pair, {
    'writes of a superstep are applied by node name, not as the nodes were declared': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['za', 'zb', 'after']);
    },
    'nor by who finished first': async (stage) => {
      stage.latches.close('za');
      const thread = await stage.start();
      await stage.latches.reached('zb');
      await stage.latches.reached('za');
      stage.latches.open('za');
      expect((await thread.untilStopped()).log).toEqual(['za', 'zb', 'after']);
    },
    'a node that two lead to from one superstep runs once': async (stage) => {
      expect((await stage.invoke()).seen).toEqual(['za', 'zb']);
      expect(stage.notes().filter((name) => name === 'za')).toHaveLength(1);
    },
    'what a finished sibling wrote shows while the other still runs': async (stage) => {
      stage.latches.close('zb');
      const thread = await stage.start();
      await stage.latches.reached('zb');
      await eventually(async () => expect((await stage.state()).values.log).toEqual(['za']));
      expect(await stage.state()).toMatchObject({ status: 'running', next: ['zb'], metadata: { step: 1 } });
      stage.latches.open('zb');
      await thread.untilStopped();
    },
  }),
];

const snapshot = scene(
  'supersteps_snapshot',
  () => ({
    state: { word: z.string().default('before'), seen: Log },
    nodes: ['a', 'b', 'c'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      ['b', 'c'],
    ],
  }),
  {
    bodies: {
      a: async () => ({ word: 'after' }),
      b: async ({ word }) => {
        await latch('b');
        return { seen: `b saw ${word}` };
      },
      c: async ({ word }) => ({ seen: `c saw ${word}` }),
    },
  },
);

const snapshots = cases('law 1', snapshot, {
  'the nodes of a superstep see the state before it, also one that runs after its sibling has finished': async (
    stage,
  ) => {
    stage.latches.close('b');
    const thread = await stage.start();
    await stage.latches.reached('b');
    stage.latches.open('b');
    expect((await thread.untilStopped()).seen).toEqual(['b saw before', 'c saw after']);
  },
});

const uneven = scene(
  'supersteps_uneven',
  () => ({
    state: log,
    nodes: ['a', 'b', 'b2', 'm'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      ['b', 'b2'],
      ['a', 'm'],
      ['b2', 'm'],
    ],
  }),
  { bodies: loggers('a', 'b', 'b2', 'm') },
);
const joined = scene(
  'supersteps_joined',
  () => ({
    state: log,
    nodes: ['a', 'b', 'b2', 'm'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      ['b', 'b2'],
      [['a', 'b2'], 'm'],
    ],
  }),
  { bodies: loggers('a', 'b', 'b2', 'm') },
);
const deferred = scene(
  'supersteps_deferred',
  () => ({
    state: log,
    nodes: { a: undefined, b: undefined, b2: undefined, m: { defer: true }, n: { defer: true }, z: undefined },
    edges: [
      [START, 'a'],
      [START, 'b'],
      ['b', 'b2'],
      ['a', 'm'],
      ['a', 'n'],
      ['b2', 'm'],
      ['m', 'z'],
    ],
  }),
  { bodies: loggers('a', 'b', 'b2', 'm', 'n', 'z') },
);
const loop = scene(
  'supersteps_loop',
  () => ({
    state: { ...log, rounds: z.number().default(2) },
    nodes: ['a', 'b', 'm'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      [['a', 'b'], 'm'],
    ],
    routers: [
      [
        'm',
        ({ log, rounds }) => (log.filter((one: string) => one === 'm').length < rounds ? ['a', 'b'] : END),
        ['a', 'b', END],
      ],
    ],
  }),
  { bodies: loggers('a', 'b', 'm') },
);
const halfJoin = scene(
  'supersteps_half_join',
  () => ({
    state: { ...log, both: z.boolean() },
    nodes: ['first', 'a', 'b', 'm'],
    edges: [
      [START, 'first'],
      [['a', 'b'], 'm'],
    ],
    routers: [['first', ({ both }) => (both ? ['a', 'b'] : 'a'), ['a', 'b']]],
  }),
  { bodies: loggers('first', 'a', 'b', 'm') },
);
const twoJoins = scene(
  'supersteps_two_joins',
  () => ({
    state: log,
    nodes: ['a', 'b', 'c', 'ab', 'bc', 'abc'],
    edges: [
      [START, 'a'],
      [START, 'b'],
      [START, 'c'],
      [['a', 'b'], 'ab'],
      [['b', 'c'], 'bc'],
      [['a', 'b', 'c'], 'abc'],
    ],
  }),
  { bodies: loggers('a', 'b', 'c', 'ab', 'bc', 'abc') },
);
const cascade = scene(
  'supersteps_cascade',
  () => ({
    state: log,
    nodes: { a: undefined, m: { defer: true }, n: { defer: true }, o: undefined },
    edges: [
      [START, 'a'],
      ['a', 'm'],
      ['m', 'n'],
      ['m', 'o'],
      ['o', 'n'],
    ],
  }),
  { bodies: loggers('a', 'm', 'n', 'o') },
);

const shapes = [
  ...cases('supersteps', uneven, {
    'a node that branches of different length lead to runs once for each': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['a', 'b', 'b2', 'm', 'm']);
    },
  }),
  ...cases('supersteps', joined, {
    'a join waits for the longer branch, and runs once': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['a', 'b', 'b2', 'm']);
    },
  }),
  ...cases('supersteps', deferred, {
    'deferred nodes run once, together, when nothing else is left, and their edges after them': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['a', 'b', 'b2', 'm', 'n', 'z']);
    },
  }),
  ...cases('supersteps', cascade, {
    'a deferred node behind another waits for what that one started': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['a', 'm', 'o', 'n']);
    },
  }),
  ...cases('supersteps', loop, {
    'a join in a loop is met anew each round': async (stage) => {
      expect((await stage.invoke({ rounds: 3 })).log).toEqual(['a', 'b', 'm', 'a', 'b', 'm', 'a', 'b', 'm']);
    },
    'steps are counted on from round to round': async (stage) => {
      await stage.invoke();
      expect((await stage.state()).metadata.step).toBe(4);
    },
  }),
  ...cases('supersteps', halfJoin, {
    'a join that is met runs': async (stage) => {
      expect((await stage.invoke({ both: true })).log).toEqual(['first', 'a', 'b', 'm']);
    },
    'a join that is half met when nothing is left does not run, and the run ends': async (stage) => {
      expect((await stage.invoke({ both: false })).log).toEqual(['first', 'a']);
      expect((await stage.state()).status).toBe('done');
    },
    'half a join is not left over for the next run': async (stage) => {
      await stage.invoke({ both: false });
      expect((await stage.invoke({ both: false })).log).toEqual(['first', 'a', 'first', 'a']);
    },
  }),
  ...cases('supersteps', twoJoins, {
    'joins that share a node are each met': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['a', 'b', 'c', 'ab', 'abc', 'bc']);
    },
  }),
];

const chain = scene('supersteps_chain', () => ({
  state: log,
  nodes: {
    one: inWorkflow(() => ({ log: 'one' })),
    two: inWorkflow(() => ({ log: 'two' })),
    three: inWorkflow(() => ({ log: 'three' })),
  },
}));
const spin = scene('supersteps_spin', () => ({
  state: { ...log, until: z.number().default(1000) },
  nodes: { spin: inWorkflow(() => ({ log: 'x' })) },
  edges: [[START, 'spin']],
  routers: [['spin', ({ log, until }) => (log.length < until ? 'spin' : END), ['spin', END]]],
}));
const short = scene('supersteps_short', () => ({
  state: log,
  nodes: { spin: inWorkflow(() => ({ log: 'x' })) },
  edges: [
    [START, 'spin'],
    ['spin', 'spin'],
  ],
  recursionLimit: 4,
}));

const limits = [
  ...cases('L36', chain, {
    'a chain of three nodes passes with a limit of three': async (stage) => {
      expect((await stage.invoke({}, { recursionLimit: 3 })).log).toEqual(['one', 'two', 'three']);
    },
    'it fails with a limit of two, naming the node that was to come': async (stage) => {
      const error = await refusal(() => stage.invoke({}, { recursionLimit: 2 }));
      expect(error).toMatchObject({ code: 'GRAPH_RECURSION_LIMIT', node: 'three' });
      expect(error.message).toContain('2 supersteps');
    },
    'a run stopped by its limit keeps what it did, and names what was left': async (stage) => {
      await refusal(() => stage.invoke({}, { recursionLimit: 2 }));
      expect(await stage.state()).toMatchObject({
        status: 'failed',
        values: { log: ['one', 'two'] },
        metadata: { error: { code: 'GRAPH_RECURSION_LIMIT' } },
      });
    },
    'the next run of the thread begins to count anew': async (stage) => {
      await stage.invoke({}, { recursionLimit: 3 });
      expect((await stage.invoke({}, { recursionLimit: 3 })).log).toHaveLength(6);
    },
  }),
  ...cases('supersteps', spin, {
    'the limit is 25 where nobody says another': async (stage) => {
      expect((await refusal(() => stage.invoke())).message).toContain('25 supersteps');
      expect((await stage.state()).values.log).toHaveLength(25);
    },
    '25 steps pass': async (stage) => {
      expect((await stage.invoke({ until: 25 })).log).toHaveLength(25);
    },
    'a run may be given a higher limit': async (stage) => {
      expect((await stage.invoke({ until: 30 }, { recursionLimit: 30 })).log).toHaveLength(30);
    },
  }),
  ...cases('supersteps', short, {
    'a graph may set its own limit': async (stage) => {
      expect((await refusal(() => stage.invoke())).code).toBe('GRAPH_RECURSION_LIMIT');
      expect((await stage.state()).values.log).toHaveLength(4);
    },
    'a run’s limit goes before the graph’s': async (stage) => {
      await refusal(() => stage.invoke({}, { recursionLimit: 6 }));
      expect((await stage.state()).values.log).toHaveLength(6);
    },
  }),
  ...casesOf(
    'law 11',
    chain,
    [0, -1, 1.5, Number.NaN, Infinity].map((limit) => [
      `a limit of ${limit} is refused before anything is started`,
      limit,
    ]),
    async (stage, recursionLimit) => {
      expect(await refusal(() => stage.invoke({}, { recursionLimit }))).toMatchObject({ code: 'INVALID_OPTION' });
      expect(await refusal(() => stage.state())).toMatchObject({ code: 'THREAD_UNKNOWN' });
    },
  ),
];

const empty = scene('supersteps_empty', () => ({
  state: { ...log, go: z.boolean() },
  nodes: { only: inWorkflow(() => ({ log: 'ran' })) },
  edges: [],
  routers: [[START, ({ go }) => (go ? 'only' : END), ['only', END]]],
}));
const nowhere = cases('supersteps', empty, {
  'a run that goes from START to END is done at once, with its input': async (stage) => {
    expect(await stage.invoke({ go: false, log: 'in' })).toEqual({ go: false, log: ['in'] });
    expect(await stage.state()).toMatchObject({ status: 'done', next: [], metadata: { step: 0 } });
  },
  'a router at START sees the input': async (stage) => {
    expect((await stage.invoke({ go: true })).log).toEqual(['ran']);
  },
});

const sends = scene(
  'supersteps_sends',
  () => ({
    state: log,
    nodes: { plan: undefined, work: undefined, also: undefined, zeta: undefined },
    edges: [
      [START, 'plan'],
      ['plan', 'zeta'],
    ],
    routers: [
      ['plan', () => [new Send('work', 'w0'), new Send('also', 'a0'), new Send('work', 'w1')], ['work', 'also']],
    ],
  }),
  {
    bodies: {
      ...loggers('plan', 'zeta'),
      work: async (input: any) => {
        await latch(input);
        return { log: input };
      },
      also: async (input: any) => ({ log: input }),
    },
  },
);
const sent = cases('law 1', sends, {
  'Sends are applied after the nodes, in the order they were made': async (stage) => {
    expect((await stage.invoke()).log).toEqual(['plan', 'zeta', 'w0', 'a0', 'w1']);
  },
  'that order holds though the first Send finishes last': async (stage) => {
    stage.latches.close('w0');
    const thread = await stage.start();
    await stage.latches.reached('w1');
    await stage.latches.reached('w0');
    stage.latches.open('w0');
    expect((await thread.untilStopped()).log).toEqual(['plan', 'zeta', 'w0', 'a0', 'w1']);
  },
  'the tasks of Sends are told apart by their number': async (stage) => {
    stage.latches.close('w0');
    const thread = await stage.start();
    await stage.latches.reached('w0');
    const { tasks } = await stage.state();
    expect(tasks.map(({ id }) => id)).toEqual(['2.zeta', '2.work.0', '2.also.0', '2.work.1']);
    stage.latches.open('w0');
    await thread.untilStopped();
  },
});

const deferredJump = scene(
  'supersteps_deferred_jump',
  () => ({
    state: log,
    nodes: { a: { ends: ['d', 'b'] }, b: undefined, d: { defer: true } },
    edges: [[START, 'a']],
  }),
  { bodies: { ...loggers('b', 'd'), a: async () => new Command({ update: { log: 'a' }, goto: ['d', 'b'] }) } },
);
const jumps = cases('supersteps', deferredJump, {
  'a deferred node that a command goes to waits as well': async (stage) => {
    expect((await stage.invoke()).log).toEqual(['a', 'b', 'd']);
  },
});

export const supersteps = [...order, ...snapshots, ...shapes, ...limits, ...nowhere, ...sent, ...jumps];
