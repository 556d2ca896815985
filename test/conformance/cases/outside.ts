import { z } from 'zod';
import {
  Command,
  END,
  interrupt,
  inWorkflow,
  nodeContext,
  once,
  Overwrite,
  Send,
  START,
  type StateSnapshot,
} from 'abeyance';
import { Log, loggers } from '../../graph/support/build-graph';
import { eventually } from '../../support/eventually';
import { latch, note, timesNoted } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { inner, scene } from '../scene';
import { refusal, type Stage, type Values } from '../stage';

const ONCE = { retry: { maximumAttempts: 1 } } as const;
const n = z.number().default(0);
const mode = z.string().default('');

/** START → draft → ask → publish → END. */
const desk = scene(
  'outside_desk',
  () => ({
    state: { log: Log, n, mode },
    nodes: { draft: undefined, ask: undefined, publish: undefined },
    edges: [
      [START, 'draft'],
      ['draft', 'ask'],
      ['publish', END],
    ],
    routers: [
      [
        'ask',
        ({ n }) => {
          if (n === 13) throw new RangeError('unlucky');
          return 'publish';
        },
        ['publish'],
      ],
    ],
    activity: ONCE,
  }),
  {
    bodies: {
      draft: async () => {
        note('draft');
        await latch('draft');
        return { log: 'draft' };
      },
      ask: async ({ mode }) => {
        note('ask');
        const answer: string = interrupt('publish?');
        if (answer === 'bad') throw new Error('cannot use it');
        return { log: `ask ${answer}${mode === 'twice' ? ` ${interrupt('sure?')}` : ''}` };
      },
      publish: async ({ n, mode }) => {
        note('publish');
        await latch('publish');
        if (mode === 'offline' && timesNoted('publish') === 1) throw new Error('offline');
        if (mode === 'dead' && n === 0) throw new Error('dead');
        return { log: `publish ${n}` };
      },
    },
  },
);
const paused = async (stage: Stage, input: object = {}): Promise<Stage> => {
  expect(await stage.invoke(input)).toHaveProperty('__interrupt__');
  return stage;
};
const finished = async (stage: Stage): Promise<Stage> => {
  await (await paused(stage)).approve();
  return stage;
};
const failed = async (stage: Stage, input: object = { mode: 'offline' }): Promise<Stage> => {
  await paused(stage, input);
  await refusal(() => stage.approve());
  expect((await stage.state()).status).toBe('failed');
  return stage;
};
const STANDING: readonly (readonly [string, (stage: Stage) => Promise<Stage>])[] = [
  ['waits', paused],
  ['has ended', finished],
  ['has failed', failed],
];
const ASK = '2.ask:0';

/** Where a thread stands, whether its run tells or what it last published. */
const standing = async (stage: Stage): Promise<unknown> => {
  const { values, next, status, interrupts, metadata } = await stage.state();
  return { values, next, status, interrupts, runId: metadata.runId, step: metadata.step, error: metadata.error };
};

/** What a checkpoint says, in short. */
const brief = ({ values, next, interrupts }: StateSnapshot<any>): unknown[] => [
  next.join(' '),
  values.log.join(' '),
  interrupts.map(({ id }) => id).join(' '),
];
const briefly = async (stage: Stage): Promise<unknown[]> => (await stage.history()).map(brief);
const checkpointBefore = async (stage: Stage, node: string): Promise<string> => {
  const found = (await stage.history()).find(({ next }) => next[0] === node);
  return found?.metadata.checkpoint as string;
};

const updates = [
  ...cases('state from outside', desk, {
    'an update changes what nodes see next, and leaves the question open': async (stage) => {
      await paused(stage);
      const { values, interrupts } = await stage.update({ n: 7, log: 'edited' });
      expect([values, interrupts.length]).toEqual([{ log: ['draft', 'edited'], n: 7, mode: '' }, 1]);
      expect((await stage.approve()).log).toEqual(['draft', 'edited', 'ask true', 'publish 7']);
    },
    'the node that waits sees it when it runs again': async (stage) => {
      await paused(stage);
      await stage.update({ mode: 'twice' });
      expect((await stage.resume('yes')).__interrupt__).toMatchObject([{ value: 'sure?' }]);
    },
    'an update goes through reducers, and an Overwrite around them': async (stage) => {
      await paused(stage);
      expect((await stage.update({ log: new Overwrite(['fresh']) })).values.log).toEqual(['fresh']);
    },
    'as the node that asks it stands in for it, and its edges lead on': async (stage) => {
      await paused(stage);
      await stage.update({ log: 'skipped' }, 'ask');
      expect((await stage.stop()).log).toEqual(['draft', 'skipped', 'publish 0']);
      expect(stage.notes()).toEqual(['draft', 'ask', 'publish']);
    },
    'whoever decides a question that it withdrew is told so': async (stage) => {
      await paused(stage);
      stage.latches.close('publish');
      await stage.update({ log: 'skipped' }, 'ask');
      await stage.latches.reached('publish');
      const error = await refusal(() => stage.thread().approve({ question: ASK }));
      stage.latches.open('publish');
      expect(error).toMatchObject({
        code: 'QUESTION_SETTLED',
        message: expect.stringMatching(/2\.ask:0 was withdrawn: the state was updated as "ask"/),
      });
      expect((await stage.stop()).log).toEqual(['draft', 'skipped', 'publish 0']);
    },
    'a decision kept for the task that it ended is refused': async (stage) => {
      await paused(stage);
      stage.latches.close('publish');
      expect((await stage.thread().approve({ question: '2.ask:1' })).kind).toBe('kept');
      await stage.update({}, 'ask');
      await stage.latches.reached('publish');
      expect(await stage.verdicts()).toEqual(['approve refused QUESTION_UNKNOWN']);
      stage.latches.open('publish');
      await stage.stop();
    },
    'as another node while one waits it is refused, for the question would vanish': async (stage) => {
      await paused(stage);
      expect(await refusal(() => stage.update({ n: 1 }, 'draft'))).toMatchObject({
        code: 'STATE_UPDATE_CONFLICT',
        message: expect.stringContaining('ask'),
      });
      expect((await stage.state()).values.n).toBe(0);
      expect((await stage.approve()).log).toHaveLength(3);
    },
    'as START while a node waits it is refused': async (stage) => {
      await paused(stage);
      expect((await refusal(() => stage.update({}, START))).code).toBe('STATE_UPDATE_CONFLICT');
      expect(await stage.open()).toEqual([ASK]);
    },
    'as END it ends the run': async (stage) => {
      await paused(stage);
      await stage.update({ log: 'enough' }, END);
      expect(await stage.stop()).toEqual({ log: ['draft', 'enough'], n: 0, mode: '' });
      expect(await stage.state()).toMatchObject({ status: 'done', next: [], interrupts: [] });
      expect((await refusal(() => stage.thread().approve({ question: ASK }))).code).toBe('THREAD_FINISHED');
    },
    'where what it leads to fails it is refused, and nothing has changed': async (stage) => {
      await paused(stage);
      expect(await refusal(() => stage.update({ n: 13 }, 'ask'))).toMatchObject({
        code: 'ROUTER_FAILED',
        message: expect.stringContaining('unlucky'),
      });
      expect(await stage.state()).toMatchObject({ status: 'waiting', next: ['ask'], values: { n: 0 } });
      expect((await stage.approve()).log).toEqual(['draft', 'ask true', 'publish 0']);
    },
    'while nodes run it is refused': async (stage) => {
      stage.latches.close('draft');
      await stage.start();
      await stage.latches.reached('draft');
      const { code } = await refusal(() => stage.update({ n: 1 }));
      stage.latches.open('draft');
      expect(code).toBe('THREAD_BUSY');
      expect(await stage.stop()).toMatchObject({ n: 0 });
    },
    'on an unknown thread it is refused': async (stage) => {
      expect((await refusal(() => stage.update({ n: 1 }))).code).toBe('THREAD_UNKNOWN');
    },
    'two at once both count, in some order': async (stage) => {
      await paused(stage);
      await Promise.all([stage.update({ log: 'one' }), stage.update({ log: 'two' })]);
      expect([...(await stage.state()).values.log].sort()).toEqual(['draft', 'one', 'two']);
      expect((await stage.history()).map(({ values }) => values.log.length)).toEqual([3, 2, 1, 0]);
    },
    'of an update as the node and an answer to it, at once, one counts and the other is told': async (stage) => {
      await paused(stage);
      const both = [stage.update({ log: 'edited' }, 'ask'), stage.thread().approve({ question: ASK })];
      const settled = await Promise.allSettled(both);
      expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const lost = settled.find((one) => one.status === 'rejected');
      expect(['QUESTION_SETTLED', 'THREAD_BUSY', 'THREAD_FINISHED']).toContain(lost?.reason.code);
      const { log } = await stage.stop();
      expect(log).toEqual(['draft', settled[0]?.status === 'fulfilled' ? 'edited' : 'ask true', 'publish 0']);
    },
  }),
  ...STANDING.flatMap(([how, bring]) =>
    casesOf(
      'state from outside',
      desk,
      [
        ['a key the state does not have', { m: 1 }, undefined, 'STATE_UNKNOWN_KEY'],
        ['a value that does not fit', { n: 'x' }, undefined, 'STATE_INVALID'],
        ['a value JSON cannot carry', { n: Number.NaN }, undefined, 'STATE_INVALID'],
        ['a node that is not there', { n: 1 }, 'nobody', 'UNKNOWN_NODE'],
      ].map(([what, ...rest]) => [
        `an update with ${what as string}, on a thread that ${how}, is refused, and nothing changes`,
        ...rest,
      ]) as any,
      async (stage, update, as, code) => {
        await bring(stage);
        const before = await standing(stage);
        expect((await refusal(() => stage.update(update, as))).code).toBe(code);
        expect(await standing(stage)).toEqual(before);
      },
    ),
  ),
  ...cases('state from outside', desk, {
    'on a finished thread it changes the values, and nothing runs': async (stage) => {
      await finished(stage);
      const { metadata } = await stage.state();
      await stage.update({ n: 5 });
      const state = await stage.state();
      expect(state).toMatchObject({ status: 'done', values: { n: 5 }, next: [] });
      expect(state.metadata.runId).not.toBe(metadata.runId);
      expect(stage.notes()).toEqual(['draft', 'ask', 'ask', 'publish']);
    },
    'on a finished thread as a node it runs what comes after it': async (stage) => {
      await finished(stage);
      await stage.update({ n: 5 }, 'ask');
      expect((await stage.stop()).log.at(-1)).toBe('publish 5');
      expect(stage.notes()).toEqual(['draft', 'ask', 'ask', 'publish', 'publish']);
    },
    'on a finished thread as START it runs as for a new input, and no id comes twice': async (stage) => {
      await finished(stage);
      await stage.update({ n: 5 }, START);
      expect((await stage.stop()).__interrupt__).toMatchObject([{ id: '5.ask:0' }]);
      expect((await stage.approve()).log.slice(3)).toEqual(['draft', 'ask true', 'publish 5']);
    },
    'on a finished thread as END it changes the values': async (stage) => {
      await finished(stage);
      await stage.update({ n: 5 }, END);
      expect(await stage.state()).toMatchObject({ status: 'done', values: { n: 5 } });
    },
    'what was written to a finished thread is there for its next run': async (stage) => {
      await finished(stage);
      await stage.update({ n: 5 });
      await stage.stop();
      await stage.invoke();
      expect((await stage.approve()).log.at(-1)).toBe('publish 5');
    },
    'on a failed thread it mends the state and retries': async (stage) => {
      await failed(stage, { mode: 'dead' });
      await stage.update({ n: 5 });
      expect((await stage.stop()).log).toEqual(['draft', 'ask true', 'publish 5']);
      expect(stage.notes()).toEqual(['draft', 'ask', 'ask', 'publish', 'publish']);
    },
    'on a failed thread as the node that failed it stands in for it': async (stage) => {
      await failed(stage, { mode: 'dead' });
      await stage.update({ log: 'by hand' }, 'publish');
      expect((await stage.stop()).log).toEqual(['draft', 'ask true', 'by hand']);
      expect(stage.notes()).toEqual(['draft', 'ask', 'ask', 'publish']);
    },
    'a run that its router failed goes on once the state is mended, and no node runs again': async (stage) => {
      await failed(stage, { n: 13 });
      await stage.update({ n: 1 });
      expect((await stage.stop()).log).toEqual(['draft', 'ask true', 'publish 1']);
      expect(stage.notes()).toEqual(['draft', 'ask', 'ask', 'publish']);
    },
  }),
];

const sends = scene(
  'outside_sends',
  () => ({
    nodes: { each: undefined, other: inWorkflow(() => ({ log: 'other' })) },
    edges: [['each', 'other']],
    routers: [[START, () => [new Send('each', 1), new Send('each', 2)], ['each']]],
  }),
  { bodies: { each: async (item) => ({ log: `${item} ${interrupt('?')}` }) } },
);
const clash = scene(
  'outside_clash',
  () => ({
    state: { log: Log, chosen: z.string().optional() },
    nodes: { a: undefined, b: undefined, end: undefined },
    edges: [
      [START, 'a'],
      [START, 'b'],
      [['a', 'b'], 'end'],
    ],
  }),
  {
    bodies: {
      ...Object.fromEntries(['a', 'b'].map((name) => [name, async () => (note(name), { chosen: name })])),
      end: async ({ chosen }) => ({ log: `chose ${chosen}` }),
    },
  },
);
const held = scene(
  'outside_held',
  () => ({
    state: { log: Log, n },
    nodes: { a: undefined, b: undefined, c: undefined },
    interruptBefore: ['b'],
  }),
  { bodies: { ...loggers('a', 'c'), b: async ({ n }) => ({ log: `b ${n}` }) } },
);
const review = inner('outside_inner_review', () => ({ nodes: ['step', 'ask'] }), {
  step: async () => {
    note('step');
    return { log: 'step' };
  },
  ask: async () => {
    note('inner ask');
    return { log: `${interrupt('first?')} ${interrupt('second?')}` };
  },
});
const shapes = [
  ...cases('state from outside', sends, {
    'it never drops a Send that waits': async (stage) => {
      await stage.invoke();
      for (const as of ['each', 'other', START])
        expect((await refusal(() => stage.update({}, as))).code).toBe('STATE_UPDATE_CONFLICT');
      expect(await stage.open()).toEqual(['1.each.0:0', '1.each.1:0']);
    },
    'without a node it reaches what comes after the Sends': async (stage) => {
      await stage.invoke();
      await stage.update({ log: 'noted' });
      await stage.resume({ '1.each.0:0': 'x', '1.each.1:0': 'y' });
      expect((await stage.state()).values.log).toEqual(['noted', '1 x', '2 y', 'other']);
    },
  }),
  ...cases('state from outside', clash, {
    'a run that two writers failed goes on once one of them is stood in for': async (stage) => {
      expect((await refusal(() => stage.invoke())).code).toBe('STATE_CONCURRENT_UPDATE');
      await stage.update({}, 'b');
      expect((await stage.stop()).log).toEqual(['chose a']);
      expect([...stage.notes()].sort()).toEqual(['a', 'b']);
    },
    'retried as it is, it fails again, and can still be mended': async (stage) => {
      expect((await refusal(() => stage.invoke())).code).toBe('STATE_CONCURRENT_UPDATE');
      for (let n = 0; n < 2; n++) expect((await refusal(() => stage.carryOn())).code).toBe('STATE_CONCURRENT_UPDATE');
      await stage.update({}, 'a');
      expect((await stage.stop()).log).toEqual(['chose b']);
    },
  }),
  ...cases('state from outside', held, {
    'at a breakpoint it changes what the held node sees': async (stage) => {
      await stage.invoke();
      await stage.update({ n: 3 });
      expect((await stage.carryOn()).log).toEqual(['a', 'b 3', 'c']);
    },
    'at a breakpoint as the held node it stands in for it': async (stage) => {
      await stage.invoke();
      await stage.update({ log: 'instead of b' }, 'b');
      expect((await stage.stop()).log).toEqual(['a', 'instead of b', 'c']);
    },
    'at a breakpoint as the node before it is refused: what is held would vanish': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.update({ log: 'once more' }, 'a'))).code).toBe('STATE_UPDATE_CONFLICT');
      expect((await stage.approve()).log).toEqual(['a', 'b 0', 'c']);
    },
    'at a breakpoint as END it ends the run': async (stage) => {
      await stage.invoke();
      await stage.update({}, END);
      expect(await stage.stop()).toEqual({ log: ['a'], n: 0 });
    },
  }),
];

/** Two that ask once, one of them with a second question, and a subgraph that asks twice. */
const crowd = scene(
  'outside_crowd',
  () => ({
    state: { log: Log, n },
    nodes: { left: undefined, right: undefined, inside: review.graph(), end: undefined },
    edges: [
      [START, 'left'],
      [START, 'right'],
      [START, 'inside'],
      [['left', 'right', 'inside'], 'end'],
    ],
  }),
  {
    bodies: {
      left: async () => ({ log: `left ${interrupt('left?')}` }),
      right: async () => ({ log: `right ${interrupt('one?')} ${interrupt('two?')}` }),
      end: async () => ({ log: 'end' }),
    },
    subgraphs: [review],
  },
);
const INSIDE = '1.inside/2.ask:0';
const answeredHalf = async (stage: Stage): Promise<Stage> => {
  await stage.invoke();
  await stage.resume({ '1.left:0': 'L', '1.right:0': 'R', [INSIDE]: 'I' });
  expect(await stage.open()).toEqual(['1.inside/2.ask:1', '1.right:1']);
  return stage;
};

const history = [
  ...cases('history', desk, {
    'each superstep is a checkpoint, newest first, with what was asked in it': async (stage) => {
      await finished(stage);
      expect(await briefly(stage)).toEqual([
        ['', 'draft ask true publish 0', ''],
        ['publish', 'draft ask true', ''],
        ['ask', 'draft', ASK],
        ['draft', '', ''],
      ]);
    },
    'a checkpoint says when, of which run, and where in it': async (stage) => {
      await finished(stage);
      const all = await stage.history();
      const { runId } = (await stage.state()).metadata;
      expect(all.map(({ metadata }) => metadata.checkpoint)).toEqual(
        ['3.end', '3', '2', '1'].map((at) => `${runId}/${at}`),
      );
      expect(all.map(({ metadata: { step, source, threadId } }) => [step, source, threadId])).toEqual(
        [3, 3, 2, 1].map((step) => [step, 'history', stage.threadId]),
      );
      const times = all.map(({ metadata }) => Date.parse(metadata.createdAt ?? ''));
      expect([...times].sort((a, b) => b - a)).toEqual(times);
      expect(all.map(({ status }) => status)).toEqual(['done', 'running', 'waiting', 'running']);
    },
    'it reads the same twice, and ids stay': async (stage) => {
      await paused(stage);
      const first = await stage.history();
      expect(await stage.history()).toEqual(first);
      await stage.approve();
      expect((await stage.history()).slice(2)).toEqual(first);
    },
    'an update is a checkpoint of its own': async (stage) => {
      await paused(stage);
      await stage.update({ log: 'edited' });
      await stage.approve();
      expect(await briefly(stage)).toEqual([
        ['', 'draft edited ask true publish 0', ''],
        ['publish', 'draft edited ask true', ''],
        ['ask', 'draft edited', ASK],
        ['ask', 'draft', ASK],
        ['draft', '', ''],
      ]);
    },
    'an update beside an answer is one too, with nothing left to ask': async (stage) => {
      await paused(stage);
      await stage.command(true, { log: 'beside' });
      expect(await briefly(stage)).toEqual([
        ['', 'draft beside ask true publish 0', ''],
        ['publish', 'draft beside ask true', ''],
        ['ask', 'draft beside', ''],
        ['ask', 'draft', ASK],
        ['draft', '', ''],
      ]);
    },
    'an update that was refused is none': async (stage) => {
      await paused(stage);
      await refusal(() => stage.update({ n: 1 }, 'draft'));
      await refusal(() => stage.update({ n: 13 }, 'ask'));
      expect(await stage.history()).toHaveLength(2);
    },
    'an update as END is the last one': async (stage) => {
      await paused(stage);
      await stage.update({ log: 'enough' }, END);
      await stage.stop();
      expect((await briefly(stage)).slice(0, 2)).toEqual([
        ['', 'draft enough', ''],
        ['ask', 'draft', ASK],
      ]);
    },
    'runs that followed one another stand one after the other': async (stage) => {
      await finished(stage);
      await stage.invoke({ n: 2 });
      await stage.deny();
      const all = await stage.history();
      expect(all.map(brief)).toEqual([
        ['', 'draft ask true publish 0 draft ask false publish 2', ''],
        ['publish', 'draft ask true publish 0 draft ask false', ''],
        ['ask', 'draft ask true publish 0 draft', '6.ask:0'],
        ['draft', 'draft ask true publish 0', ''],
        ['', 'draft ask true publish 0', ''],
        ['publish', 'draft ask true', ''],
        ['ask', 'draft', ASK],
        ['draft', '', ''],
      ]);
      expect(new Set(all.map(({ metadata }) => metadata.runId)).size).toBe(2);
    },
    'a finished thread that was updated has that at the top': async (stage) => {
      await finished(stage);
      await stage.update({ log: 'later' });
      await stage.stop();
      expect((await briefly(stage)).slice(0, 2)).toEqual([
        ['', 'draft ask true publish 0 later', ''],
        ['', 'draft ask true publish 0', ''],
      ]);
    },
    'a failed run and its retry are told apart by their runs': async (stage) => {
      await failed(stage);
      await stage.carryOn();
      const all = await stage.history();
      expect(all.map(brief)).toEqual([
        ['', 'draft ask true publish 0', ''],
        ['publish', 'draft ask true', ''],
        ['publish', 'draft ask true', ''],
        ['ask', 'draft', ASK],
        ['draft', '', ''],
      ]);
      expect(all[1]?.metadata.runId).not.toBe(all[2]?.metadata.runId);
    },
    'a question that was asked again after its answer was sent back stands there once': async (stage) => {
      await paused(stage, { mode: 'twice' });
      await stage.resume('yes');
      expect((await stage.history())[0]?.interrupts.map(({ id }) => id)).toEqual([ASK, '2.ask:1']);
    },
    'a thread that runs has a history so far': async (stage) => {
      stage.latches.close('draft');
      await stage.start();
      await stage.latches.reached('draft');
      const seen = await briefly(stage);
      stage.latches.open('draft');
      expect(seen).toEqual([['draft', '', '']]);
      await stage.stop();
    },
    'an unknown thread has none': async (stage) => {
      expect((await refusal(() => stage.history())).code).toBe('THREAD_UNKNOWN');
    },
  }),
  ...cases('history', crowd, {
    'questions of one superstep stand in its checkpoint, also those of subgraphs': async (stage) => {
      await answeredHalf(stage);
      const [top] = await stage.history();
      expect(top?.interrupts.map(({ id }) => id).sort()).toEqual(
        ['1.left:0', '1.right:0', INSIDE, '1.right:1', '1.inside/2.ask:1'].sort(),
      );
      expect([...(top?.next ?? [])].sort()).toEqual(['inside', 'left', 'right']);
    },
  }),
  ...cases('history', held, {
    'a superstep that a breakpoint holds is a checkpoint that waits': async (stage) => {
      await stage.invoke();
      await stage.approve();
      expect(await briefly(stage)).toEqual([
        ['', 'a b 0 c', ''],
        ['c', 'a b 0', ''],
        ['b', 'a', '2.b:~before'],
        ['a', '', ''],
      ]);
    },
  }),
];

const forks = [
  ...cases('forks', desk, {
    'from a checkpoint a fork runs what comes after it, asks anew, and has no decision of the first': async (stage) => {
      await (await paused(stage)).approve({ by: 'ana', decisionId: 'd' });
      const checkpoint = await checkpointBefore(stage, 'ask');
      const fork = await stage.fork({ checkpoint });
      expect((await fork.stop()).__interrupt__).toEqual([{ id: ASK, value: 'publish?' }]);
      expect(await fork.thread().decisions()).toEqual([]);
      expect((await fork.state()).metadata.origin).toEqual({ threadId: stage.threadId, checkpoint });
      expect((await fork.deny({ decisionId: 'd' })).log).toEqual(['draft', 'ask false', 'publish 0']);
      expect(fork.notes()).toEqual(['ask', 'ask', 'publish']);
      expect((await stage.state()).values.log).toEqual(['draft', 'ask true', 'publish 0']);
    },
    'a fork can begin on the end: there is nothing to run': async (stage) => {
      await finished(stage);
      const fork = await stage.fork();
      expect((await fork.stop()).log).toEqual(['draft', 'ask true', 'publish 0']);
      expect(fork.notes()).toEqual([]);
      expect((await fork.state()).metadata.origin?.threadId).toBe(stage.threadId);
    },
    'a fork of what waits asks its own question, and the first one’s stays open': async (stage) => {
      await paused(stage);
      const fork = await stage.fork();
      await fork.stop();
      expect((await fork.approve()).log).toEqual(['draft', 'ask true', 'publish 0']);
      expect(await stage.open()).toEqual([ASK]);
      expect((await stage.deny()).log).toEqual(['draft', 'ask false', 'publish 0']);
    },
    'a fork of what runs runs it as well': async (stage) => {
      stage.latches.close('draft');
      await stage.start();
      await stage.latches.reached('draft');
      const fork = await stage.fork();
      expect((await fork.stop()).__interrupt__).toMatchObject([{ id: ASK }]);
      expect((await stage.state()).status).toBe('running');
      stage.latches.open('draft');
      expect((await stage.stop()).__interrupt__).toMatchObject([{ id: ASK }]);
    },
    'a fork of what failed tries again': async (stage) => {
      await failed(stage, { mode: 'dead' });
      const fork = await stage.fork({ update: { n: 1 } });
      expect((await fork.stop()).log).toEqual(['draft', 'ask true', 'publish 1']);
      expect((await stage.state()).status).toBe('failed');
    },
    'an update goes before what runs': async (stage) => {
      await finished(stage);
      const fork = await stage.fork({ checkpoint: await checkpointBefore(stage, 'publish'), update: { n: 9 } });
      expect((await fork.stop()).log).toEqual(['draft', 'ask true', 'publish 9']);
    },
    'as the node that waits an update stands in for it': async (stage) => {
      await paused(stage);
      const fork = await stage.fork({ update: { n: 9 }, asNode: 'ask' });
      expect((await fork.stop()).log).toEqual(['draft', 'publish 9']);
      expect(fork.notes()).toEqual(['publish']);
      expect(await stage.open()).toEqual([ASK]);
    },
    'a fork of a fork names the fork': async (stage) => {
      await paused(stage);
      const fork = await stage.fork({ update: { log: 'first' } });
      await fork.stop();
      const again = await fork.fork();
      await again.stop();
      expect((await again.state()).metadata.origin?.threadId).toBe(fork.threadId);
      expect((await again.approve()).log).toEqual(['draft', 'first', 'ask true', 'publish 0']);
    },
    'a fork has a history from where it began': async (stage) => {
      await finished(stage);
      const fork = await stage.fork({ checkpoint: await checkpointBefore(stage, 'ask'), update: { log: 'forked' } });
      await fork.stop();
      const all = await fork.history();
      expect(all.map(brief)).toEqual([['ask', 'draft forked', ASK]]);
      expect(all[0]?.metadata.origin?.threadId).toBe(stage.threadId);
    },
    'a finished fork takes new input like any thread': async (stage) => {
      await finished(stage);
      const fork = await stage.fork();
      await fork.stop();
      expect((await fork.invoke({ n: 3 })).__interrupt__).toMatchObject([{ id: '6.ask:0' }]);
    },
  }),
  ...casesOf(
    'forks',
    desk,
    [
      ['a key the state does not have', { update: { m: 1 } }, 'STATE_UNKNOWN_KEY'],
      ['a value that does not fit', { update: { n: 'x' } }, 'STATE_INVALID'],
      ['a node that is not there', { asNode: 'nobody' }, 'UNKNOWN_NODE'],
      ['a node that would drop what waits', { asNode: 'draft' }, 'STATE_UPDATE_CONFLICT'],
      ['an update that the router fails on', { update: { n: 13 }, asNode: 'ask' }, 'ROUTER_FAILED'],
      ['an unknown checkpoint', { checkpoint: 'none' }, 'CHECKPOINT_UNKNOWN'],
    ].map(([what, ...rest]) => [
      `a fork with ${what as string} is refused, and there is no thread of it`,
      ...rest,
    ]) as any,
    async (stage, options, code) => {
      await paused(stage);
      const threadId = `${stage.threadId}-none`;
      expect((await refusal(() => stage.fork({ threadId, ...options }))).code).toBe(code);
      expect((await refusal(() => stage.graphs.thread(stage.graph, threadId).getState())).code).toBe('THREAD_UNKNOWN');
    },
  ),
  ...cases('forks', desk, {
    'a fork onto a thread that is there is refused, and leaves it alone': async (stage) => {
      await paused(stage);
      expect((await refusal(() => stage.fork({ threadId: stage.threadId }))).code).toBe('THREAD_BUSY');
      const fork = await stage.fork();
      await fork.stop();
      await fork.approve();
      expect((await refusal(() => stage.fork())).code).toBe('THREAD_BUSY');
      expect((await fork.state()).status).toBe('done');
    },
    'a fork of a thread that is not there is refused': async (stage) => {
      expect((await refusal(() => stage.fork())).code).toBe('THREAD_UNKNOWN');
    },
    'each checkpoint can be forked from, and comes to the same': async (stage) => {
      await finished(stage);
      for (const [index, { metadata, next }] of (await stage.history()).entries()) {
        const fork = await stage.fork({
          checkpoint: metadata.checkpoint as string,
          threadId: `${stage.threadId}-${index}`,
        });
        if ('__interrupt__' in (await fork.stop())) await fork.approve();
        expect([next, (await fork.stop()).log]).toEqual([next, ['draft', 'ask true', 'publish 0']]);
      }
    },
  }),
  ...cases('forks', crowd, {
    'what was answered before an update is not taken along: every question is asked anew': async (stage) => {
      await answeredHalf(stage);
      await stage.update({ n: 1 });
      const fork = await stage.fork();
      await fork.stop();
      expect([...(await fork.open())].sort()).toEqual(['1.left:0', '1.right:0', INSIDE].sort());
      expect(await fork.thread().decisions()).toEqual([]);
      await fork.resume({ '1.left:0': 'l', '1.right:0': 'r', [INSIDE]: 'i' });
      const { log } = await fork.resume({ '1.right:1': 'rr', '1.inside/2.ask:1': 'ii' });
      expect(log).toEqual(['step', 'i ii', 'left l', 'right r rr', 'end']);
    },
    'what an update stood in for is': async (stage) => {
      await stage.invoke();
      await stage.update({ log: 'left by hand' }, 'left');
      const fork = await stage.fork();
      await fork.stop();
      expect([...(await fork.open())].sort()).toEqual(['1.right:0', INSIDE].sort());
    },
    'an update of what a subgraph is at work on is refused: it would be lost': async (stage) => {
      await answeredHalf(stage);
      expect(await refusal(() => stage.update({ log: 'edited' }))).toMatchObject({
        code: 'STATE_UPDATE_CONFLICT',
        message: expect.stringContaining('"inside"'),
      });
      expect(
        await refusal(() => stage.thread().approve({ question: '1.right:1', update: { log: 'x' } })),
      ).toMatchObject({
        code: 'STATE_UPDATE_CONFLICT',
      });
    },
    'a subgraph may be stood in for, though it waits deep inside': async (stage) => {
      await answeredHalf(stage);
      await stage.update({ log: 'inside by hand' }, 'inside');
      expect(await stage.open()).toEqual(['1.right:1']);
      const error = await refusal(() => stage.thread().approve({ question: '1.inside/2.ask:1' }));
      expect(error).toMatchObject({ code: 'QUESTION_SETTLED', message: expect.stringContaining('withdrawn') });
      expect((await stage.resume('rr')).log).toEqual(['inside by hand', 'left L', 'right R rr', 'end']);
    },
  }),
  ...cases('forks', held, {
    'a fork of what a breakpoint holds is held as well': async (stage) => {
      await stage.invoke();
      const fork = await stage.fork({ update: { n: 4 } });
      expect((await fork.stop()).__interrupt__).toMatchObject([{ id: '2.b:~before' }]);
      expect((await fork.carryOn()).log).toEqual(['a', 'b 4', 'c']);
      expect(await stage.open()).toEqual(['2.b:~before']);
    },
  }),
];

/** One that ends, one that asks, and one that fails the first time; then one that tells. */
const crew = scene(
  'outside_crew',
  () => ({
    state: { log: Log, mode },
    nodes: { good: undefined, bad: undefined, asks: undefined, slow: undefined, tell: undefined },
    edges: [
      [START, 'good'],
      [START, 'bad'],
      [START, 'asks'],
      [START, 'slow'],
      [['good', 'bad', 'asks', 'slow'], 'tell'],
    ],
    activity: ONCE,
  }),
  {
    bodies: {
      good: async () => {
        note('good');
        return { log: 'good' };
      },
      bad: async () => {
        note(`bad ${nodeContext().idempotencyKey}`);
        await latch('bad');
        if (timesNoted(`bad ${nodeContext().idempotencyKey}`) === 1) throw new Error('not yet');
        return { log: 'bad' };
      },
      asks: async () => {
        note('asks');
        return { log: `asks ${interrupt('well?')}` };
      },
      slow: async ({ mode }) => {
        note('slow');
        if (mode === 'slow') await latch('slow');
        return { log: 'slow' };
      },
      tell: async () => ({ log: 'told' }),
    },
  },
);
const crewFailed = async (stage: Stage, input: object = {}): Promise<void> => {
  stage.latches.close('bad');
  await stage.start(input);
  await stage.latches.reached('bad');
  await isNoted(stage, 'good', 'slow');
  await isOpen(stage, '1.asks:0');
  stage.latches.open('bad');
  await refusal(() => stage.stop());
};
const isOpen = (stage: Stage, id: string) => eventually(async () => expect(await stage.open()).toContain(id));
const isNoted = (stage: Stage, ...notes: string[]) =>
  eventually(() => expect(stage.notes()).toEqual(expect.arrayContaining(notes)));

const looping = scene('outside_looping', () => ({
  state: { n },
  nodes: { loop: inWorkflow(({ n }: any) => ({ n: n + 1 })) },
  edges: [[START, 'loop']],
  routers: [['loop', ({ n }) => (n < 6 ? 'loop' : END), ['loop', END]]],
  recursionLimit: 3,
}));
const frail = inner('outside_inner_frail', () => ({ nodes: ['first', 'second'], activity: ONCE }), {
  first: async () => {
    note('first');
    return { log: 'first' };
  },
  second: async () => {
    note('second');
    if (timesNoted('second') === 1) throw new Error('not yet');
    return { log: 'second' };
  },
});
const around = scene(
  'outside_around',
  () => ({
    nodes: { inside: frail.graph(), asks: undefined },
    edges: [
      [START, 'inside'],
      [START, 'asks'],
    ],
  }),
  { bodies: { asks: async () => ({ log: `asks ${interrupt('well?')}` }) }, subgraphs: [frail] },
);
const ticket = scene('outside_ticket', () => ({ nodes: ['buy'], activity: ONCE }), {
  bodies: {
    buy: async () => {
      const bought: number = await once('ticket', () => (note('ticket'), 7));
      const answer: string = interrupt('keep it?');
      note('told');
      if (timesNoted('told') === 1) throw new Error('not yet');
      return { log: `${bought} ${answer}` };
    },
  },
});
const never = scene('outside_never', () => ({
  nodes: { a: inWorkflow(() => ({})) },
  routers: [
    [
      START,
      () => {
        throw new TypeError('no way in');
      },
      ['a'],
    ],
  ],
}));

const retries = [
  ...cases('retries', desk, {
    'invoke with null takes a failed run up where it failed: finished nodes do not run again': async (stage) => {
      await failed(stage);
      expect((await stage.carryOn()).log).toEqual(['draft', 'ask true', 'publish 0']);
      expect(stage.notes()).toEqual(['draft', 'ask', 'ask', 'publish', 'publish']);
      expect((await stage.state()).status).toBe('done');
    },
    'a failed thread shows why it failed and what is left': async (stage) => {
      await failed(stage);
      const { status, next, metadata, interrupts } = await stage.state();
      expect([status, next, interrupts, metadata.error?.code]).toEqual(['failed', ['publish'], [], 'NODE_FAILED']);
      expect((await refusal(() => stage.thread().approve())).code).toBe('THREAD_FINISHED');
    },
    'a node that failed on an answer is asked anew': async (stage) => {
      await paused(stage);
      await refusal(() => stage.resume('bad'));
      expect((await stage.carryOn()).__interrupt__).toMatchObject([{ id: ASK, value: 'publish?' }]);
      expect((await stage.resume('good')).log).toEqual(['draft', 'ask good', 'publish 0']);
    },
    'the decisions before the failure are still on record': async (stage) => {
      await paused(stage);
      await refusal(() => stage.resume('bad', { by: 'ana' }));
      await stage.carryOn();
      await stage.resume('good', { by: 'bo' });
      expect((await stage.thread().decisions()).map(({ decision }) => decision.by)).toEqual(['ana', 'bo']);
    },
    'one that fails again can be retried again': async (stage) => {
      await failed(stage, { mode: 'dead' });
      for (let tries = 0; tries < 2; tries++) expect((await refusal(() => stage.carryOn())).code).toBe('NODE_FAILED');
      await stage.update({ n: 1 });
      expect((await stage.stop()).log).toEqual(['draft', 'ask true', 'publish 1']);
    },
    'a run that its router failed can be retried again and again': async (stage) => {
      await failed(stage, { n: 13 });
      for (let tries = 0; tries < 2; tries++) expect((await refusal(() => stage.carryOn())).code).toBe('ROUTER_FAILED');
      expect((await stage.state()).values).toEqual({ log: ['draft', 'ask true'], n: 13, mode: '' });
      await stage.update({ n: 1 });
      expect((await stage.stop()).log).toEqual(['draft', 'ask true', 'publish 1']);
    },
    'two who retry at once retry once': async (stage) => {
      await failed(stage);
      stage.latches.close('publish');
      const both = [stage.carryOn(), stage.carryOn()];
      await stage.latches.reached('publish');
      stage.latches.open('publish');
      expect((await Promise.all(both)).map(({ log }) => log.length)).toEqual([3, 3]);
      expect(stage.notes().filter((one) => one === 'publish')).toHaveLength(2);
    },
    'it shows an open question again, and answers nothing': async (stage) => {
      await paused(stage);
      expect((await stage.carryOn()).__interrupt__).toEqual([{ id: ASK, value: 'publish?' }]);
      expect(stage.notes()).toEqual(['draft', 'ask']);
    },
    'on a finished thread it gives the values, and nothing runs': async (stage) => {
      await finished(stage);
      const { metadata } = await stage.state();
      expect((await stage.carryOn()).log).toEqual(['draft', 'ask true', 'publish 0']);
      expect((await stage.state()).metadata.runId).toBe(metadata.runId);
    },
    'on a thread that runs it waits for the stop': async (stage) => {
      stage.latches.close('draft');
      await stage.start();
      await stage.latches.reached('draft');
      const waiting = stage.carryOn();
      stage.latches.open('draft');
      expect((await waiting).__interrupt__).toMatchObject([{ id: ASK }]);
      expect(stage.notes()).toEqual(['draft', 'ask']);
    },
    'on an unknown thread it is refused': async (stage) => {
      expect((await refusal(() => stage.carryOn())).code).toBe('THREAD_UNKNOWN');
    },
    'new input to a failed thread begins anew, on what it left': async (stage) => {
      await failed(stage, { mode: 'dead' });
      expect((await stage.invoke({ n: 1 })).__interrupt__).toMatchObject([{ id: '6.ask:0' }]);
      expect((await stage.approve()).log).toEqual(['draft', 'ask true', 'draft', 'ask true', 'publish 1']);
    },
  }),
  ...cases('retries', crew, {
    'siblings that have finished do not run again': async (stage) => {
      await crewFailed(stage);
      await stage.carryOn();
      expect(
        stage
          .notes()
          .filter((one) => one === 'good' || one === 'slow')
          .sort(),
      ).toEqual(['good', 'slow']);
    },
    'a sibling that waited still waits, and its node has not run again': async (stage) => {
      await crewFailed(stage);
      expect((await stage.carryOn()).__interrupt__).toMatchObject([{ id: '1.asks:0', value: 'well?' }]);
      expect(stage.notes().filter((one) => one === 'asks')).toHaveLength(1);
      expect((await stage.resume('fine')).log).toEqual(['asks fine', 'bad', 'good', 'slow', 'told']);
    },
    'the node that is tried again has the idempotency key it had': async (stage) => {
      await crewFailed(stage);
      await stage.carryOn();
      const keys = stage.notes().filter((one) => one.startsWith('bad'));
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(1);
    },
    'a sibling that was at work when the run failed is run again': async (stage) => {
      stage.latches.close('slow');
      stage.latches.close('bad');
      await stage.start({ mode: 'slow' });
      await stage.latches.reached('slow');
      await isNoted(stage, 'good');
      await isOpen(stage, '1.asks:0');
      stage.latches.open('bad');
      await refusal(() => stage.stop());
      stage.latches.open('slow');
      await stage.carryOn();
      expect((await stage.resume('fine')).log).toEqual(['asks fine', 'bad', 'good', 'slow', 'told']);
      expect(stage.notes().filter((one) => one === 'slow')).toHaveLength(2);
      expect(stage.notes().filter((one) => one === 'good')).toHaveLength(1);
    },
    'an answer to the sibling’s question, while the run has failed, is refused': async (stage) => {
      await crewFailed(stage);
      expect((await refusal(() => stage.thread().approve({ question: '1.asks:0' }))).code).toBe('THREAD_FINISHED');
      await stage.carryOn();
      expect(await stage.open()).toEqual(['1.asks:0']);
    },
  }),
  ...cases('retries', looping, {
    'beyond its recursion limit a run goes on when it is raised': async (stage) => {
      expect((await refusal(() => stage.invoke())).code).toBe('GRAPH_RECURSION_LIMIT');
      expect((await stage.carryOn({ recursionLimit: 10 })).n).toBe(6);
    },
    'under the same limit it goes that far again': async (stage) => {
      await refusal(() => stage.invoke());
      expect((await stage.carryOn()).n).toBe(6);
    },
  }),
  ...casesOf(
    'law 11',
    looping,
    [0, -1, 1.5, Number.NaN].map((limit) => [
      `a retry with a limit of ${limit} is refused before anything is started`,
      limit,
    ]),
    async (stage, recursionLimit) => {
      await refusal(() => stage.invoke());
      const before = await standing(stage);
      expect((await refusal(() => stage.carryOn({ recursionLimit }))).code).toBe('INVALID_OPTION');
      expect(await standing(stage)).toEqual(before);
    },
  ),
  ...cases('retries', around, {
    'inside a subgraph what has finished does not run again, and a sibling that waits is let be': async (stage) => {
      await refusal(() => stage.invoke());
      expect((await stage.state()).tasks.map(({ name }) => name)).toContain('inside/second');
      await stage.carryOn();
      expect((await stage.resume('fine', { node: 'asks' })).log).toEqual(['asks fine', 'first', 'second']);
      expect(stage.notes()).toEqual(['first', 'second', 'second']);
    },
  }),
  ...cases('retries', ticket, {
    'what once() recorded before the pause is not done again by a retry': async (stage) => {
      await stage.invoke();
      await refusal(() => stage.resume('yes'));
      await stage.carryOn();
      expect((await stage.resume('yes')).log).toEqual(['7 yes']);
      expect(stage.notes().filter((one) => one === 'ticket')).toHaveLength(1);
    },
  }),
  ...cases('retries', never, {
    'a run that failed before it began cannot be gone on with': async (stage) => {
      expect((await refusal(() => stage.invoke())).code).toBe('ROUTER_FAILED');
      expect((await refusal(() => stage.carryOn())).code).toBe('THREAD_FINISHED');
      expect((await refusal(() => stage.update({ log: 'x' }))).code).toBe('THREAD_FINISHED');
    },
  }),
];

const WAYS: readonly (readonly [string, (stage: Stage, update: Values) => Promise<Values>])[] = [
  ['a command', (stage, update) => stage.command(true, update)],
  ['an approval', (stage, update) => stage.approve({ update })],
  ['a resume', (stage, update) => stage.resume(true, { update })],
  ['an answer by id', (stage, update) => stage.resume(true, { update, question: ASK })],
  ['a map of answers', (stage, update) => stage.resume({ [ASK]: true }, { update })],
];
const beside = [
  ...casesOf(
    'L26',
    desk,
    WAYS.map(([how, answer]) => [`the update beside ${how} comes in with it`, answer]),
    async (stage, answer) => {
      await paused(stage);
      expect((await answer(stage, { n: 4, log: 'beside' })).log).toEqual(['draft', 'beside', 'ask true', 'publish 4']);
    },
  ),
  ...casesOf(
    'L26',
    desk,
    [
      ['does not fit', { n: 'x' }, 'STATE_INVALID'],
      ['has a key the state does not have', { m: 1 }, 'STATE_UNKNOWN_KEY'],
      ['cannot be carried', { n: Number.NaN }, 'DECISION_MALFORMED'],
      ['would be changed on the way', { mode: new Date(0) }, 'DECISION_MALFORMED'],
    ].map(([what, ...rest]) => [`an answer whose update ${what as string} is refused whole`, ...rest]) as any,
    async (stage, update, code) => {
      await paused(stage);
      const before = await standing(stage);
      expect((await refusal(() => stage.thread().approve({ update }))).code).toBe(code);
      expect(await standing(stage)).toEqual(before);
      expect((await stage.approve()).log).toEqual(['draft', 'ask true', 'publish 0']);
    },
  ),
  ...cases('L26', desk, {
    'the update of an answer that was sent twice comes in once': async (stage) => {
      await paused(stage, { mode: 'twice' });
      const decision = { decisionId: 'd', update: { log: 'noted' }, question: ASK };
      await stage.approve(decision);
      expect((await stage.thread().approve(decision)).kind).toBe('accepted');
      expect((await stage.approve()).log).toEqual(['draft', 'noted', 'ask true true', 'publish 0']);
    },
    'the update stays while the node asks on': async (stage) => {
      await paused(stage, { mode: 'twice' });
      await stage.resume('a', { update: { n: 4 } });
      expect((await stage.resume('b')).log).toEqual(['draft', 'ask a b', 'publish 4']);
    },
    'an answer ahead of its question may not bring one': async (stage) => {
      stage.latches.close('draft');
      await stage.start();
      await stage.latches.reached('draft');
      const { code } = await refusal(() => stage.thread().approve({ node: 'ask', update: { n: 1 } }));
      stage.latches.open('draft');
      expect(code).toBe('QUESTION_UNKNOWN');
      expect(await stage.stop()).toMatchObject({ n: 0 });
    },
    'a refused answer does not bring its update in': async (stage) => {
      await paused(stage);
      expect((await refusal(() => stage.thread().approve({ digest: 'other', update: { n: 1 } }))).code).toBe(
        'QUESTION_CHANGED',
      );
      expect((await stage.state()).values.n).toBe(0);
    },
    'a client’s command that goes somewhere is refused, and says what to use': async (stage) => {
      await paused(stage);
      const command = new Command({ resume: 1, goto: 'draft' });
      const call = () => stage.graphs.invoke(stage.graph, command, { threadId: stage.threadId });
      expect(await refusal(call)).toMatchObject({
        code: 'DECISION_MALFORMED',
        message: expect.stringContaining('updateState'),
      });
    },
  }),
];

export const outside = [...updates, ...shapes, ...history, ...forks, ...retries, ...beside];
