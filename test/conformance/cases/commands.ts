import { z } from 'zod';
import { Command, END, inWorkflow, interrupt, Send, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

/** What node `a` returns, by what the case asks for. */
const COMMANDS: Readonly<Record<string, () => unknown>> = {
  goto: () => new Command({ goto: 'b' }),
  'goto several': () => new Command({ goto: ['c', 'b'] }),
  'goto one twice': () => new Command({ goto: ['b', 'b'] }),
  'goto END': () => new Command({ goto: END }),
  'goto nothing': () => new Command({ goto: [] }),
  'goto a Send': () => new Command({ goto: new Send('b', { from: 'send' }) }),
  'goto a node and a Send': () => new Command({ goto: ['c', new Send('b', { from: 'send' })] }),
  'update only': () => new Command({ update: { log: 'updated' } }),
  'update and goto': () => new Command({ update: { log: 'updated' }, goto: 'b' }),
  'an empty command': () => new Command({}),
  'an empty update': () => new Command({ update: {} }),
  'two commands': () => [
    new Command({ update: { log: '1' }, goto: 'b' }),
    new Command({ update: { log: '2' }, goto: 'c' }),
  ],
  'an update and a command': () => [{ log: '1' }, new Command({ goto: 'b' })],
  'an unknown goto': () => new Command({ goto: 'nowhere' }),
  'an unknown goto in a list': () => new Command({ goto: ['b', 'nowhere'] }),
  'an unknown Send': () => new Command({ goto: new Send('nowhere', {}) }),
  'goto START': () => new Command({ goto: START }),
  'goto null': () => new Command({ goto: null as never }),
  'a Send of a Date': () => new Command({ goto: new Send('b', new Date(0)) }),
  'an update that is a list': () => new Command({ update: [] as never }),
};

const bodies = {
  a: async ({ how }: any) => COMMANDS[how]?.(),
  b: async (input: any) => ({ log: input?.from === 'send' ? 'b by send' : 'b' }),
  c: async () => ({ log: 'c' }),
};
const steer = scene(
  'commands_steer',
  () => ({
    state: { how: z.string(), log: Log },
    nodes: { a: { ends: ['b', 'c', END] }, b: undefined, c: undefined },
    edges: [[START, 'a']],
  }),
  { bodies },
);
const beside = scene(
  'commands_beside',
  () => ({
    state: { how: z.string(), log: Log },
    nodes: { a: { ends: ['c', END] }, b: undefined, c: undefined },
    edges: [
      [START, 'a'],
      ['a', 'b'],
    ],
  }),
  { bodies },
);
const routed = scene(
  'commands_routed',
  () => ({
    state: { how: z.string(), log: Log },
    nodes: { a: { ends: ['c'] }, b: undefined, c: undefined },
    edges: [[START, 'a']],
    routers: [['a', () => 'b', ['b']]],
  }),
  { bodies },
);

const steering = [
  ...casesOf(
    'commands',
    steer,
    [
      ['goto runs a node', 'goto', ['b']],
      ['goto runs several, by name', 'goto several', ['b', 'c']],
      ['a node that goto names twice runs once', 'goto one twice', ['b']],
      ['goto END ends the branch', 'goto END', []],
      ['an empty goto goes nowhere', 'goto nothing', []],
      ['goto may send', 'goto a Send', ['b by send']],
      ['goto may name and send', 'goto a node and a Send', ['c', 'b by send']],
      ['update is written', 'update only', ['updated']],
      ['update is written before the goto’s node runs', 'update and goto', ['updated', 'b']],
      ['a command with nothing in it does nothing', 'an empty command', []],
      ['an empty update does nothing', 'an empty update', []],
      ['two commands both count', 'two commands', ['1', '2', 'b', 'c']],
      ['an update beside a command counts', 'an update and a command', ['1', 'b']],
    ],
    async (stage, how, expected) => {
      expect((await stage.invoke({ how })).log).toEqual(expected);
    },
  ),
  ...casesOf(
    'commands',
    steer,
    [
      ['a goto to a node that is not there fails the run', 'an unknown goto', 'UNKNOWN_GOTO', '"nowhere"'],
      ['so does one in a list', 'an unknown goto in a list', 'UNKNOWN_GOTO', '"nowhere"'],
      ['so does a Send to one', 'an unknown Send', 'UNKNOWN_GOTO', '"nowhere"'],
      ['so does a goto to START', 'goto START', 'UNKNOWN_GOTO', '__start__'],
      ['so does a goto to null', 'goto null', 'UNKNOWN_GOTO', 'null'],
      ['a Send of what JSON cannot carry is refused', 'a Send of a Date', 'STATE_NOT_JSON', 'a Date'],
      ['an update that is a list is refused', 'an update that is a list', 'INVALID_NODE_RETURN', 'an array'],
    ],
    async (stage, how, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code, node: 'a', message: expect.stringContaining(mentioned) });
    },
  ),
  ...cases('L29', beside, {
    'goto runs its target beside the node’s edge, not instead of it': async (stage) => {
      expect((await stage.invoke({ how: 'goto a node and a Send' })).log).toEqual(['b', 'c', 'b by send']);
    },
    'goto END does not stop the node’s edge': async (stage) => {
      expect((await stage.invoke({ how: 'goto END' })).log).toEqual(['b']);
    },
    'a target that the edge names too runs once': async (stage) => {
      expect((await stage.invoke({ how: 'goto' })).log).toEqual(['b']);
    },
  }),
  ...cases('L29', routed, {
    'goto runs its target beside what the node’s router names': async (stage) => {
      expect((await stage.invoke({ how: 'goto several' })).log).toEqual(['b', 'c']);
    },
  }),
];

const crowd = scene(
  'commands_crowd',
  () => ({
    state: { log: Log },
    nodes: { work: { ends: ['meet'] }, meet: undefined },
    edges: [],
    routers: [[START, () => [new Send('work', 1), new Send('work', 2)], ['work']]],
  }),
  {
    bodies: {
      work: async (input: any) => new Command({ update: { log: `w${input}` }, goto: 'meet' }),
      meet: async () => ({ log: 'meet' }),
    },
  },
);
const local = scene('commands_local', () => ({
  state: { log: Log, rounds: z.number() },
  nodes: {
    turn: {
      ...inWorkflow(
        ({ log, rounds }: any) =>
          new Command({ update: { log: 'turn' }, goto: log.length + 1 < rounds ? 'turn' : END }),
      ),
      ends: ['turn'],
    },
  },
  edges: [[START, 'turn']],
}));
const others = [
  ...cases('commands', crowd, {
    'two tasks that go to one node run it once': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['w1', 'w2', 'meet']);
    },
  }),
  ...cases('commands', local, {
    'a node in workflow code may steer, also to itself': async (stage) => {
      expect((await stage.invoke({ rounds: 3 })).log).toEqual(['turn', 'turn', 'turn']);
    },
  }),
];

const ask = scene('commands_ask', () => ({ state: { answer: z.any(), note: z.string().optional() }, nodes: ['ask'] }), {
  bodies: { ask: async () => ({ answer: [interrupt('first?'), interrupt('second?')] }) },
});
const fromClients = [
  ...cases('commands', ask, {
    'a client’s command answers, and returns the next stop': async (stage) => {
      await stage.invoke();
      expect((await stage.command('one')).__interrupt__).toEqual([{ id: '1.ask:1', value: 'second?' }]);
      expect(await stage.command('two')).toEqual({ answer: ['one', 'two'] });
    },
    'a client’s command may be a map of answers': async (stage) => {
      await stage.invoke();
      await stage.command({ '1.ask:0': 'one' });
      expect(await stage.command({ '1.ask:1': 'two' })).toEqual({ answer: ['one', 'two'] });
    },
    'a client’s command that resumes with nothing answers null': async (stage) => {
      await stage.invoke();
      await stage.command(undefined);
      expect(await stage.command(null)).toEqual({ answer: [null, null] });
    },
  }),
  ...casesOf(
    'commands',
    ask,
    [
      ['an empty one', {}],
      ['goto alone', { goto: 'ask' }],
      ['update alone', { update: { note: 'x' } }],
      ['resume and goto', { resume: 1, goto: 'ask' }],
    ].map(([what, fields]) => [
      `a client’s command may hold resume and nothing else: ${what as string} is refused`,
      fields,
    ]),
    async (stage, fields) => {
      await stage.invoke();
      const sent = (): unknown => stage.graphs.invoke(stage.graph, new Command(fields), { threadId: stage.threadId });
      expect(await refusal(sent)).toMatchObject({ code: 'DECISION_MALFORMED' });
      expect(await stage.open()).toEqual(['1.ask:0']);
      expect(await stage.verdicts()).toEqual([]);
    },
  ),
  ...cases('L26', ask, {
    'an answer with an update that does not fit is refused whole, so that none of it can be lost': async (stage) => {
      await stage.invoke();
      const both = new Command({ resume: 'one', update: { nope: 'x' } });
      expect(await refusal(() => stage.graphs.invoke(stage.graph, both, { threadId: stage.threadId }))).toMatchObject({
        code: 'STATE_UNKNOWN_KEY',
      });
      expect(await stage.state()).toMatchObject({ values: {}, interrupts: [{ id: '1.ask:0' }] });
      expect((await stage.command('one')).__interrupt__).toHaveLength(1);
    },
  }),
];

export const commands = [...steering, ...others, ...fromClients];
