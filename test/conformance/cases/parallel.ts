import { z } from 'zod';
import { inWorkflow, interrupt, Send, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { eventually } from '../../support/eventually';
import { latch, note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

const gates = scene(
  'parallel_gates',
  () => ({
    state: { log: Log, after: z.any() },
    nodes: { a: undefined, b: undefined, c: inWorkflow(() => ({ log: `c ${interrupt('c?')}` })), end: undefined },
    edges: [
      [START, 'a'],
      [START, 'b'],
      [START, 'c'],
      [['a', 'b', 'c'], 'end'],
    ],
  }),
  {
    bodies: {
      a: async () => {
        note('a');
        return { log: `a ${interrupt('a?')}` };
      },
      b: async () => {
        note('b');
        return { log: `b ${interrupt('b?')}` };
      },
      end: async ({ log }) => ({ after: log }),
    },
  },
);

const ORDERS = ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'];

const together = [
  ...casesOf(
    'law 4',
    gates,
    ORDERS.map((order) => [`parallel questions may be answered in the order ${[...order].join(', ')}`, [...order]]),
    async (stage, order) => {
      await stage.invoke();
      for (const node of order) await stage.resume(`by ${node}`, { question: `1.${node}:0` });
      expect((await stage.state()).values.after).toEqual(['a by a', 'b by b', 'c by c']);
    },
  ),
  ...casesOf(
    'law 4',
    gates,
    ORDERS.slice(0, 3).map((order) => [
      `a map may answer all at once, written in the order ${[...order].join(', ')}`,
      [...order],
    ]),
    async (stage, order) => {
      await stage.invoke();
      const map = Object.fromEntries(order.map((node: string) => [`1.${node}:0`, `by ${node}`]));
      expect((await stage.resume(map)).after).toEqual(['a by a', 'b by b', 'c by c']);
    },
  ),
  ...cases('law 4', gates, {
    'parallel questions are all shown, in the order of their nodes': async (stage) => {
      expect((await stage.invoke()).__interrupt__.map(({ id }: any) => id)).toEqual(['1.a:0', '1.b:0', '1.c:0']);
    },
    'a map may answer some, and the others stay open': async (stage) => {
      await stage.invoke();
      await stage.resume({ '1.a:0': 1, '1.c:0': 3 });
      expect(await stage.open()).toEqual(['1.b:0']);
    },
    'the answered one runs at once, and the unanswered one does not run again': async (stage) => {
      await stage.invoke();
      await stage.resume(1, { question: '1.a:0' });
      expect(stage.notes().filter((what) => what === 'a')).toHaveLength(2);
      expect(stage.notes().filter((what) => what === 'b')).toHaveLength(1);
    },
    'what the answered one wrote shows, and the next superstep waits for the others': async (stage) => {
      await stage.invoke();
      const { log, after } = await stage.resume(1, { question: '1.a:0' });
      expect([log, after]).toEqual([['a 1'], undefined]);
      expect(await stage.state()).toMatchObject({ next: ['b', 'c'], metadata: { step: 1 } });
    },
    'a bare question may be answered bare once it is the only one': async (stage) => {
      await stage.invoke();
      await stage.resume({ '1.a:0': 1, '1.b:0': 2 });
      expect((await stage.resume(3)).after).toEqual(['a 1', 'b 2', 'c 3']);
    },
    'an answer by node goes to that node': async (stage) => {
      await stage.invoke();
      await stage.resume(1, { node: 'b' });
      expect(await stage.open()).toEqual(['1.a:0', '1.c:0']);
    },
  }),
  ...cases('L10', gates, {
    'one bare answer to several open questions is refused, and names them': async (stage) => {
      await stage.invoke();
      const error = await refusal(() => stage.thread().resume('yes'));
      expect(error).toMatchObject({ code: 'ANSWER_AMBIGUOUS' });
      expect(error.open).toEqual([
        { id: '1.a:0', node: 'a', value: 'a?' },
        { id: '1.b:0', node: 'b', value: 'b?' },
        { id: '1.c:0', node: 'c', value: 'c?' },
      ]);
      expect(await stage.open()).toHaveLength(3);
    },
    'so is a bare approval': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.thread().approve())).code).toBe('ANSWER_AMBIGUOUS');
      expect(await stage.open()).toHaveLength(3);
    },
    'so is a bare denial': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.thread().deny())).code).toBe('ANSWER_AMBIGUOUS');
      expect(await stage.open()).toHaveLength(3);
    },
    'so is a bare command': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.command('yes'))).code).toBe('ANSWER_AMBIGUOUS');
      expect(stage.notes()).toHaveLength(2);
    },
  }),
];

const slow = scene(
  'parallel_slow',
  () => ({
    state: { log: Log, fail: z.boolean().default(false) },
    nodes: ['ask', 'slow', 'after'],
    edges: [
      [START, 'ask'],
      [START, 'slow'],
      ['ask', 'after'],
      ['slow', 'after'],
    ],
  }),
  {
    bodies: {
      ask: async () => {
        note('ask');
        return { log: `ask ${interrupt('ask?')}` };
      },
      slow: async ({ fail }) => {
        note('slow');
        await latch('slow');
        if (fail) throw new Error('slow failed');
        return { log: 'slow' };
      },
      after: async () => ({ log: 'after' }),
    },
  },
);

/** Starts, and waits until the question is open while the slow sibling runs. */
async function asking(stage: any, input: object = {}): Promise<any> {
  stage.latches.close('slow');
  const thread = await stage.start(input);
  await stage.latches.reached('slow');
  await eventually(async () => expect((await thread.getState()).interrupts).toHaveLength(1));
  return thread;
}

const uneven = [
  ...cases('law 4', slow, {
    'a question is open while a sibling still runs': async (stage) => {
      const thread = await asking(stage);
      expect(await thread.getState()).toMatchObject({
        status: 'running',
        next: ['ask', 'slow'],
        tasks: [
          { id: '1.ask', status: 'waiting' },
          { id: '1.slow', status: 'running' },
        ],
      });
      stage.latches.open('slow');
      await thread.untilStopped();
      expect(await stage.open()).toEqual(['1.ask:0']);
    },
    'it may be answered while a sibling still runs, which is kept and not run again': async (stage) => {
      const thread = await asking(stage);
      await thread.resume('early', { question: '1.ask:0' });
      await eventually(async () => expect((await thread.getState()).values.log).toEqual(['ask early']));
      stage.latches.open('slow');
      expect((await thread.untilStopped()).log).toEqual(['ask early', 'slow', 'after']);
      expect(stage.notes().filter((what) => what === 'slow')).toHaveLength(1);
    },
    'a sibling that has finished is not run again by a resume': async (stage) => {
      await stage.invoke();
      await stage.resume('late');
      expect(stage.notes().filter((what) => what === 'slow')).toHaveLength(1);
    },
    'a sibling that fails ends the run, and the question is open no more': async (stage) => {
      const error = await refusal(() => stage.invoke({ fail: true }));
      expect(error).toMatchObject({ code: 'NODE_FAILED', node: 'slow' });
      expect(await stage.state()).toMatchObject({ status: 'failed', interrupts: [] });
      expect((await refusal(() => stage.thread().resume(1, { question: '1.ask:0' }))).code).toBe('THREAD_FINISHED');
    },
  }),
];

const sends = scene(
  'parallel_sends',
  () => ({
    state: { log: Log },
    nodes: ['work', 'end'],
    edges: [['work', 'end']],
    routers: [[START, () => [0, 1, 2].map((n) => new Send('work', { n })), ['work']]],
  }),
  {
    bodies: {
      work: async ({ n }: any) => {
        note(`work ${n}`);
        const first = interrupt(`first of ${n}?`);
        const second = n === 1 ? interrupt(`second of ${n}?`) : '';
        return { log: `${n}:${first}${second}` };
      },
      end: async ({ log }) => ({ log: `end after ${log.length}` }),
    },
  },
);
const sent = cases('law 4', sends, {
  'Sends that ask wait each for its own answer, and are applied by their number': async (stage) => {
    await stage.invoke();
    await stage.resume('c', { question: '1.work.2:0' });
    await stage.resume('b', { question: '1.work.1:0' });
    await stage.resume('B', { question: '1.work.1:1' });
    expect((await stage.resume('a')).log).toEqual(['0:a', '1:bB', '2:c', 'end after 3']);
  },
  'a Send that asks a second time does not rerun the others': async (stage) => {
    await stage.invoke();
    await stage.resume('b', { question: '1.work.1:0' });
    expect(await stage.open()).toEqual(['1.work.0:0', '1.work.1:1', '1.work.2:0']);
    expect(stage.notes().filter((what) => what === 'work 0')).toHaveLength(1);
  },
  'an answer by node is refused while several of its tasks wait': async (stage) => {
    await stage.invoke();
    const error = await refusal(() => stage.thread().resume('x', { node: 'work' }));
    expect(error).toMatchObject({ code: 'ANSWER_AMBIGUOUS', message: expect.stringContaining('"work"') });
    expect(await stage.open()).toHaveLength(3);
  },
  'a map may answer one task’s first and leave its second': async (stage) => {
    await stage.invoke();
    await stage.resume({ '1.work.0:0': 'a', '1.work.1:0': 'b', '1.work.2:0': 'c' });
    expect(await stage.open()).toEqual(['1.work.1:1']);
    expect((await stage.state()).next).toEqual(['work']);
  },
});

export const parallel = [...together, ...uneven, ...sent];
