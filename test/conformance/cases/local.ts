import { z } from 'zod';
import { interrupt, nodeContext, once, rejectAnswer, Send, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { note } from '../backstage';
import { cases } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

// The SDK keeps the timer of a failed attempt, and complains of it should its worker stop before that fires.
const LOCAL = { run: 'local', activity: { startToCloseTimeout: '500 ms' } } as const;

const asking = scene(
  'local_asking',
  () => ({
    state: { log: Log, answer: z.any().optional() },
    nodes: { begin: LOCAL, ask: LOCAL, end: LOCAL },
  }),
  {
    bodies: {
      begin: async () => (note('begin'), { log: 'begin' }),
      ask: async () => {
        note('ask');
        const ticket = await once('ticket', () => (note('ticket'), 'ticket'));
        const answer = interrupt('go?');
        if (answer === 'bad') rejectAnswer('not that');
        return { answer, log: ticket };
      },
      end: async () => (note('end'), { log: 'end' }),
    },
  },
);
const asked = cases('local nodes', asking, {
  'a local node that asked runs again from its top with its answer, and what is in once() and before it does not':
    async (stage) => {
      expect(await stage.invoke()).toMatchObject({ log: ['begin'], __interrupt__: [{ id: '2.ask:0', value: 'go?' }] });
      expect(await stage.resume(false)).toEqual({ answer: false, log: ['begin', 'ticket', 'end'] });
      expect(stage.notes()).toEqual(['begin', 'ask', 'ticket', 'ask', 'end']);
    },
  'a local node may send its answer back': async (stage) => {
    await stage.invoke();
    expect(await stage.resume('bad')).toMatchObject({ __interrupt__: [{ id: '2.ask:0' }] });
    expect(await stage.resume('good')).toMatchObject({ answer: 'good' });
    expect(stage.notes().filter((one) => one === 'ticket')).toHaveLength(1);
  },
});

const many = scene(
  'local_many',
  () => ({
    nodes: { begin: undefined, work: LOCAL },
    state: { log: Log },
    edges: [[START, 'begin']],
    routers: [['begin', () => [2, 1, 3].map((n) => new Send('work', n)), ['work']]],
  }),
  { bodies: { begin: async () => ({}), work: async (n: number) => ({ log: String(n) }) } },
);
const abreast = cases('local nodes', many, {
  'Sends to a local node are applied in the order they were made': async (stage) => {
    expect(await stage.invoke()).toEqual({ log: ['2', '1', '3'] });
  },
});

const failing = scene(
  'local_failing',
  () => ({
    state: { log: Log, fail: z.number().default(0) },
    nodes: { begin: LOCAL, act: { ...LOCAL, activity: { ...LOCAL.activity, retry: { initialInterval: 1 } } } },
  }),
  {
    bodies: {
      begin: async () => (note('begin'), { log: 'begin' }),
      act: async ({ fail }: { readonly fail: number }) => {
        note(nodeContext().idempotencyKey);
        if (nodeContext().attempt <= fail) throw new Error('not yet');
        return { log: `attempt ${nodeContext().attempt}` };
      },
    },
  },
);
const failed = cases('local nodes', failing, {
  'a local node that throws is tried again, under the same idempotency key': async (stage) => {
    expect(await stage.invoke({ fail: 2 })).toMatchObject({ log: ['begin', 'attempt 3'] });
    const [, ...keys] = stage.notes();
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  },
  'one that throws to the last attempt fails the run, and a retry begins with it': async (stage) => {
    const error = await refusal(() => stage.invoke({ fail: 3 }));
    expect(error).toMatchObject({ code: 'NODE_FAILED', node: 'act' });
    expect(await refusal(() => stage.carryOn())).toMatchObject({ code: 'NODE_FAILED' });
    expect(stage.notes().filter((one) => one === 'begin')).toHaveLength(1);
  },
});

export const local = [...asked, ...abreast, ...failed];
