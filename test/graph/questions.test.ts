import { z } from 'zod';
import { interrupt, isInterrupted, nodeContext, type Question } from 'abeyance';
import { buildGraph } from './support/build-graph';
import { inMemory, openIds, resume, type MemoryRun } from './support/run-in-memory';

/** A graph of one node, `ask`, that keeps what its body returns. */
function asking(body: () => unknown): MemoryRun {
  const graph = buildGraph({ state: { answer: z.any() }, nodes: ['ask'] });
  return inMemory(graph, { ask: async () => ({ answer: await body() }) });
}

describe('interrupt', () => {
  test('returns the run to its caller with the question and the values so far', async () => {
    const paused = await asking(() => interrupt({ question: 'approve?' })).invoke({ answer: 'none yet' });
    expect(isInterrupted(paused)).toBe(true);
    expect(paused).toEqual({
      answer: 'none yet',
      __interrupt__: [{ id: '1.ask:0', value: { question: 'approve?' } }],
    });
  });

  test('shows the waiting task and its question in the state', async () => {
    const run = asking(() => interrupt('?'));
    await run.invoke();
    const { next, tasks, interrupts, status } = await run.thread().getState();
    expect({ next, status }).toEqual({ next: ['ask'], status: 'waiting' });
    expect(interrupts).toEqual([
      expect.objectContaining({ id: '1.ask:0', node: 'ask', task: '1.ask', value: '?', kind: 'question' }),
    ]);
    expect(tasks).toEqual([{ id: '1.ask', name: 'ask', visit: 1, status: 'waiting', interrupts }]);
  });

  test.each([false, 0, '', [], {}, null, true, 'yes', { by: 'hand' }])(
    'hands over the answer %j as it is',
    async (answer) => {
      const run = asking(() => interrupt('?'));
      await run.invoke();
      expect(await resume(run, answer)).toStrictEqual({ answer });
    },
  );

  test('hands over no answer as null', async () => {
    const run = asking(() => interrupt('?'));
    await run.invoke();
    expect(await resume(run, undefined)).toStrictEqual({ answer: null });
  });

  test('hands over a copy, so that a body that changes it changes nothing on record', async () => {
    const run = asking(() => {
      const list = interrupt('a list?');
      list.push('more');
      return [list, interrupt('sure?')];
    });
    await run.invoke();
    await resume(run, ['first']);
    expect((await resume(run, true)).answer).toEqual([['first', 'more'], true]);
  });

  test('runs the body again from its top for every answer', async () => {
    let runs = 0;
    const run = asking(() => {
      runs++;
      return [interrupt('first?'), interrupt('second?')];
    });
    await run.invoke();
    await resume(run, 1);
    await resume(run, 2);
    expect(runs).toBe(3);
  });

  test('asks several questions of one node one by one, each under its own id', async () => {
    const run = asking(() => [interrupt('first?'), interrupt('second?'), interrupt('third?')]);
    const asked = [await run.invoke(), await resume(run, 'a'), await resume(run, 'b')];
    expect(asked.flatMap((paused) => paused.__interrupt__)).toEqual([
      { id: '1.ask:0', value: 'first?' },
      { id: '1.ask:1', value: 'second?' },
      { id: '1.ask:2', value: 'third?' },
    ]);
    expect((await resume(run, 'c')).answer).toEqual(['a', 'b', 'c']);
  });

  test('tells questions of the same words apart by their place', async () => {
    const run = asking(() => [interrupt('?'), interrupt('?')]);
    await run.invoke();
    await resume(run, 'a');
    expect((await resume(run, 'b')).answer).toEqual(['a', 'b']);
  });

  test('shows the schema of the answer to whoever answers', async () => {
    const run = asking(() => interrupt('?', { schema: z.object({ count: z.number() }) }));
    await run.invoke();
    expect((await run.thread().getState()).interrupts[0]?.schema).toMatchObject({
      type: 'object',
      properties: { count: { type: 'number' } },
    });
  });
});

describe('a key', () => {
  test('names the question within its node', async () => {
    const run = asking(() => interrupt('?', { key: 'budget' }));
    await run.invoke();
    expect(await openIds(run)).toEqual(['1.ask:budget']);
  });

  test('keeps an answer with its question though the order of questions changes', async () => {
    const run = asking(async () => {
      const ask = (key: string): unknown => interrupt(`${key}?`, { key });
      if (nodeContext().visit === 1) return { a: ask('a'), b: ask('b') };
      const b = ask('b');
      return { a: ask('a'), b };
    });
    await run.invoke();
    await resume(run, 'for a');
    expect((await resume(run, 'for b')).answer).toEqual({ a: 'for a', b: 'for b' });
  });

  test('that is used twice is refused, for one answer would serve for two questions', async () => {
    const run = asking(() => [interrupt('a?', { key: 'k' }), interrupt('b?', { key: 'k' })]);
    await run.invoke();
    await run.thread().resume(true);
    await expect(run.thread().untilStopped()).rejects.toMatchObject({ code: 'DUPLICATE_KEY' });
  });

  test.each(['', '7', 'two words', 'a~2', 'x'.repeat(201)])('may not be %j', async (key) => {
    await expect(asking(() => interrupt('?', { key })).invoke()).rejects.toMatchObject({ code: 'INVALID_NAME' });
  });
});

describe('a question that changes between two runs of its body', () => {
  const changing = (): MemoryRun => {
    let price = 100;
    return asking(() => [interrupt({ price: price++ }, { key: 'price' })]);
  };

  test('is a new question, and the old answer is not handed over', async () => {
    const run = changing();
    await run.invoke();
    const again = await resume(run, 'yes to 100');
    expect(again.__interrupt__).toEqual([{ id: '1.ask:price~2', value: { price: 101 } }]);
  });

  test('gets a further revision with every change', async () => {
    const run = changing();
    await run.invoke();
    await resume(run, true);
    await resume(run, true);
    expect(await openIds(run)).toEqual(['1.ask:price~3']);
  });

  test('finds its old answer when it changes back', async () => {
    const prices = [100, 101, 100];
    const run = asking(() => interrupt({ price: prices.shift() }));
    await run.invoke();
    await resume(run, 'yes to 100');
    expect((await resume(run, 'yes to 101')).answer).toBe('yes to 100');
  });

  test.each<[string, () => unknown]>([
    ['its schema', () => interrupt('?', { schema: nodeContext().visit === 1 ? z.string() : z.number() })],
    ['its kind', () => interrupt('?', { approval: (nodeContext().visit > 1) as true })],
  ])('also where only %s has changed', async (_, body) => {
    const run = asking(body);
    await run.invoke();
    await resume(run, 'x');
    expect(await openIds(run)).toEqual(['1.ask:0~2']);
  });
});

describe('questions asked in one tick by the branches of a Promise.all', () => {
  const branching = (): MemoryRun =>
    asking(() => Promise.all(['x', 'y'].map(async (key) => `${key}=${interrupt(`${key}?`, { key })}`)));

  test('come up together', async () => {
    const run = branching();
    await run.invoke();
    expect(await openIds(run)).toEqual(['1.ask:x', '1.ask:y']);
  });

  test('may be answered by a map', async () => {
    const run = branching();
    await run.invoke();
    expect((await resume(run, { '1.ask:y': 2, '1.ask:x': 1 })).answer).toEqual(['x=1', 'y=2']);
  });

  test('may be answered in any order, and the body runs again when all are', async () => {
    const run = branching();
    await run.invoke();
    const between = await resume(run, 2, { question: '1.ask:y' });
    expect(between.__interrupt__.map(({ id }: Question) => id)).toEqual(['1.ask:x']);
    expect((await resume(run, 1)).answer).toEqual(['x=1', 'y=2']);
  });
});
