import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { GraphInterrupt, interrupt, nodeContext, once, rejectAnswer, START } from 'abeyance';
import { buildGraph } from './support/build-graph';
import { inMemory, openIds, resume, type MemoryRun } from './support/run-in-memory';

function asking(body: () => unknown): MemoryRun {
  const graph = buildGraph({ state: { answer: z.any() }, nodes: ['ask'] });
  return inMemory(graph, { ask: async () => ({ answer: await body() }) });
}

/** Runs what may throw and keeps the throw instead. */
function caught(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('a pause that a body swallows', () => {
  test('is a pause all the same, and what the body returned is dropped', async () => {
    const run = asking(() => {
      caught(() => interrupt('approve?'));
      return 'went on without approval';
    });
    const paused = await run.invoke();
    expect(paused.answer).toBeUndefined();
    expect(await openIds(run)).toEqual(['1.ask:0']);
  });

  test('stays a pause though the body throws afterwards', async () => {
    const run = asking(() => {
      caught(() => interrupt('approve?'));
      throw new Error('confused');
    });
    await run.invoke();
    expect((await run.thread().getState()).status).toBe('waiting');
  });

  test('throws what isGraphInterrupt knows: a GraphInterrupt', async () => {
    let thrown: unknown;
    await asking(() => void (thrown = caught(() => interrupt('?')))).invoke();
    expect(thrown).toBeInstanceOf(GraphInterrupt);
  });

  test('lets finally run on every pause', async () => {
    let finals = 0;
    const run = asking(() => {
      try {
        return interrupt('?');
      } finally {
        finals++;
      }
    });
    await run.invoke();
    await resume(run, true);
    expect(finals).toBe(2);
  });

  test.each<[string, () => unknown]>([
    ['interrupt', () => interrupt('next?')],
    ['once', () => once('effect', () => 'done')],
  ])('makes %s refuse for the rest of that attempt', async (_, word) => {
    let refusal: unknown;
    const run = asking(async () => {
      caught(() => interrupt('approve?'));
      await setImmediate();
      refusal ??= await (async () => word())().catch((error: unknown) => error);
    });
    await run.invoke();
    expect(refusal).toMatchObject({ code: 'ALREADY_PAUSED' });
    expect(await openIds(run)).toEqual(['1.ask:0']);
  });

  test('keeps once from running in the very same tick', async () => {
    const effect = jest.fn();
    const run = asking(async () => {
      caught(() => interrupt('approve?'));
      await once('effect', effect);
    });
    await run.invoke();
    expect(effect).not.toHaveBeenCalled();
  });
});

describe('once', () => {
  test('runs its effect one time, however often the body runs', async () => {
    const effect = jest.fn(() => 'ticket-1');
    const run = asking(async () => [await once('ticket', effect), interrupt('a?'), interrupt('b?')]);
    await run.invoke();
    await resume(run, 1);
    expect((await resume(run, 2)).answer).toEqual(['ticket-1', 1, 2]);
    expect(effect).toHaveBeenCalledTimes(1);
  });

  test('does not repeat its effect when the body fails and is tried again', async () => {
    const effect = jest.fn(() => 'ticket-1');
    const run = asking(async () => {
      const ticket = await once('ticket', effect);
      if (nodeContext().attempt < 3) throw new Error('not yet');
      return ticket;
    });
    expect((await run.invoke()).answer).toBe('ticket-1');
    expect(effect).toHaveBeenCalledTimes(1);
  });

  test('keeps an effect that was under way when another branch asked', async () => {
    const effect = jest.fn(() => Promise.resolve('ticket-1'));
    const run = asking(async () => {
      const [ticket, answer] = await Promise.all([once('ticket', effect), (async () => interrupt('?'))()]);
      return [ticket, answer];
    });
    await run.invoke();
    expect((await resume(run, 1)).answer).toEqual(['ticket-1', 1]);
    expect(effect).toHaveBeenCalledTimes(1);
  });

  test('runs one effect for all who call it under one key at once', async () => {
    const effect = jest.fn(() => Promise.resolve('ticket-1'));
    const run = asking(() => Promise.all([once('ticket', effect), once('ticket', effect)]));
    expect((await run.invoke()).answer).toEqual(['ticket-1', 'ticket-1']);
    expect(effect).toHaveBeenCalledTimes(1);
  });

  test('repeats an effect that failed', async () => {
    const effect = jest.fn().mockRejectedValueOnce(new Error('no luck')).mockResolvedValueOnce('ticket-2');
    expect((await asking(() => once('ticket', effect)).invoke()).answer).toBe('ticket-2');
  });

  test('keeps the results of different keys apart', async () => {
    const run = asking(async () => [await once('a', () => 1), await once('b', () => 2), interrupt('?')]);
    await run.invoke();
    expect((await resume(run, 3)).answer).toEqual([1, 2, 3]);
  });

  test.each([null, false, 0, '', [], {}])('remembers the result %j', async (result) => {
    const effect = jest.fn(() => result);
    const run = asking(async () => [await once('k', effect), interrupt('?')]);
    await run.invoke();
    expect((await resume(run, true)).answer).toEqual([result, true]);
    expect(effect).toHaveBeenCalledTimes(1);
  });

  test('remembers an effect without a result', async () => {
    const effect = jest.fn();
    const run = asking(async () => [await once('k', effect), interrupt('?')]);
    await run.invoke();
    expect((await resume(run, true)).answer).toEqual([null, true]);
    expect(effect).toHaveBeenCalledTimes(1);
  });

  test('gives the same result to every run of the body, whatever the body does to it', async () => {
    const run = asking(async () => {
      const ticket = await once('ticket', () => ({ seen: 0 }));
      ticket.seen++;
      return [ticket.seen, interrupt('a?'), interrupt('b?')];
    });
    await run.invoke();
    await resume(run, 1);
    expect((await resume(run, 2)).answer).toEqual([1, 1, 2]);
  });
});

describe('where no node is running', () => {
  test.each<[string, () => unknown]>([
    ['interrupt', () => interrupt('?')],
    ['rejectAnswer', () => rejectAnswer('no')],
    ['nodeContext', () => nodeContext()],
  ])('%s refuses', (_, word) => {
    expect(caught(word)).toMatchObject({ code: 'OUTSIDE_NODE' });
  });

  test('once refuses', async () => {
    await expect(once('k', () => 1)).rejects.toMatchObject({ code: 'OUTSIDE_NODE' });
  });

  test('a router that asks fails the run', async () => {
    const graph = buildGraph({ nodes: ['a'], edges: [[START, 'a']], routers: [['a', () => interrupt('where?')]] });
    await expect(inMemory(graph, { a: () => ({}) }).invoke()).rejects.toMatchObject({
      code: 'ROUTER_FAILED',
      message: expect.stringContaining('no node is running'),
    });
  });

  test('a call that comes after its body has ended is refused and harms nothing', async () => {
    let late!: Promise<unknown>;
    const run = asking(() => {
      late = setImmediate().then(() => caught(() => interrupt('too late?')));
      return 'ended';
    });
    expect((await run.invoke()).answer).toBe('ended');
    expect(await late).toMatchObject({ code: 'ALREADY_PAUSED' });
  });
});

test('a node knows where it runs', async () => {
  const run = asking(() => {
    const { signal, idempotencyKey, write: _, ...where } = nodeContext();
    return { ...where, aborted: signal.aborted, key: idempotencyKey.endsWith('/1.ask'), told: interrupt('?') };
  });
  await run.invoke();
  expect((await resume(run, 'yes')).answer).toEqual({
    threadId: 'thread',
    graph: 'test',
    node: 'ask',
    task: '1.ask',
    step: 1,
    visit: 2,
    attempt: 1,
    aborted: false,
    key: true,
    told: 'yes',
  });
});

test('the idempotency key is the same for every visit and attempt of a task, and no other’s', async () => {
  const keys: string[] = [];
  const graph = buildGraph({ nodes: ['a', 'b'] });
  const run = inMemory(graph, {
    a: () => {
      keys.push(nodeContext().idempotencyKey);
      interrupt('?');
      if (nodeContext().attempt === 1) throw new Error('once more');
    },
    b: () => void keys.push(nodeContext().idempotencyKey),
  });
  await run.invoke();
  await resume(run, true);
  expect(keys).toHaveLength(4);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0]);
});
