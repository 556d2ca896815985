import { z } from 'zod';
import { Command, interrupt, isInterrupted, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { latch, note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal, type Stage } from '../stage';

const story = scene(
  'threads_story',
  () => ({
    state: { log: Log, name: z.string().default('nobody'), answer: z.any() },
    nodes: ['begin', 'ask', 'end'],
  }),
  {
    bodies: {
      begin: async () => {
        note('begin');
        await latch('begin');
        return { log: 'begin' };
      },
      ask: async () => ({ answer: [interrupt('one?'), interrupt('two?')], log: 'ask' }),
      end: async () => ({ log: 'end' }),
    },
  },
);
const other = scene('threads_other', () => ({ state: { log: Log }, nodes: ['begin'] }), {
  bodies: { begin: async () => ({ log: 'other' }) },
});

async function finished(stage: Stage): Promise<void> {
  await stage.invoke();
  await stage.resume(1);
  await stage.resume(2);
}

const stages = cases('L05', story, {
  'while the first node runs, the state says so': async (stage) => {
    stage.latches.close('begin');
    const thread = await stage.start({ name: 'ana' });
    await stage.latches.reached('begin');
    expect(await stage.state()).toMatchObject({
      status: 'running',
      values: { name: 'ana', log: [] },
      next: ['begin'],
      tasks: [{ id: '1.begin', name: 'begin', visit: 1, status: 'running', interrupts: [] }],
      interrupts: [],
      metadata: { threadId: stage.threadId, graph: 'threads_story', step: 1, source: 'run', runId: expect.any(String) },
    });
    stage.latches.open('begin');
    await thread.untilStopped();
  },
  'while a node waits, the state names it and its question': async (stage) => {
    await stage.invoke();
    expect(await stage.state()).toMatchObject({
      status: 'waiting',
      values: { log: ['begin'] },
      next: ['ask'],
      tasks: [{ id: '2.ask', name: 'ask', visit: 1, status: 'waiting', interrupts: [{ id: '2.ask:0' }] }],
      interrupts: [{ id: '2.ask:0', node: 'ask', task: '2.ask', value: 'one?', kind: 'question' }],
      metadata: { step: 2 },
    });
  },
  'while it waits at its second question, the state names it still': async (stage) => {
    await stage.invoke();
    await stage.resume(1);
    expect(await stage.state()).toMatchObject({
      status: 'waiting',
      next: ['ask'],
      tasks: [{ id: '2.ask', visit: 2, status: 'waiting', interrupts: [{ id: '2.ask:1' }] }],
      interrupts: [{ id: '2.ask:1', value: 'two?' }],
    });
  },
  'when all is done, nothing is next': async (stage) => {
    await finished(stage);
    expect(await stage.state()).toEqual({
      status: 'done',
      values: { log: ['begin', 'ask', 'end'], name: 'nobody', answer: [1, 2] },
      next: [],
      tasks: [],
      interrupts: [],
      metadata: {
        threadId: stage.threadId,
        graph: 'threads_story',
        step: 3,
        source: 'result',
        runId: expect.any(String),
      },
    });
  },
});

const results = [
  ...cases('threads', story, {
    'a pause is returned with the values so far, and known by isInterrupted': async (stage) => {
      const paused = await stage.invoke({ name: 'ana' });
      expect(isInterrupted(paused)).toBe(true);
      expect(paused).toEqual({ log: ['begin'], name: 'ana', __interrupt__: [{ id: '2.ask:0', value: 'one?' }] });
    },
    'the end is returned with all values and no question': async (stage) => {
      await stage.invoke();
      await stage.resume(1);
      const ended = await stage.resume(2);
      expect(isInterrupted(ended)).toBe(false);
      expect(ended).toEqual({ log: ['begin', 'ask', 'end'], name: 'nobody', answer: [1, 2] });
    },
    'untilStopped at a pause returns it again': async (stage) => {
      const paused = await stage.invoke();
      expect([await stage.stop(), await stage.stop()]).toEqual([paused, paused]);
    },
    'untilStopped after the end returns the end again': async (stage) => {
      await finished(stage);
      const values = { log: ['begin', 'ask', 'end'], name: 'nobody', answer: [1, 2] };
      expect([await stage.stop(), await stage.stop()]).toEqual([values, values]);
    },
    'several may wait for one stop': async (stage) => {
      stage.latches.close('begin');
      const thread = await stage.start();
      const waiting = [thread.untilStopped(), stage.stop(), stage.stop()];
      await stage.latches.reached('begin');
      stage.latches.open('begin');
      const [first, ...more] = await Promise.all(waiting);
      expect(more).toEqual([first, first]);
    },
    'start returns before the first node has ended': async (stage) => {
      stage.latches.close('begin');
      const thread = await stage.start();
      expect(thread.id).toBe(stage.threadId);
      expect((await thread.getState()).status).toBe('running');
      stage.latches.open('begin');
      await thread.untilStopped();
    },
    'a thread is known by its id alone': async (stage) => {
      await stage.invoke();
      const thread = stage.graphs.thread(stage.threadId);
      expect(await thread.getState()).toMatchObject({ status: 'waiting', values: { log: ['begin'] } });
      await thread.resume(1);
      expect(await thread.untilStopped()).toMatchObject({ __interrupt__: [{ id: '2.ask:1' }] });
    },
    'a run without a thread id gets one of its own': async (stage) => {
      const [one, two] = [await stage.graphs.start(stage.graph, {}), await stage.graphs.start(stage.graph, {})];
      expect(one.id).not.toBe(two.id);
      await Promise.all([one.untilStopped(), two.untilStopped()]);
    },
    'two threads of one graph do not mix': async (stage) => {
      const second = `${stage.threadId}-second`;
      await stage.invoke({ name: 'ana' });
      await stage.graphs.invoke(stage.graph, { name: 'bo' }, { threadId: second });
      await stage.graphs.thread(stage.graph, second).resume(1);
      await stage.graphs.thread(stage.graph, second).untilStopped();
      expect(await stage.state()).toMatchObject({ values: { name: 'ana' }, interrupts: [{ id: '2.ask:0' }] });
    },
  }),
];

const busy = [
  ...casesOf(
    'threads',
    story,
    [
      ['invoke', (stage: Stage) => stage.invoke({ name: 'new' })],
      ['start', (stage: Stage) => stage.start({ name: 'new' })],
    ].map(([word, call]) => [`${word as string} on a thread that waits is refused, and its question stays open`, call]),
    async (stage, call) => {
      await stage.invoke({ name: 'ana' });
      expect(await refusal(() => call(stage))).toMatchObject({ code: 'THREAD_BUSY', threadId: stage.threadId });
      expect(await stage.state()).toMatchObject({ values: { name: 'ana' }, interrupts: [{ id: '2.ask:0' }] });
      expect(stage.notes()).toEqual(['begin']);
    },
  ),
  ...casesOf(
    'threads',
    story,
    [
      ['invoke', (stage: Stage) => stage.invoke({ name: 'new' })],
      ['start', (stage: Stage) => stage.start({ name: 'new' })],
    ].map(([word, call]) => [`${word as string} on a thread that runs is refused, and it runs on`, call]),
    async (stage, call) => {
      stage.latches.close('begin');
      const thread = await stage.start({ name: 'ana' });
      await stage.latches.reached('begin');
      expect(await refusal(() => call(stage))).toMatchObject({ code: 'THREAD_BUSY' });
      stage.latches.open('begin');
      expect(await thread.untilStopped()).toMatchObject({ name: 'ana' });
    },
  ),
  ...cases('threads', story, {
    'a bare answer to a thread that runs is refused': async (stage) => {
      stage.latches.close('begin');
      const thread = await stage.start();
      await stage.latches.reached('begin');
      expect(await refusal(() => thread.resume('x'))).toMatchObject({ code: 'NOTHING_PENDING' });
      stage.latches.open('begin');
      await thread.untilStopped();
    },
  }),
];

const again = [
  ...cases('threads', story, {
    'a finished thread takes input again, and goes on with its values': async (stage) => {
      await finished(stage);
      const { log, name, answer } = await stage.invoke({ name: 'bo' });
      expect([log, name, answer]).toEqual([['begin', 'ask', 'end', 'begin'], 'bo', [1, 2]]);
    },
    'its steps count on, so that no question id comes twice': async (stage) => {
      await finished(stage);
      await stage.invoke();
      expect(await stage.open()).toEqual(['6.ask:0']);
    },
    'an answer to the earlier run’s question is refused': async (stage) => {
      await finished(stage);
      await stage.invoke();
      expect((await refusal(() => stage.thread().resume('x', { question: '2.ask:0' }))).code).toBe('QUESTION_UNKNOWN');
      expect(await stage.open()).toEqual(['6.ask:0']);
    },
    'the new run is one of its own, with no decisions yet': async (stage) => {
      await finished(stage);
      const { runId } = (await stage.state()).metadata;
      await stage.invoke();
      expect((await stage.state()).metadata.runId).not.toBe(runId);
      expect(await stage.thread().decisions()).toEqual([]);
    },
    'decision ids of the earlier run are free again': async (stage) => {
      await stage.invoke();
      await stage.resume(1, { decisionId: 'd' });
      await stage.resume(2);
      await stage.invoke();
      expect(await stage.thread().resume('other', { decisionId: 'd' })).toMatchObject({ kind: 'accepted' });
    },
    'the decisions of a finished run can still be read': async (stage) => {
      await finished(stage);
      expect(await stage.verdicts()).toEqual(['resume accepted', 'resume accepted']);
    },
    'three runs on one thread carry the values on': async (stage) => {
      for (const run of [1, 2, 3]) {
        await finished(stage);
        expect((await stage.state()).values.log).toHaveLength(3 * run);
      }
    },
  }),
];

const strangers: readonly (readonly [string, (stage: Stage) => unknown])[] = [
  ['invoke', (stage) => stage.graphs.invoke(other.graph(), {}, { threadId: stage.threadId })],
  ['start', (stage) => stage.graphs.start(other.graph(), {}, { threadId: stage.threadId })],
  [
    'a command',
    (stage) => stage.graphs.invoke(other.graph(), new Command({ resume: 1 }), { threadId: stage.threadId }),
  ],
  ['approve', (stage) => stage.graphs.thread(other.graph(), stage.threadId).approve()],
  ['deny by id', (stage) => stage.graphs.thread(other.graph(), stage.threadId).deny({ question: '2.ask:0' })],
  ['resume by node', (stage) => stage.graphs.thread(other.graph(), stage.threadId).resume(1, { node: 'ask' })],
  ['getState', (stage) => stage.graphs.thread(other.graph(), stage.threadId).getState()],
  ['decisions', (stage) => stage.graphs.thread(other.graph(), stage.threadId).decisions()],
  ['untilStopped', (stage) => stage.graphs.thread(other.graph(), stage.threadId).untilStopped()],
];
const others = [
  ...casesOf(
    'threads',
    story,
    strangers.map(([word, call]) => [`${word} for another graph on a thread that waits is refused, naming both`, call]),
    async (stage, call) => {
      await stage.invoke();
      const error = await refusal(() => call(stage));
      expect(error).toMatchObject({ code: 'THREAD_OF_OTHER_GRAPH', threadId: stage.threadId });
      expect(error.message).toContain('runs graph "threads_story", not "threads_other"');
      expect(await stage.open()).toEqual(['2.ask:0']);
    },
  ),
  ...casesOf(
    'threads',
    story,
    strangers
      .filter(([word]) => ['invoke', 'a command', 'getState'].includes(word))
      .map(([word, call]) => [`${word} for another graph on a finished thread is refused`, call]),
    async (stage, call) => {
      await finished(stage);
      expect((await refusal(() => call(stage))).code).toBe('THREAD_OF_OTHER_GRAPH');
    },
  ),
  ...cases('threads', other, {
    'a graph without a question ends in one call': async (stage) => {
      expect(await stage.invoke()).toEqual({ log: ['other'] });
    },
  }),
  ...casesOf(
    'threads',
    story,
    [
      ['getState', (stage: Stage) => stage.thread().getState()],
      ['decisions', (stage: Stage) => stage.thread().decisions()],
      ['untilStopped', (stage: Stage) => stage.thread().untilStopped()],
      ['getState without a graph', (stage: Stage) => stage.graphs.thread(stage.threadId).getState()],
    ].map(([word, call]) => [`${word as string} of a thread that never was says that it is unknown`, call]),
    async (stage, call) => {
      expect(await refusal(() => call(stage))).toMatchObject({ code: 'THREAD_UNKNOWN', threadId: stage.threadId });
    },
  ),
  ...cases('threads', story, {
    'a command without a thread is refused': async (stage) => {
      const sent = (): unknown => stage.graphs.invoke(stage.graph, new Command({ resume: 1 }));
      expect(await refusal(sent)).toMatchObject({ code: 'THREAD_UNKNOWN' });
    },
  }),
];

const impure = scene(
  'threads_impure',
  () => ({
    state: { seen: Log },
    nodes: ['ask', 'again'],
    edges: [
      [START, 'ask'],
      ['ask', 'again'],
    ],
  }),
  {
    bodies: {
      ask: async () => {
        note([Date.now(), Math.random(), globalThis.crypto.randomUUID()].join(' '));
        return { seen: String(interrupt('q?')) };
      },
      again: async () => ({ seen: [String(Math.random() < 2), String(Date.now() > 0)] }),
    },
  },
);
const replayed = cases('T16', impure, {
  'a body may use clock and chance: each run of it is on record, and the history replays': async (stage) => {
    await stage.invoke();
    expect((await stage.resume('y')).seen).toEqual(['y', 'true', 'true']);
    expect(new Set(stage.notes()).size).toBe(2);
  },
});

export const threads = [...stages, ...results, ...busy, ...again, ...others, ...replayed];
