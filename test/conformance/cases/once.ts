import { z } from 'zod';
import { interrupt, nodeContext, once as runOnce, rejectAnswer, Send, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { note, timesNoted } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

/** An effect that leaves a note. */
function effect<T>(result: T, name = 'effect'): () => T {
  return () => {
    note(name);
    return result;
  };
}

const RESULTS: Readonly<Record<string, unknown>> = {
  false: false,
  zero: 0,
  'an empty text': '',
  'an empty list': [],
  'an empty object': {},
  null: null,
  nothing: undefined,
};

const BODIES: Readonly<Record<string, () => unknown>> = {
  'before a question': async () => [await runOnce('t', effect('ticket')), interrupt('q?')],
  'before two questions': async () => [await runOnce('t', effect('ticket')), interrupt('a?'), interrupt('b?')],
  'between two questions': async () => {
    const first = interrupt('a?');
    return [first, await runOnce('t', effect('ticket')), interrupt('b?')];
  },
  'after the question': async () => [interrupt('q?'), await runOnce('t', effect('ticket'))],
  'before an error': async () => {
    const ticket = await runOnce('t', effect('ticket'));
    if (nodeContext().attempt < 3) throw new Error('not yet');
    return ticket;
  },
  'before a question and an error': async () => {
    const ticket = await runOnce('t', effect('ticket'));
    const answer = interrupt('q?');
    if (nodeContext().attempt < 2) throw new Error('not yet');
    return [ticket, answer];
  },
  'a failing effect': async () =>
    runOnce('t', () => {
      note('effect');
      if (timesNoted('effect') < 3) throw new Error('no luck');
      return 'third time';
    }),
  'two keys': async () => [await runOnce('a', effect(1, 'a')), await runOnce('b', effect(2, 'b')), interrupt('q?')],
  'one key twice': async () => [await runOnce('t', effect(1)), await runOnce('t', effect(2)), interrupt('q?')],
  'one key at once': async () => Promise.all([runOnce('t', slowly), runOnce('t', slowly), runOnce('t', slowly)]),
  'in flight while another asks': async () => Promise.all([runOnce('t', slowly), (async () => interrupt('q?'))()]),
  'a changed result': async () => {
    const ticket = await runOnce('t', effect({ seen: 0 }));
    ticket.seen += 1;
    return [ticket.seen, interrupt('a?'), interrupt('b?')];
  },
  'before a rejection': async () => {
    const ticket = await runOnce('t', effect('ticket'));
    const answer = interrupt('q?');
    if (answer === 'bad') rejectAnswer('no');
    return [ticket, answer];
  },
  'a Date': async () => runOnce('t', effect(new Date(0))),
  'a BigInt': async () => runOnce('t', effect(10n)),
  'too much': async () => runOnce('t', effect('x'.repeat(1_000_001))),
  'too much together': async () => {
    await runOnce('a', () => 'x'.repeat(600_000));
    return runOnce('b', () => 'x'.repeat(600_000));
  },
  'after a swallowed pause': async () => {
    swallow(() => interrupt('q?'));
    await runOnce('t', effect('ticket')).catch((error: { code?: string }) => note(String(error.code)));
    return 'went on';
  },
};

async function slowly(): Promise<string> {
  note('effect');
  await Promise.resolve();
  return 'slow ticket';
}

function swallow(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

const errand = scene('once_errand', () => ({ state: { how: z.string(), result: z.any() }, nodes: ['run', 'next'] }), {
  bodies: {
    run: async ({ how }) => {
      note('body');
      if (how in RESULTS) return { result: [await runOnce('t', effect(RESULTS[how])), interrupt('q?')] };
      return { result: await BODIES[how]?.() };
    },
    next: async ({ how, result }) =>
      how === 'before a question' ? { result: [...result, await runOnce('t', effect('next ticket'))] } : {},
  },
});

const effects = [
  ...casesOf(
    'L15',
    errand,
    [
      ['before a question', ['y'], ['ticket', 'y', 'next ticket'], 2],
      ['before two questions', ['y', 'z'], ['ticket', 'y', 'z'], 1],
      ['between two questions', ['y', 'z'], ['y', 'ticket', 'z'], 1],
      ['after the question', ['y'], ['y', 'ticket'], 1],
      ['before an error', [], 'ticket', 1],
      ['before a question and an error', ['y'], ['ticket', 'y'], 1],
      ['one key at once', [], ['slow ticket', 'slow ticket', 'slow ticket'], 1],
      ['one key twice', ['y'], [1, 1, 'y'], 1],
      ['in flight while another asks', ['y'], ['slow ticket', 'y'], 1],
      ['a changed result', ['y', 'z'], [1, 'y', 'z'], 1],
      ['before a rejection', ['bad', 'good'], ['ticket', 'good'], 1],
      ['a failing effect', [], 'third time', 3],
    ].map(([how, answers, result, times]) => [
      `once runs its effect as often as it must: ${how as string}`,
      how,
      answers,
      result,
      times,
    ]),
    async (stage, how, answers, result, times) => {
      let values = await stage.invoke({ how });
      for (const answer of answers) values = await stage.resume(answer);
      expect(values.result).toEqual(result);
      expect(stage.notes().filter((what) => what === 'effect')).toHaveLength(times);
    },
  ),
  ...casesOf(
    'law 2',
    errand,
    Object.entries(RESULTS).map(([how, result]) => [`once remembers a result that is ${how}`, how, result ?? null]),
    async (stage, how, result) => {
      await stage.invoke({ how });
      expect((await stage.resume('y')).result).toEqual([result, 'y']);
      expect(stage.notes().filter((what) => what === 'effect')).toHaveLength(1);
    },
  ),
  ...cases('law 2', errand, {
    'once keeps the results of two keys apart': async (stage) => {
      await stage.invoke({ how: 'two keys' });
      expect((await stage.resume('y')).result).toEqual([1, 2, 'y']);
      expect(stage.notes().filter((what) => what === 'a' || what === 'b')).toEqual(['a', 'b']);
    },
    'once in the next run of the thread is another task’s, and runs': async (stage) => {
      await stage.invoke({ how: 'null' });
      await stage.resume('y');
      await stage.invoke({ how: 'null' });
      await stage.resume('y');
      expect(stage.notes().filter((what) => what === 'effect')).toHaveLength(2);
    },
  }),
  ...casesOf(
    'law 12',
    errand,
    [
      ['a Date', 'STATE_NOT_JSON', 'once("t")'],
      ['a BigInt', 'STATE_NOT_JSON', 'once("t")'],
      ['too much', 'STATE_TOO_LARGE', '1 MB'],
      ['too much together', 'STATE_TOO_LARGE', 'once("b")'],
    ].map(([how, ...rest]) => [
      `a result of once that cannot be recorded fails the run: ${how as string}`,
      how,
      ...rest,
    ]),
    async (stage, how, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ how }));
      expect(error).toMatchObject({ code, message: expect.stringContaining(mentioned) });
      expect(stage.notes().filter((what) => what === 'body')).toHaveLength(1);
    },
  ),
  ...cases('law 8', errand, {
    'once refuses after a swallowed pause, and its effect does not run': async (stage) => {
      expect((await stage.invoke({ how: 'after a swallowed pause' })).__interrupt__).toHaveLength(1);
      expect(stage.notes()).toEqual(['body', 'ALREADY_PAUSED']);
    },
  }),
];

const SWALLOWING: Readonly<Record<string, () => unknown>> = {
  'a catch that goes on': () => {
    swallow(() => interrupt('q?'));
    return 'went on without approval';
  },
  'a catch that throws something else': () => {
    try {
      return interrupt('q?');
    } catch {
      throw new Error('confused');
    }
  },
  'a catch that asks on': () => {
    swallow(() => interrupt('q?'));
    swallow(() => interrupt('another?'));
    return 'went on';
  },
  'a catch on a promise': async () => (async () => interrupt('q?'))().catch(() => 'went on'),
  allSettled: async () => (await Promise.allSettled([(async () => interrupt('q?'))()])).length,
  'a race that another wins': async () => Promise.race([(async () => interrupt('q?'))(), Promise.resolve('won')]),
  'a throw before the question is awaited': async () => {
    const asked = (async () => interrupt('q?'))();
    asked.catch(() => undefined);
    throw new Error('confused');
  },
};
const swallowing = scene(
  'once_swallowing',
  () => ({ state: { how: z.string(), result: z.any().default('none') }, nodes: ['ask', 'after'] }),
  {
    bodies: {
      ask: async ({ how }) => {
        if (how === 'asks later') {
          swallow(() => interrupt('q?'));
          await Promise.resolve();
          await Promise.resolve();
          note(String((swallow(() => interrupt('too late?')) as { code?: string }).code));
          return {};
        }
        return { result: await SWALLOWING[how]?.() };
      },
      after: async () => {
        note('after');
        return {};
      },
    },
  },
);
const swallowed = [
  ...casesOf(
    'law 8',
    swallowing,
    Object.keys(SWALLOWING).map((how) => [`${how} does not keep the node from pausing`, how]),
    async (stage, how) => {
      const paused = await stage.invoke({ how });
      expect(paused.result).toBe('none');
      expect(paused.__interrupt__[0]).toEqual({ id: '1.ask:0', value: 'q?' });
      expect(stage.notes()).toEqual([]);
      expect(await stage.state()).toMatchObject({ status: 'waiting', next: ['ask'] });
    },
  ),
  ...cases('law 8', swallowing, {
    'a question that is asked after a swallowed pause is refused, and does not open': async (stage) => {
      await stage.invoke({ how: 'asks later' });
      expect(stage.notes()).toEqual(['ALREADY_PAUSED']);
      expect(await stage.open()).toEqual(['1.ask:0']);
    },
    'a body that swallowed its pause goes on when it has its answer': async (stage) => {
      await stage.invoke({ how: 'a catch on a promise' });
      expect((await stage.resume('yes')).result).toBe('yes');
    },
  }),
];

const where = scene(
  'once_where',
  () => ({
    state: { seen: Log },
    nodes: ['first', 'send', 'last'],
    edges: [
      [START, 'first'],
      ['send', 'last'],
    ],
    routers: [['first', () => [new Send('send', 0), new Send('send', 1)], ['send']]],
  }),
  {
    bodies: {
      first: async () => {
        look();
        if (nodeContext().attempt === 1) throw new Error('once more');
        return { seen: `answer ${interrupt('q?')}` };
      },
      send: async () => look(),
      last: async () => look(),
    },
  },
);

/** Writes down where the body runs. */
function look(): object {
  const { threadId, graph, node, task, step, visit, attempt, idempotencyKey, signal } = nodeContext();
  const key = idempotencyKey.startsWith(`${threadId}/`) && idempotencyKey.endsWith(`/${task}`) ? 'key' : 'bad key';
  note(JSON.stringify([graph, node, task, step, visit, attempt, key, signal.aborted]));
  note(`key ${idempotencyKey}`);
  return {};
}

const contexts = [
  ...cases('law 2', where, {
    'a body is told graph, node, task, step, visit and attempt': async (stage) => {
      await stage.invoke();
      await stage.resume('y');
      const seen = stage.notes().filter((what) => what.startsWith('['));
      expect(seen.map((line) => JSON.parse(line))).toEqual(
        expect.arrayContaining([
          ['once_where', 'first', '1.first', 1, 1, 1, 'key', false],
          ['once_where', 'first', '1.first', 1, 1, 2, 'key', false],
          ['once_where', 'first', '1.first', 1, 2, 1, 'key', false],
          ['once_where', 'first', '1.first', 1, 2, 2, 'key', false],
          ['once_where', 'send', '2.send.0', 2, 1, 1, 'key', false],
          ['once_where', 'send', '2.send.1', 2, 1, 1, 'key', false],
          ['once_where', 'last', '3.last', 3, 1, 1, 'key', false],
        ]),
      );
      expect(seen).toHaveLength(7);
    },
    'the idempotency key is one for all visits and attempts of a task, and no other’s': async (stage) => {
      await stage.invoke();
      await stage.resume('y');
      const keys = stage.notes().filter((what) => what.startsWith('key '));
      expect(new Set(keys).size).toBe(4);
      expect(new Set(keys.slice(0, 4)).size).toBe(1);
    },
    'the idempotency key of the next run is another': async (stage) => {
      await stage.invoke();
      await stage.resume('y');
      await stage.invoke();
      await stage.resume('y');
      expect(new Set(stage.notes().filter((what) => what.startsWith('key '))).size).toBe(8);
    },
  }),
];

export const once = [...effects, ...swallowed, ...contexts];
