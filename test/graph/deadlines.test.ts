import { z } from 'zod';
import { interrupt, rejectAnswer, type ApprovalDecision, type InterruptOptions } from 'abeyance';
import { GraphEngine } from '../../src/graph/engine';
import { buildGraph } from './support/build-graph';
import { call, mailDesk } from './support/mail-desk';
import { inMemory, openIds, type MemoryRun } from './support/run-in-memory';

const NOW = new Date('2026-01-01T12:00:00.000Z');

beforeEach(() => jest.useFakeTimers({ now: NOW }));
afterEach(() => jest.useRealTimers());

const HOUR = 3_600_000;

/** A node that asks once, and what it was told. */
function asking(options: InterruptOptions<any>, body: (answer: any) => void = () => undefined) {
  const told: unknown[] = [];
  const ask = (): object => {
    const answer: unknown = interrupt('go on?', options);
    body(answer);
    told.push(answer);
    return { told: answer };
  };
  const graph = buildGraph({ state: { told: z.any() }, nodes: ['ask'] });
  return { ...inMemory(graph, { ask }), told };
}

async function expiryOf(run: MemoryRun): Promise<string | undefined> {
  return (await run.thread().getState()).interrupts[0]?.expiresAt;
}

describe('a question with a deadline', () => {
  test.each<[string | number, string]>([
    ['1 hour', '2026-01-01T13:00:00.000Z'],
    ['1.5h', '2026-01-01T13:30:00.000Z'],
    [250, '2026-01-01T12:00:00.250Z'],
    ['30 days', '2026-01-31T12:00:00.000Z'],
  ])('of %s shows when it expires', async (deadline, expiresAt) => {
    const run = asking({ deadline: deadline as '1 hour', otherwise: null });
    const paused = await run.invoke();
    expect(await expiryOf(run)).toBe(expiresAt);
    expect(paused.__interrupt__).toMatchObject([{ id: '1.ask:0', expiresAt }]);
  });

  test('is answered like any other before it', async () => {
    const run = asking({ deadline: '1 hour', otherwise: 'nobody' });
    await run.invoke();
    await jest.advanceTimersByTimeAsync(HOUR - 1);
    await run.thread().resume('ana');
    await run.thread().untilStopped();
    await jest.advanceTimersByTimeAsync(HOUR);
    expect(run.told).toEqual(['ana']);
  });

  test.each([null, false, 0, '', 'nobody', { none: true }])(
    'that passes is answered %j where it says so',
    async (otherwise) => {
      const run = asking({ deadline: '1 hour', otherwise });
      await run.invoke();
      await jest.advanceTimersByTimeAsync(HOUR);
      await run.thread().untilStopped();
      expect(run.told).toEqual([otherwise]);
    },
  );

  test('that passes is answered as its schema reads that', async () => {
    const run = asking({ deadline: '1 hour', otherwise: '5', schema: z.coerce.number() });
    await run.invoke();
    await jest.advanceTimersByTimeAsync(HOUR);
    await run.thread().untilStopped();
    expect(run.told).toEqual([5]);
  });

  test('that passes fails the node where nothing else is said, and it is not tried again', async () => {
    let attempts = 0;
    const ask = (): void => {
      attempts += 1;
      interrupt('go on?', { deadline: '1 hour' });
    };
    const run = inMemory(buildGraph({ nodes: ['ask'] }), { ask });
    await run.invoke();
    await jest.advanceTimersByTimeAsync(HOUR);
    await expect(run.thread().untilStopped()).rejects.toMatchObject({
      code: 'QUESTION_EXPIRED',
      message: expect.stringContaining('1.ask:0 expired at 2026-01-01T13:00:00.000Z'),
    });
    expect(attempts).toBe(2);
  });

  test('that passes is a decision of its own on record', async () => {
    const run = asking({ deadline: '1 hour', otherwise: null });
    await run.invoke();
    await jest.advanceTimersByTimeAsync(HOUR);
    const due = '2026-01-01T13:00:00.000Z';
    expect(await run.thread().decisions()).toEqual([
      {
        decision: { type: 'expire', question: '1.ask:0', due, via: 'deadline' },
        digest: expect.any(String),
        verdict: { kind: 'accepted', questions: ['1.ask:0'] },
        at: due,
      },
    ]);
  });

  test('refuses who comes after it, and says when it expired', async () => {
    const first = { question: '1.ask:0', by: 'ana' };
    const ask = (): void => {
      interrupt('first?', { deadline: '1 hour', otherwise: null });
      interrupt('second?');
    };
    const run = inMemory(buildGraph({ nodes: ['ask'] }), { ask });
    await run.invoke();
    await jest.advanceTimersByTimeAsync(HOUR);
    await run.thread().untilStopped();
    await expect(run.thread().approve(first)).rejects.toMatchObject({
      code: 'QUESTION_SETTLED',
      message: expect.stringContaining('expired at 2026-01-01T13:00:00.000Z'),
    });
    expect(await openIds(run)).toEqual(['1.ask:1']);
  });

  test('refuses who comes after it also where its timer is late', async () => {
    const run = asking({ deadline: '1 hour', otherwise: 'nobody' });
    await run.invoke();
    jest.setSystemTime(NOW.getTime() + HOUR + 1);
    await expect(run.thread().approve({ question: '1.ask:0' })).rejects.toMatchObject({ code: 'QUESTION_SETTLED' });
    await run.thread().untilStopped();
    expect(run.told).toEqual(['nobody']);
  });

  test('keeps it when an answer is sent back', async () => {
    const run = asking({ deadline: '1 hour', otherwise: 'nobody' }, (answer) => {
      if (answer === 'hm') rejectAnswer('say yes or no');
    });
    await run.invoke();
    await jest.advanceTimersByTimeAsync(HOUR / 2);
    await run.thread().resume('hm');
    await run.thread().untilStopped();
    expect(await expiryOf(run)).toBe('2026-01-01T13:00:00.000Z');
    await jest.advanceTimersByTimeAsync(HOUR / 2);
    await run.thread().untilStopped();
    expect(run.told).toEqual(['nobody']);
  });

  test('fails where the node sends back what it is answered then, instead of expiring for ever', async () => {
    const run = asking({ deadline: '1 hour', otherwise: 'nobody' }, () => rejectAnswer('not that'));
    await run.invoke();
    await jest.advanceTimersByTimeAsync(HOUR);
    await expect(run.thread().untilStopped()).rejects.toMatchObject({ code: 'QUESTION_EXPIRED' });
  });

  test('waits its time though that is longer than a timer of Node', async () => {
    const run = asking({ deadline: '60 days', otherwise: 'nobody' });
    await run.invoke();
    await jest.advanceTimersByTimeAsync(59 * 24 * HOUR);
    expect(await openIds(run)).toEqual(['1.ask:0']);
    await jest.advanceTimersByTimeAsync(24 * HOUR);
    expect(run.told).toEqual(['nobody']);
  });

  test.each<[string, object]>([
    ['a deadline that is none', { deadline: 'soon' }],
    ['a deadline in the past', { deadline: -1 }],
    ['a deadline beyond all measure', { deadline: Number.MAX_VALUE }],
    ['an answer for a deadline there is not', { otherwise: 1 }],
    ['an answer that does not fit its own schema', { deadline: 1, otherwise: 'x', schema: z.number() }],
    ['an answer of its own for an approval', { deadline: 1, otherwise: true, approval: true }],
    ['an answer too large to be carried', { deadline: 1, otherwise: 'x'.repeat(9_000) }],
  ])('cannot have %s', async (_, options) => {
    await expect(asking(options).invoke()).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  test('cannot have an answer that is no JSON', async () => {
    await expect(asking({ deadline: 1, otherwise: new Date() }).invoke()).rejects.toMatchObject({
      code: 'STATE_NOT_JSON',
    });
  });
});

test('the engine expires every question whose time is up, and tells which is next', () => {
  const graph = buildGraph({ nodes: ['ask'] });
  const engine = GraphEngine.start(graph, {});
  engine.take();
  const question = (id: string, deadline?: number) => ({
    id,
    kind: 'question' as const,
    value: id,
    digest: id,
    deadline,
  });
  const questions = [
    question('1.ask:a', 2000),
    question('1.ask:b', 1000),
    question('1.ask:c'),
    question('1.ask:d', 9000),
  ];
  engine.settle('1.ask', { kind: 'interrupted', questions, once: {} }, NOW.toISOString());
  expect(engine.nextExpiry()).toBe('2026-01-01T12:00:01.000Z');
  const restored = GraphEngine.restore(graph, engine.snapshot());
  restored.expire('2026-01-01T12:00:02.000Z');
  expect(restored.questions().map(({ id }) => id)).toEqual(['1.ask:c', '1.ask:d']);
  expect(restored.nextExpiry()).toBe('2026-01-01T12:00:09.000Z');
});

test("an approval of a node's own is told that nobody decided", async () => {
  const told: ApprovalDecision[] = [];
  const ask = (): void => void told.push(interrupt('may I?', { approval: true, deadline: '1 hour' }));
  const run = inMemory(buildGraph({ nodes: ['ask'] }), { ask });
  await run.invoke();
  await jest.advanceTimersByTimeAsync(HOUR);
  await run.thread().untilStopped();
  expect(told).toEqual([{ type: 'timeout' }]);
});

test('a gate does not run what nobody decided in time, and the model is told that, not that somebody denied it', async () => {
  const desk = mailDesk({ policy: { send_mail: { deadline: '1 hour' }, read_file: false } });
  await desk.ask(
    call('c1', 'send_mail', { to: 'ana' }),
    call('c2', 'read_file', { path: '/' }),
    call('c3', 'delete_file', { path: '/' }),
  );
  await jest.advanceTimersByTimeAsync(HOUR);
  expect(await openIds(desk)).toEqual(['1.gate:call:c3']);
  await desk.thread().approve();
  await desk.thread().untilStopped();
  expect(await desk.told()).toEqual([
    ['c1', 'not run: nobody decided in time', 'error'],
    ['c2', 'read /', 'success'],
    ['c3', 'deleted /', 'success'],
  ]);
});
