import { z } from 'zod';
import {
  Command,
  END,
  interrupt,
  inWorkflow,
  MessagesValue,
  modelNode,
  PrivateValue,
  Send,
  START,
  subgraph,
  tool,
  toolNode,
  UntrackedValue,
  type NodeFailure,
} from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { eventually } from '../../support/eventually';
import { latch, note, timesNoted } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { inner, scene } from '../scene';
import { refusal, type Stage, type Values } from '../stage';

const n = z.number().default(0);
const mode = z.string().default('');

/** work → count → work …, three rounds. */
const rounds = (work: object) => () => ({
  state: { n, mode, rounds: Log, out: Log },
  nodes: { work: { reads: ['n', 'mode'], ...work }, count: inWorkflow(() => ({ rounds: 'x' })) },
  edges: [
    [START, 'work'],
    ['work', 'count'],
  ] as const,
  routers: [['count', ({ rounds }: any) => (rounds.length % 3 > 0 ? 'work' : END), ['work', END]]] as const,
});
const working = {
  work: async ({ n, mode }: any) => {
    note('work');
    const run = `run ${timesNoted('work')}`;
    switch (mode) {
      case 'asks':
        return { out: String(interrupt('which?')) };
      case 'counts':
        return { n: n + 1, out: run };
      case 'fails once':
        if (timesNoted('work') === 1) throw new Error('not yet');
        return { out: run };
      default:
        return { out: run };
    }
  },
};
const always = scene('features_always', rounds({ cache: {} }), { bodies: working });
const parity = scene('features_parity', rounds({ cache: { key: ({ n }: any) => String(n > 1) } }), { bodies: working });
const stale = scene('features_stale', rounds({ cache: { ttl: 0 } }), { bodies: working });
const hour = scene('features_hour', rounds({ cache: { ttl: '1 hour' } }), { bodies: working });
const badKey = scene(
  'features_badkey',
  rounds({
    cache: {
      key: () => {
        throw new TypeError('no key');
      },
    },
  }),
  { bodies: working },
);
const here = scene('features_here', () => ({
  state: { out: Log, rounds: Log, pick: z.string().optional() },
  nodes: {
    work: { ...inWorkflow(() => ({ out: 'here' })), cache: {}, reads: [] },
    count: inWorkflow(() => ({ rounds: 'x' })),
  },
  edges: [
    [START, 'work'],
    ['work', 'count'],
  ],
  routers: [['count', ({ rounds }) => (rounds.length < 3 ? 'work' : END), ['work', END]]],
}));
const fan = scene(
  'features_fan',
  () => ({
    state: { log: Log, rounds: Log },
    nodes: { each: { cache: {} }, count: inWorkflow(() => ({ rounds: 'x' })) },
    routers: [
      [START, () => ['a', 'b', 'a'].map((item) => new Send('each', item)), ['each']],
      [
        'count',
        ({ rounds }) => (rounds.length < 2 ? ['a', 'c'].map((item) => new Send('each', item)) : END),
        ['each', END],
      ],
    ],
    edges: [['each', 'count']],
  }),
  {
    bodies: {
      each: async (item) => {
        note(item);
        return { log: `${item}${timesNoted(item)}` };
      },
    },
  },
);
const twin = inner('features_inner_twin', () => ({ nodes: { act: { cache: {}, reads: [] } } }), {
  act: async () => {
    note('act');
    return { log: `act ${timesNoted('act')}` };
  },
});
const twins = scene('features_twins', () => ({ nodes: { first: twin.graph(), second: twin.graph() } }), {
  subgraphs: [twin],
});
const caching = [
  ...cases('caching', always, {
    'a cached node runs once where it sees the same, and its writes come each time': async (stage) => {
      expect((await stage.invoke()).out).toEqual(['run 1', 'run 1', 'run 1']);
      expect(stage.notes()).toEqual(['work']);
    },
    'it runs again where it sees something else': async (stage) => {
      expect((await stage.invoke({ mode: 'counts' })).out).toEqual(['run 1', 'run 2', 'run 3']);
    },
    'one that asked is asked again each time': async (stage) => {
      await stage.invoke({ mode: 'asks' });
      for (const answer of ['one', 'two']) expect(await stage.command(answer)).toHaveProperty('__interrupt__');
      expect((await stage.command('three')).out).toEqual(['one', 'two', 'three']);
    },
    'a failed attempt is not what is cached': async (stage) => {
      expect((await stage.invoke({ mode: 'fails once' })).out).toEqual(['run 2', 'run 2', 'run 2']);
    },
    'the thread’s next run begins without what was cached': async (stage) => {
      await stage.invoke();
      expect((await stage.invoke()).out.slice(3)).toEqual(['run 2', 'run 2', 'run 2']);
    },
    'a superstep that comes whole from the cache is passed at once, and is no checkpoint': async (stage) => {
      await stage.invoke();
      const history = await stage.history();
      expect(history.map(({ next, values }) => [next[0], values.out.length])).toEqual([
        [undefined, 3],
        ['count', 3],
        ['count', 2],
        ['count', 1],
        ['work', 0],
      ]);
    },
  }),
  ...cases('caching', parity, {
    'its key says what has to be the same': async (stage) => {
      expect((await stage.invoke({ mode: 'counts' })).out).toEqual(['run 1', 'run 1', 'run 1']);
      expect(stage.notes()).toHaveLength(1);
    },
  }),
  ...cases('caching', stale, {
    'it runs again once its time is over': async (stage) => {
      expect((await stage.invoke()).out).toEqual(['run 1', 'run 2', 'run 3']);
    },
  }),
  ...cases('caching', hour, {
    'it does not run again before its time is over': async (stage) => {
      expect((await stage.invoke()).out).toEqual(['run 1', 'run 1', 'run 1']);
    },
  }),
  ...cases('law 13', badKey, {
    'a cache key that throws fails the run, naming its node': async (stage) => {
      expect(await refusal(() => stage.invoke())).toMatchObject({
        code: 'NODE_FAILED',
        node: 'work',
        message: expect.stringContaining('no key'),
      });
    },
  }),
  ...cases('caching', here, {
    'a node in workflow code may be cached too': async (stage) => {
      expect((await stage.invoke()).out).toEqual(['here', 'here', 'here']);
    },
  }),
  ...cases('caching', fan, {
    'Sends of one superstep all run; a later one with the same input does not': async (stage) => {
      const { log } = await stage.invoke();
      expect(stage.notes()).toHaveLength(4);
      expect(log).toHaveLength(5);
      expect(log.at(-1)).toBe('c1');
    },
  }),
  ...cases('caching', twins, {
    'what one subgraph ran another of the same graph uses': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['act 1', 'act 1']);
      expect(stage.notes()).toEqual(['act']);
    },
  }),
];

const failure = ({ node, code, message }: NodeFailure): string => `${node}: ${code}: ${message}`;
const work = (onError: (failure: NodeFailure, state: any) => unknown, options: object = {}): object => ({
  onError,
  ends: ['mend'],
  ...options,
});
const boom: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('broken');
  },
  'throws a text': () => {
    throw 'broken text';
  },
  'writes a stranger': () => ({ stranger: 1 }),
  'writes what does not fit': () => ({ n: 'x' }),
  'writes what JSON cannot carry': () => ({ anything: new Map() }),
  'goes nowhere': () => new Command({ goto: 'nowhere' }),
  asks: () => ({ log: `was told ${interrupt('which?')}` }),
  'asks and fails': () => {
    throw new Error(`cannot use ${interrupt('which?')}`);
  },
  'asks in vain': () => ({ log: interrupt('anybody?', { deadline: 50 }) }),
};
const failing = {
  work: async ({ mode }: any) => {
    note('work');
    return (boom[mode] as () => any)();
  },
};
const mended = scene(
  'features_mended',
  () => ({
    state: { log: Log, n, mode, anything: z.any() },
    nodes: {
      work: work((told, { mode }) => new Command({ update: { log: `${mode}; ${failure(told)}` }, goto: 'mend' })),
      mend: inWorkflow(() => ({ log: 'mended' })),
    },
    edges: [[START, 'work']],
    activity: { retry: { maximumAttempts: 2, initialInterval: 1 } },
  }),
  { bodies: failing },
);
const HANDLERS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new TypeError('worse');
  },
  'returns nothing': () => undefined,
  'returns a list': () => [{ log: 'one' }, { log: 'two' }],
  'writes a stranger': () => ({ stranger: 1 }),
  'goes nowhere': () => new Command({ goto: 'nowhere' }),
};
const handlers = scene(
  'features_handlers',
  () => ({
    state: { log: Log, n, mode: z.string().default('throws'), handler: z.string() },
    nodes: { work: work((_, { handler }) => HANDLERS[handler]?.()), mend: undefined },
    edges: [
      [START, 'work'],
      ['work', 'mend'],
    ],
    activity: { retry: { maximumAttempts: 1 } },
  }),
  { bodies: { ...failing, mend: async () => ({ log: 'mend' }) } },
);
const local = scene('features_local', () => ({
  nodes: {
    work: {
      ...inWorkflow(() => {
        throw new RangeError('out of it');
      }),
      onError: (told: NodeFailure) => ({ log: failure(told) }),
    },
    after: inWorkflow(() => ({ log: 'after' })),
  },
}));
const pick = tool({ name: 'features_pick', description: 'Picks.', schema: z.object({}) });
const toolbox = scene(
  'features_toolbox',
  () => ({
    state: { messages: MessagesValue, log: Log },
    nodes: {
      tools: {
        ...toolNode({ tools: [pick], onToolError: 'fail' }),
        onError: (told: NodeFailure) => ({ log: failure(told) }),
      },
    },
  }),
  {
    tools: [
      {
        tool: pick,
        body: () => {
          throw new Error('out of picks');
        },
      },
    ],
  },
);
const silent = scene(
  'features_silent',
  () => ({
    state: { messages: MessagesValue, log: Log },
    nodes: {
      model: { ...modelNode({ model: 'features_silent' }), onError: (told: NodeFailure) => ({ log: told.code }) },
    },
  }),
  { model: [] },
);
const sends = scene(
  'features_sends',
  () => ({
    nodes: { each: { onError: (_: NodeFailure, item: any) => ({ log: `gave up on ${item}` }) } },
    routers: [[START, () => [1, 2, 3].map((item) => new Send('each', item)), ['each']]],
    activity: { retry: { maximumAttempts: 1 } },
  }),
  {
    bodies: {
      each: async (item) => {
        if (item === 2) throw new Error('not this one');
        return { log: `did ${item}` };
      },
    },
  },
);
const errorHandlers = [
  ...casesOf(
    'error handlers',
    mended,
    [
      ['an error, after its retries', 'throws', 'NODE_FAILED: Node "work" failed: broken', 2],
      ['what is no error', 'throws a text', 'NODE_FAILED: Node "work" failed: broken text', 2],
      ['a write of an unknown key', 'writes a stranger', /STATE_UNKNOWN_KEY: .*stranger/, 1],
      ['a write that does not fit', 'writes what does not fit', /STATE_INVALID: .*"n"/, 1],
      ['a write that JSON cannot carry', 'writes what JSON cannot carry', /STATE_NOT_JSON: .*anything/, 1],
      ['a goto to nowhere', 'goes nowhere', /UNKNOWN_GOTO: .*nowhere/, 1],
    ].map(([what, ...rest]) => [`onError takes ${what as string}, with its code and the state`, ...rest] as any),
    async (stage, mode, told, attempts) => {
      const { log } = await stage.invoke({ mode });
      expect(log).toEqual([expect.stringMatching(told instanceof RegExp ? told : new RegExp(told)), 'mended']);
      expect(log[0]).toMatch(new RegExp(`^${mode}; work: `));
      expect(stage.notes()).toHaveLength(attempts);
      expect((await stage.state()).status).toBe('done');
    },
  ),
  ...cases('error handlers', mended, {
    'the checkpoints hold what the handler wrote, word for word': async (stage) => {
      const { log } = await stage.invoke({ mode: 'throws' });
      const [end, before] = await stage.history();
      expect(end?.values.log).toEqual(log);
      expect([before?.next, before?.values.log]).toEqual([['mend'], log.slice(0, 1)]);
    },
    'a pause is none of its business': async (stage) => {
      expect(await stage.invoke({ mode: 'asks' })).toHaveProperty('__interrupt__');
      expect((await stage.resume('it')).log).toEqual(['was told it']);
    },
    'what fails after an answer is': async (stage) => {
      await stage.invoke({ mode: 'asks and fails' });
      expect((await stage.resume('it')).log).toEqual([expect.stringContaining('cannot use it'), 'mended']);
    },
    'a question that expires without an answer is': async (stage) => {
      await stage.start({ mode: 'asks in vain' });
      for (let stop = await stage.stop(); '__interrupt__' in stop;) stop = await ended(stage);
      expect((await stage.stop()).log).toEqual([expect.stringContaining('QUESTION_EXPIRED'), 'mended']);
    },
  }),
  ...casesOf(
    'error handlers',
    handlers,
    [
      ['throws', 'NODE_FAILED', /worse.*broken/],
      ['writes a stranger', 'STATE_UNKNOWN_KEY', /stranger/],
      ['goes nowhere', 'UNKNOWN_GOTO', /nowhere/],
    ].map(([what, ...rest]) => [`a handler that ${what as string} fails the run`, what, ...rest] as any),
    async (stage, handler, code, message) => {
      const error = await refusal(() => stage.invoke({ handler }));
      expect(error).toMatchObject({ code, node: 'work', message: expect.stringMatching(message) });
      expect((await stage.state()).status).toBe('failed');
    },
  ),
  ...casesOf(
    'error handlers',
    handlers,
    [
      ['returns nothing', ['mend']],
      ['returns a list', ['one', 'two', 'mend']],
    ].map(
      ([what, ...rest]) => [`a handler that ${what as string} lets the node’s edges lead on`, what, ...rest] as any,
    ),
    async (stage, handler, log) => {
      expect((await stage.invoke({ handler })).log).toEqual(log);
    },
  ),
  ...cases('error handlers', local, {
    'a node in workflow code has one too': async (stage) => {
      expect((await stage.invoke()).log).toEqual([expect.stringMatching(/work: NODE_FAILED: .*out of it/), 'after']);
    },
  }),
  ...cases('error handlers', toolbox, {
    'a tool node has one for each call that fails': async (stage) => {
      const calls = ['c0', 'c1'].map((id) => ({ id, name: 'features_pick', args: {} }));
      const { log } = await stage.invoke({ messages: [{ id: 'm', role: 'ai', content: '', tool_calls: calls }] });
      expect(log).toEqual([expect.stringContaining('out of picks'), expect.stringContaining('out of picks')]);
    },
  }),
  ...cases('error handlers', silent, {
    'a model node has one': async (stage) => {
      expect((await stage.invoke({ messages: ['hello'] })).log).toEqual(['SCRIPT_ENDED']);
    },
  }),
  ...cases('error handlers', sends, {
    'for a Send it sees the input, and the others are not touched': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['did 1', 'gave up on 2', 'did 3']);
    },
  }),
];

/** Waits until the run no longer waits, as it does once a question has expired. */
async function ended(stage: Stage): Promise<Values> {
  await eventually(async () => expect((await stage.state()).status).not.toBe('waiting'));
  return stage.stop();
}

const crew = inner(
  'features_inner_crew',
  () => ({
    nodes: { fails: undefined, works: undefined, asks: undefined, after: undefined },
    edges: [
      [START, 'fails'],
      [START, 'works'],
      [START, 'asks'],
      ['works', 'after'],
    ],
    activity: { retry: { maximumAttempts: 1 } },
  }),
  {
    fails: async () => {
      await latch('fails');
      throw new Error('inside');
    },
    works: async () => {
      note('works');
      await latch('works');
      note('worked');
      return { log: 'works' };
    },
    asks: async () => {
      await latch('asks');
      return { log: String(interrupt('which?')) };
    },
    after: async () => {
      note('after');
      return { log: 'after works' };
    },
  },
);
const nearest = inner(
  'features_inner_nearest',
  () => ({
    nodes: {
      fails: { onError: (told: NodeFailure) => ({ log: `near: ${told.message}` }) },
      then: inWorkflow(() => ({ log: 'then' })),
    },
    activity: { retry: { maximumAttempts: 1 } },
  }),
  {
    fails: async () => {
      throw new Error('inside');
    },
  },
);
const camp = scene(
  'features_camp',
  () => ({
    nodes: {
      crew: subgraph(crew.graph(), { onError: (told) => ({ log: `around: ${told.node}` }) }),
      hold: undefined,
      finish: undefined,
    },
    edges: [
      [START, 'crew'],
      ['crew', 'hold'],
      ['hold', 'finish'],
    ],
  }),
  {
    bodies: {
      hold: async () => {
        note('hold');
        await latch('hold');
        return { log: 'hold' };
      },
      finish: async () => ({ log: `finish ${interrupt('done?')}` }),
    },
    subgraphs: [crew],
  },
);
const near = scene(
  'features_near',
  () => ({
    nodes: { inside: subgraph(nearest.graph(), { onError: () => ({ log: 'around' }) }) },
  }),
  { subgraphs: [nearest] },
);
const inSubgraphs = [
  ...cases('error handlers', near, {
    'the nearest one handles, and the subgraph goes on': async (stage) => {
      expect((await stage.invoke()).log).toEqual([expect.stringContaining('inside'), 'then']);
    },
  }),
  ...cases('error handlers', camp, {
    'one around a subgraph ends it: its nodes that still work come too late': async (stage) => {
      for (const name of ['works', 'fails', 'hold']) stage.latches.close(name);
      await stage.start();
      await stage.latches.reached('works');
      stage.latches.open('fails');
      await stage.latches.reached('hold');
      stage.latches.open('works');
      stage.latches.open('hold');
      const { log, __interrupt__ } = await stage.stop();
      expect([log, __interrupt__]).toMatchObject([['around: fails', 'hold'], [{ id: '3.finish:0' }]]);
      expect((await stage.resume('yes')).log).toEqual(['around: fails', 'hold', 'finish yes']);
      expect(stage.notes()).not.toContain('after');
    },
    'whoever decides a question that went with it is told what became of it': async (stage) => {
      stage.latches.close('fails');
      stage.latches.close('hold');
      const thread = await stage.start();
      await waitsFor(stage, '1.crew/1.asks:0');
      stage.latches.open('fails');
      await stage.latches.reached('hold');
      const error = await refusal(() => thread.approve({ question: '1.crew/1.asks:0' }));
      stage.latches.open('hold');
      expect(error).toMatchObject({
        code: 'QUESTION_SETTLED',
        message: expect.stringMatching(/withdrawn: a node of "crew" failed/),
      });
      expect((await stage.stop()).__interrupt__).toMatchObject([{ id: '3.finish:0' }]);
    },
    'a decision kept for a node that went with it is refused': async (stage) => {
      for (const name of ['asks', 'fails', 'hold']) stage.latches.close(name);
      const thread = await stage.start();
      await stage.latches.reached('asks');
      await stage.latches.reached('fails');
      await thread.approve({ node: 'crew/asks' });
      stage.latches.open('fails');
      await stage.latches.reached('hold');
      stage.latches.open('asks');
      stage.latches.open('hold');
      await stage.stop();
      expect(await stage.verdicts()).toEqual(['approve refused QUESTION_UNKNOWN']);
    },
  }),
];

async function waitsFor(stage: Stage, question: string): Promise<void> {
  await eventually(async () => expect(await stage.open()).toContain(question));
}

const shown: string[] = ['answer', 'total'];
const secrets = scene(
  'features_secrets',
  () => ({
    state: {
      answer: z.string().optional(),
      notes: new PrivateValue(Log),
      page: new UntrackedValue(z.string().optional()),
      count: new PrivateValue(z.number().optional()),
      total: z.number().default(0),
    },
    nodes: ['fetch', 'read', 'write'],
  }),
  {
    bodies: {
      fetch: async ({ notes, count }) => {
        note(`fetch ${notes.length} ${count}`);
        return { page: 'a page', notes: 'fetched', count: 1 };
      },
      read: async ({ page, notes }) => {
        note(`read ${page} ${notes}`);
        return { notes: `read after ${interrupt('go on?')}` };
      },
      write: async ({ page, notes, count }) => {
        note(`write ${page} ${notes} ${count}`);
        if (timesNoted(`write ${page} ${notes} ${count}`) <= 3 && notes.includes('read after fail'))
          throw new Error('no');
        return { answer: notes.join(', '), total: notes.length };
      },
    },
  },
);
const hidden = [
  ...cases('hidden values', secrets, {
    'private values go from node to node, and no result shows them': async (stage) => {
      expect(Object.keys(await stage.invoke()).sort()).toEqual(['__interrupt__', 'total']);
      expect(await stage.approve()).toEqual({ answer: 'fetched, read after true', total: 2 });
    },
    'neither a state nor a checkpoint shows them, paused or ended': async (stage) => {
      await stage.invoke();
      const states = [await stage.state()];
      await stage.approve();
      states.push(await stage.state(), ...(await stage.history()));
      for (const { values } of states) expect(Object.keys(values).filter((key) => !shown.includes(key))).toEqual([]);
      expect(states).toHaveLength(6);
    },
    'an untracked value is seen by the next superstep, also after a pause in it, and by none beyond': async (stage) => {
      await stage.invoke();
      await stage.approve();
      expect(stage.notes()).toEqual([
        'fetch 0 undefined',
        'read a page fetched',
        'read a page fetched',
        'write undefined fetched,read after true 1',
      ]);
    },
    'the thread’s next run begins without them': async (stage) => {
      await stage.invoke();
      await stage.approve();
      await stage.invoke();
      expect(stage.notes().filter((one) => one.startsWith('fetch'))).toEqual([
        'fetch 0 undefined',
        'fetch 0 undefined',
      ]);
    },
    'a retried run still has its private values': async (stage) => {
      await stage.invoke();
      await refusal(() => stage.resume('fail'));
      expect(await stage.carryOn()).toEqual({ answer: 'fetched, read after fail', total: 2 });
    },
    'a fork still has the private values of its checkpoint': async (stage) => {
      await stage.invoke();
      const fork = await stage.fork();
      await fork.stop();
      expect(await fork.resume('forked')).toEqual({ answer: 'fetched, read after forked', total: 2 });
    },
  }),
  ...casesOf(
    'hidden values',
    secrets,
    ['notes', 'page', 'count'].map((key) => [`an input cannot set what only nodes see: ${key}`, key]),
    async (stage, key) => {
      expect(await refusal(() => stage.invoke({ [key]: 'x' }))).toMatchObject({ code: 'STATE_UNKNOWN_KEY', key });
      expect((await refusal(() => stage.state())).code).toBe('THREAD_UNKNOWN');
    },
  ),
];

const When = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const ROUTES: Readonly<Record<string, () => any>> = {
  two: () => [new Send('pack', { item: 'cup' }), new Send('pack', { item: 'jar', on: new Date('2030-01-01') })],
  wrong: () => new Send('pack', { item: 1 }),
  nothing: () => new Send('pack', undefined),
  bare: () => 'pack',
  asks: () => new Send('pack', { item: 'ask' }),
};
const packing = scene(
  'features_packing',
  () => ({
    state: { log: Log, how: z.string() },
    nodes: {
      start: {
        ...inWorkflow(({ how }: any) =>
          how.startsWith('command ') ? new Command({ goto: ROUTES[how.slice(8)]?.() }) : {},
        ),
        ends: ['pack'],
      },
      pack: { input: z.object({ item: z.string(), on: When.optional() }) },
    },
    edges: [[START, 'start']],
    routers: [['start', ({ how }) => (how.startsWith('command ') ? END : ROUTES[how]?.()), ['pack', END]]],
  }),
  {
    bodies: {
      pack: async ({ item, on }) => ({
        log: item === 'ask' ? `${item} ${interrupt('packed?')}` : `${item} ${on?.getUTCFullYear() ?? ''}`,
      }),
    },
  },
);
const inputs = [
  ...['two', 'command two'].flatMap((how) =>
    cases('node inputs', packing, {
      [`a node is given what its Send carries, decoded, from ${how === 'two' ? 'a router' : 'a command'}`]: async (
        stage,
      ) => {
        expect((await stage.invoke({ how })).log).toEqual(['cup ', 'jar 2030']);
      },
    }),
  ),
  ...casesOf(
    'node inputs',
    packing,
    [
      ['something else, from a router', 'wrong', 'STATE_INVALID'],
      ['something else, from a command', 'command wrong', 'STATE_INVALID'],
      ['nothing', 'nothing', 'STATE_INVALID'],
      ['no input at all, by a router’s goto', 'bare', 'UNKNOWN_GOTO'],
      ['no input at all, by a command’s goto', 'command bare', 'UNKNOWN_GOTO'],
    ].map(([what, ...rest]) => [`a node that takes an input is not reached with ${what as string}`, ...rest] as any),
    async (stage, how, code) => {
      expect((await refusal(() => stage.invoke({ how }))).code).toBe(code);
      expect((await stage.state()).status).toBe('failed');
    },
  ),
  ...cases('node inputs', packing, {
    'after a pause it is given the same input': async (stage) => {
      await stage.invoke({ how: 'asks' });
      expect((await stage.resume('yes')).log).toEqual(['ask yes']);
    },
  }),
];

export const features = [...caching, ...errorHandlers, ...inSubgraphs, ...hidden, ...inputs];
