import { z } from 'zod';
import { interrupt, rejectAnswer } from 'abeyance';
import { buildGraph } from './support/build-graph';
import { inMemory, resume, type MemoryRun } from './support/run-in-memory';

function asking(body: () => unknown): MemoryRun {
  const graph = buildGraph({ state: { answer: z.any() }, nodes: ['ask'] });
  return inMemory(graph, { ask: async () => ({ answer: await body() }) });
}

async function open(run: MemoryRun): Promise<{ id: string; rejected?: string }[]> {
  return (await run.thread().getState()).interrupts.map(({ id, rejected }) => ({ id, ...(rejected && { rejected }) }));
}

describe('an answer to a question with a schema', () => {
  const count = (): MemoryRun =>
    asking(() => interrupt('how many?', { schema: z.object({ count: z.coerce.number() }) }));

  test('that fits is handed over as the schema reads it', async () => {
    const run = count();
    await run.invoke();
    expect((await resume(run, { count: '3' })).answer).toEqual({ count: 3 });
  });

  test('that does not fit opens the question again under its id, with the reason', async () => {
    const run = count();
    await run.invoke();
    await resume(run, { count: 'many' });
    expect(await open(run)).toEqual([{ id: '1.ask:0', rejected: expect.stringContaining('expected number') }]);
  });

  test('that does not fit is never stored: a good one is taken afterwards', async () => {
    const run = count();
    await run.invoke();
    await resume(run, 'no object');
    await resume(run, null);
    expect((await resume(run, { count: 4 })).answer).toEqual({ count: 4 });
  });

  test('that does not fit asks again only its own of several questions', async () => {
    const run = asking(() => Promise.all(['x', 'y'].map(async (key) => interrupt(key, { key, schema: z.number() }))));
    await run.invoke();
    await resume(run, { '1.ask:x': 'bad', '1.ask:y': 2 });
    expect(await open(run)).toEqual([{ id: '1.ask:x', rejected: expect.any(String) }]);
    expect((await resume(run, 1)).answer).toEqual([1, 2]);
  });
});

describe('rejectAnswer', () => {
  const stocked = (): MemoryRun =>
    asking(() => {
      const count = interrupt('how many?');
      if (count > 5) rejectAnswer('only 5 left');
      return count;
    });

  test('opens the question again, showing the reason', async () => {
    const run = stocked();
    await run.invoke();
    await resume(run, 9);
    expect(await open(run)).toEqual([{ id: '1.ask:0', rejected: 'only 5 left' }]);
  });

  test('lets the next answer through, and forgets the one it sent back', async () => {
    const run = stocked();
    await run.invoke();
    await resume(run, 9);
    await resume(run, 8);
    expect((await resume(run, 5)).answer).toBe(5);
  });

  test('speaks of the answer handed over last, and keeps those before', async () => {
    const run = asking(() => {
      const item = interrupt('what?');
      const count = interrupt('how many?');
      if (count > 5) rejectAnswer('too many');
      return [item, count];
    });
    await run.invoke();
    await resume(run, 'widgets');
    await resume(run, 9);
    expect(await open(run)).toEqual([{ id: '1.ask:1', rejected: 'too many' }]);
    expect((await resume(run, 1)).answer).toEqual(['widgets', 1]);
  });

  test('works though the body swallows what it throws', async () => {
    const run = asking(() => {
      try {
        if (interrupt('?') === 'bad') rejectAnswer('no');
      } catch {
        return 'swallowed';
      }
      return 'fine';
    });
    await run.invoke();
    await resume(run, 'bad');
    expect(await open(run)).toEqual([{ id: '1.ask:0', rejected: 'no' }]);
  });

  test('refuses where nothing has been answered', async () => {
    await expect(asking(() => rejectAnswer('no')).invoke()).rejects.toMatchObject({ code: 'OUTSIDE_NODE' });
  });

  test('leaves it to the one who answers last to have settled the question', async () => {
    const run = asking(() => {
      if (interrupt('first?') === 'bad') rejectAnswer('no');
      return interrupt('second?');
    });
    await run.invoke();
    await resume(run, 'bad', { by: 'ana' });
    await resume(run, 'good', { by: 'bo' });
    await expect(run.thread().resume('late', { question: '1.ask:0' })).rejects.toMatchObject({
      code: 'QUESTION_SETTLED',
      message: expect.stringContaining('answered by bo'),
    });
  });
});

test('any other error after a good answer is retried with the same answer, and then fails the run', async () => {
  const seen: unknown[] = [];
  const run = asking(() => {
    seen.push(interrupt('?'));
    throw new Error('broken');
  });
  await run.invoke();
  await run.thread().resume('yes');
  await expect(run.thread().untilStopped()).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'ask' });
  expect(seen).toEqual(['yes', 'yes', 'yes']);
});
