import { END, interrupt, inWorkflow, Send, START, subgraph } from 'abeyance';
import { Log, loggers } from '../../graph/support/build-graph';
import { latch, note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { inner, scene } from '../scene';
import { refusal, type Stage, type Values } from '../stage';

const noting = (...names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [
      name,
      async () => {
        note(name);
        await latch(name);
        return { log: name };
      },
    ]),
  );
const ids = ({ __interrupt__ = [] }: Values): string[] => __interrupt__.map(({ id }: { id: string }) => id);

const fanned = scene(
  'breakpoints_fanned',
  () => ({
    nodes: ['a', 'b', 'c'],
    edges: [
      [START, 'a'],
      ['a', 'b'],
      ['a', 'c'],
    ],
    interruptBefore: ['b'],
  }),
  { bodies: noting('a', 'b', 'c') },
);
const BEFORE = '2.b:~before';
const PASSES: readonly (readonly [string, (stage: Stage) => Promise<Values>])[] = [
  ['approve', (stage) => stage.approve({ by: 'ana' })],
  ['resume with null', (stage) => stage.resume(null)],
  ['resume with a value', (stage) => stage.resume({ any: 'thing' })],
  ['resume with false', (stage) => stage.resume(false)],
  ['a command', (stage) => stage.command(true)],
  ['invoke with null', (stage) => stage.carryOn()],
  ['an answer by id', (stage) => stage.resume({ [BEFORE]: true })],
];
const REFUSED: readonly (readonly [string, (stage: Stage) => unknown])[] = [
  ['a denial', (stage) => stage.thread().deny()],
  ['an edit', (stage) => stage.thread().edit({})],
  ['a response', (stage) => stage.thread().respond('no')],
  ['a denial by id', (stage) => stage.thread().deny({ question: BEFORE })],
];
const before = [
  ...cases('breakpoints', fanned, {
    'a breakpoint before a node holds its whole superstep, and says what comes next': async (stage) => {
      const { __interrupt__, log } = await stage.invoke();
      expect(__interrupt__).toEqual([{ id: BEFORE, value: { breakpoint: 'before', nodes: ['b'], next: ['b', 'c'] } }]);
      expect([log, stage.notes()]).toEqual([['a'], ['a']]);
    },
    'a thread at a breakpoint shows what is held': async (stage) => {
      await stage.invoke();
      const { status, next, tasks, interrupts } = await stage.state();
      expect([status, next]).toEqual(['waiting', ['b', 'c']]);
      expect(tasks.map(({ id, status, visit }) => [id, status, visit])).toEqual([
        ['2.b', 'waiting', 0],
        ['2.c', 'waiting', 0],
      ]);
      expect(interrupts).toMatchObject([{ id: BEFORE, kind: 'breakpoint', node: 'b', task: '2.b' }]);
    },
    'who passed it is on record': async (stage) => {
      await stage.invoke();
      await stage.approve({ by: 'ana' });
      expect((await stage.thread().decisions())[0]).toMatchObject({
        decision: { type: 'approve', by: 'ana' },
        verdict: { kind: 'accepted', questions: [BEFORE] },
      });
    },
    'new input to a thread at a breakpoint is refused': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.invoke())).code).toBe('THREAD_BUSY');
      expect(await stage.open()).toEqual([BEFORE]);
    },
    'by the name of its node it is not passed': async (stage) => {
      await stage.invoke();
      expect((await stage.thread().approve({ node: 'b' })).kind).toBe('kept');
      expect(await stage.open()).toEqual([BEFORE]);
    },
    'passed twice it is passed once': async (stage) => {
      await stage.invoke();
      stage.latches.close('b');
      await stage.thread().approve({ question: BEFORE });
      await stage.latches.reached('b');
      expect((await refusal(() => stage.thread().approve({ question: BEFORE }))).code).toBe('QUESTION_SETTLED');
      stage.latches.open('b');
      await stage.stop();
      expect(stage.notes().filter((one) => one === 'b')).toHaveLength(1);
    },
    'a run may stop at more than the graph says': async (stage) => {
      expect(ids(await stage.invoke({}, { interruptBefore: ['a'] }))).toEqual(['1.a:~before']);
      expect(ids(await stage.approve())).toEqual([BEFORE]);
    },
    'before and after the same step it stops once': async (stage) => {
      expect(ids(await stage.invoke({}, { interruptAfter: ['a'] }))).toEqual(['2.b:~after']);
      expect((await stage.approve()).log).toEqual(['a', 'b', 'c']);
    },
    'a breakpoint for every node is one before each step': async (stage) => {
      expect(ids(await stage.invoke({}, { interruptBefore: '*' }))).toEqual(['1.a:~before']);
      const { __interrupt__ } = await stage.approve();
      expect(__interrupt__[0].value).toEqual({ breakpoint: 'before', nodes: ['b', 'c'], next: ['b', 'c'] });
      expect((await stage.approve()).log).toEqual(['a', 'b', 'c']);
    },
    'the thread’s next run does not keep the breakpoints of the last': async (stage) => {
      await stage.invoke({}, { interruptBefore: ['a'] });
      await stage.approve();
      await stage.approve();
      expect(ids(await stage.invoke())).toEqual(['5.b:~before']);
    },
    'a breakpoint passed by a decision that is sent again stays passed': async (stage) => {
      await stage.invoke();
      await stage.approve({ question: BEFORE, decisionId: 'one' });
      expect((await refusal(() => stage.thread().approve({ question: BEFORE, decisionId: 'one' }))).code).toBe(
        'THREAD_FINISHED',
      );
      expect(stage.notes().filter((one) => one === 'b')).toHaveLength(1);
    },
  }),
  ...casesOf(
    'breakpoints',
    fanned,
    PASSES.map(([how, pass]) => [`it is passed by ${how}`, pass]),
    async (stage, pass) => {
      await stage.invoke();
      expect(await pass(stage)).toEqual({ log: ['a', 'b', 'c'] });
    },
  ),
  ...casesOf(
    'breakpoints',
    fanned,
    REFUSED.map(([how, decide]) => [`${how} does not pass it`, decide]),
    async (stage, decide) => {
      await stage.invoke();
      expect(await refusal(() => decide(stage))).toMatchObject({
        code: 'ANSWER_INVALID',
        message: expect.stringContaining('breakpoint'),
      });
      expect([await stage.open(), stage.notes()]).toEqual([[BEFORE], ['a']]);
    },
  ),
  ...cases('law 10', fanned, {
    'a decision kept for the node behind a breakpoint does not pass it': async (stage) => {
      stage.latches.close('a');
      await stage.start();
      await stage.latches.reached('a');
      expect((await stage.thread().approve({ node: 'b' })).kind).toBe('kept');
      stage.latches.open('a');
      expect(ids(await stage.stop())).toEqual([BEFORE]);
      expect(await stage.verdicts()).toEqual(['approve kept']);
    },
    'one kept for the breakpoint itself, by its id, passes it': async (stage) => {
      stage.latches.close('a');
      await stage.start();
      await stage.latches.reached('a');
      expect((await stage.thread().approve({ question: BEFORE })).kind).toBe('kept');
      stage.latches.open('a');
      expect((await stage.stop()).log).toEqual(['a', 'b', 'c']);
    },
    'a denial kept for the breakpoint is refused when it comes': async (stage) => {
      stage.latches.close('a');
      await stage.start();
      await stage.latches.reached('a');
      await stage.thread().deny({ question: BEFORE });
      stage.latches.open('a');
      expect(ids(await stage.stop())).toEqual([BEFORE]);
      expect(await stage.verdicts()).toEqual(['deny refused ANSWER_INVALID']);
    },
  }),
];

const after = scene('breakpoints_after', () => ({ nodes: ['a', 'b', 'c'], interruptAfter: '*' }), {
  bodies: noting('a', 'b', 'c'),
});
const afterwards = [
  ...cases('breakpoints', after, {
    'after every node it stops, and not at the end, where nothing comes': async (stage) => {
      const { __interrupt__ } = await stage.invoke();
      expect(__interrupt__).toEqual([{ id: '2.b:~after', value: { breakpoint: 'after', nodes: ['a'], next: ['b'] } }]);
      expect(ids(await stage.approve())).toEqual(['3.c:~after']);
      expect(await stage.approve()).toEqual({ log: ['a', 'b', 'c'] });
    },
    'what the node wrote is in the values at the stop': async (stage) => {
      await stage.invoke();
      expect((await stage.state()).values).toEqual({ log: ['a'] });
    },
    'a run that is held counts the superstep once against its limit': async (stage) => {
      await stage.invoke({}, { recursionLimit: 3 });
      await stage.approve();
      expect((await stage.approve()).log).toEqual(['a', 'b', 'c']);
    },
    'at the limit it fails instead of stopping': async (stage) => {
      await stage.invoke({}, { recursionLimit: 2 });
      await stage.approve().catch(() => undefined);
      expect((await stage.state()).metadata.error?.code).toBe('GRAPH_RECURSION_LIMIT');
    },
  }),
];

const sent = scene(
  'breakpoints_sent',
  () => ({
    nodes: { plan: undefined, pack: undefined, label: undefined },
    edges: [
      [START, 'plan'],
      ['plan', 'label'],
    ],
    routers: [['plan', () => [new Send('pack', { item: 'cup' }), new Send('pack', { item: 'jar' })], ['pack']]],
    interruptBefore: ['pack'],
  }),
  {
    bodies: {
      ...loggers('plan', 'label'),
      pack: async ({ item }) => {
        note(item);
        return { log: `pack ${item}` };
      },
    },
  },
);
const looped = scene(
  'breakpoints_looped',
  () => ({
    nodes: ['work', 'check'],
    edges: [
      [START, 'work'],
      ['work', 'check'],
    ],
    routers: [['check', ({ log }) => (log.length < 6 ? 'work' : END), ['work', END]]],
    interruptBefore: ['work'],
  }),
  { bodies: loggers('work', 'check') },
);
const asking = scene('breakpoints_asking', () => ({ nodes: ['ask'], interruptBefore: ['ask'] }), {
  bodies: { ask: async () => ({ log: String(interrupt('fine?')) }) },
});
const shapes = [
  ...cases('breakpoints', sent, {
    'before Sends it holds all of them, and the node beside them': async (stage) => {
      const { __interrupt__ } = await stage.invoke();
      expect(__interrupt__).toEqual([
        { id: '2.label:~before', value: { breakpoint: 'before', nodes: ['pack'], next: ['label', 'pack', 'pack'] } },
      ]);
      expect((await stage.state()).next).toEqual(['label', 'pack', 'pack']);
      expect(stage.notes()).toEqual([]);
    },
    'passed, each Send runs on its own input': async (stage) => {
      await stage.invoke();
      expect((await stage.approve()).log).toEqual(['plan', 'label', 'pack cup', 'pack jar']);
    },
  }),
  ...cases('breakpoints', looped, {
    'in a loop it stops each time, under an id of its own': async (stage) => {
      expect(ids(await stage.invoke())).toEqual(['1.work:~before']);
      expect(ids(await stage.approve())).toEqual(['3.work:~before']);
      expect(ids(await stage.carryOn())).toEqual(['5.work:~before']);
      expect((await stage.approve()).log).toHaveLength(6);
    },
    'the answer for one round does not pass the next': async (stage) => {
      await stage.invoke();
      await stage.approve({ question: '1.work:~before' });
      expect((await refusal(() => stage.thread().approve({ question: '1.work:~before' }))).code).toBe(
        'QUESTION_SETTLED',
      );
      expect(await stage.open()).toEqual(['3.work:~before']);
    },
  }),
  ...cases('breakpoints', asking, {
    'it is nothing that the node asked: its own question comes after, and is not answered by it': async (stage) => {
      await stage.invoke();
      expect(ids(await stage.approve())).toEqual(['1.ask:0']);
      expect((await stage.resume('yes')).log).toEqual(['yes']);
    },
    'invoke with null passes the breakpoint and leaves the question behind it open': async (stage) => {
      await stage.invoke();
      expect(ids(await stage.carryOn())).toEqual(['1.ask:0']);
      expect(ids(await stage.carryOn())).toEqual(['1.ask:0']);
    },
    'a decision kept for the node waits behind the breakpoint': async (stage) => {
      await stage.invoke();
      await stage.thread().resume('kept', { node: 'ask' });
      expect((await stage.approve({ question: '1.ask:~before' })).log).toEqual(['kept']);
    },
  }),
];

const review = inner('breakpoints_inner_review', () => ({ nodes: ['step', 'ask'] }), {
  step: async () => {
    note('step');
    return { log: 'step' };
  },
  ask: async () => ({ log: String(interrupt('fine?')) }),
});
const stepped = inner(
  'breakpoints_inner_stepped',
  () => ({ nodes: ['one', 'two'], interruptAfter: ['one'] }),
  loggers('one', 'two'),
);
const outer = scene('breakpoints_outer', () => ({ nodes: { review: review.graph(), end: undefined } }), {
  bodies: loggers('end'),
  subgraphs: [review],
});
const beside = scene(
  'breakpoints_beside',
  () => ({
    nodes: { asks: review.graph(), stops: stepped.graph() },
    edges: [
      [START, 'asks'],
      [START, 'stops'],
    ],
  }),
  { subgraphs: [review, stepped] },
);
const broken = scene(
  'breakpoints_broken',
  () => ({
    nodes: {
      inside: subgraph(review.graph(), {
        input: (): any => {
          throw new TypeError('cannot begin');
        },
      }),
    },
    interruptBefore: ['inside'],
  }),
  { subgraphs: [review] },
);
const inSubgraphs = [
  ...cases('breakpoints', outer, {
    'a run may stop before a node of a subgraph, by path': async (stage) => {
      expect(ids(await stage.invoke({}, { interruptBefore: ['review/step'] }))).toEqual(['1.review/1.step:~before']);
      expect(stage.notes()).toEqual([]);
      expect((await stage.state()).interrupts).toMatchObject([{ node: 'review/step' }]);
      expect(ids(await stage.approve())).toEqual(['1.review/2.ask:0']);
    },
    'a run may stop after a node of a subgraph': async (stage) => {
      expect(ids(await stage.invoke({}, { interruptAfter: ['review/step'] }))).toEqual(['1.review/2.ask:~after']);
      expect(stage.notes()).toEqual(['step']);
    },
    'for every node means those of subgraphs too': async (stage) => {
      const stops: string[] = ids(await stage.invoke({}, { interruptBefore: '*' }));
      for (let left = 5; left > 0 && (await stage.state()).status === 'waiting'; left--)
        stops.push(...ids(await stage.approve()));
      expect(stops).toEqual([
        '1.review:~before',
        '1.review/1.step:~before',
        '1.review/2.ask:~before',
        '1.review/2.ask:0',
        '2.end:~before',
      ]);
    },
    'invoke with null passes one in a subgraph': async (stage) => {
      await stage.invoke({}, { interruptBefore: ['review/step'] });
      expect(ids(await stage.carryOn())).toEqual(['1.review/2.ask:0']);
    },
  }),
  ...casesOf(
    'law 11',
    outer,
    [
      ['before a node that is not there', { interruptBefore: ['nobody'] }],
      ['after a node that is not there', { interruptAfter: ['nobody'] }],
      ['at a node that the subgraph does not have', { interruptBefore: ['review/nobody'] }],
      ['at a node below one that is no subgraph', { interruptBefore: ['end/step'] }],
    ].map(([what, options]) => [
      `a breakpoint of a run ${what as string} is refused before anything is started`,
      options as any,
    ]),
    async (stage, options) => {
      expect((await refusal(() => stage.invoke({}, options))).code).toBe('UNKNOWN_NODE');
      expect((await refusal(() => stage.state())).code).toBe('THREAD_UNKNOWN');
    },
  ),
  ...cases('breakpoints', beside, {
    'invoke with null passes a breakpoint and not the question beside it': async (stage) => {
      expect(ids(await stage.invoke())).toEqual(['1.asks/2.ask:0', '1.stops/2.two:~after']);
      expect(ids(await stage.carryOn())).toEqual(['1.asks/2.ask:0']);
    },
    'beside a question a bare answer is ambiguous': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.thread().approve())).code).toBe('ANSWER_AMBIGUOUS');
    },
    'a map may answer the one and pass the other': async (stage) => {
      await stage.invoke();
      const { log } = await stage.resume({ '1.asks/2.ask:0': 'yes', '1.stops/2.two:~after': null });
      expect(log).toEqual(['step', 'yes', 'one', 'two']);
    },
  }),
  ...cases('law 13', broken, {
    'where what is held cannot begin, the run fails, and whoever passed it is not refused': async (stage) => {
      await stage.invoke();
      expect((await stage.thread().approve()).kind).toBe('accepted');
      expect(await refusal(() => stage.stop())).toMatchObject({
        code: 'NODE_FAILED',
        message: expect.stringContaining('cannot begin'),
      });
      expect((await stage.state()).status).toBe('failed');
    },
  }),
];

const here = scene('breakpoints_here', () => ({
  state: { log: Log },
  nodes: { a: inWorkflow(() => ({ log: 'a' })), b: inWorkflow(() => ({ log: 'b' })) },
  interruptBefore: ['b'],
}));
const inWorkflowCode = cases('breakpoints', here, {
  'nodes in workflow code stop as well': async (stage) => {
    expect(ids(await stage.invoke())).toEqual(['2.b:~before']);
    expect((await stage.carryOn()).log).toEqual(['a', 'b']);
  },
  'an update beside the answer reaches what was held': async (stage) => {
    await stage.invoke();
    expect((await stage.command(null, { log: 'edited' })).log).toEqual(['a', 'edited', 'b']);
  },
});

export const breakpoints = [...before, ...afterwards, ...shapes, ...inSubgraphs, ...inWorkflowCode];
