import { z } from 'zod';
import { interrupt, rejectAnswer } from 'abeyance';
import { answerMisfit, answerSchemaOf } from '../../src/graph/answer-schema';
import type { Json } from '../../src/graph/json';
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

  test('that cannot fit is refused before the node is asked', async () => {
    const run = count();
    await run.invoke();
    await expect(resume(run, 'no object')).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    await expect(run.thread().approve()).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    expect(await open(run)).toEqual([{ id: '1.ask:0' }]);
  });

  test('that does not fit is never stored: a good one is taken afterwards', async () => {
    const run = count();
    await run.invoke();
    await resume(run, { count: 'no number' });
    await resume(run, { count: 'none either' });
    expect((await resume(run, { count: 4 })).answer).toEqual({ count: 4 });
  });

  test('that does not fit asks again only its own of several questions', async () => {
    const run = asking(() =>
      Promise.all(['x', 'y'].map(async (key) => interrupt(key, { key, schema: z.coerce.number() }))),
    );
    await run.invoke();
    await resume(run, { '1.ask:x': 'bad', '1.ask:y': 2 });
    expect(await open(run)).toEqual([{ id: '1.ask:x', rejected: expect.any(String) }]);
    expect((await resume(run, 1)).answer).toEqual([1, 2]);
  });
});

describe('what the node would take is never refused before', () => {
  test.each<[string, z.ZodType, unknown]>([
    ['a pattern with flags', z.string().regex(/^y(es)?$/i), 'YES'],
    ['a text that is trimmed first', z.string().trim().regex(/^\d+$/), ' 42 '],
    ['a text that is lowered first', z.string().toLowerCase().regex(/^yes$/), 'YES'],
    ['an emoji', z.emoji(), '😀'],
    ['a coerced number', z.coerce.number(), '3'],
    ['a preprocessed value', z.preprocess((value) => Number(value), z.number()), '3'],
    ['a caught value', z.number().catch(1), 'none'],
    [
      'a date by codec',
      z.codec(z.iso.datetime(), z.date(), { decode: (t) => new Date(t), encode: (d) => d.toISOString() }),
      '2030-01-01T00:00:00Z',
    ],
    ['a record', z.record(z.string(), z.number()), { a: 1 }],
    ['a tuple', z.tuple([z.string(), z.number()]), ['a', 1]],
    ['a nullable union', z.union([z.literal('a'), z.number()]).nullable(), null],
    ['an url', z.url(), 'https://example.com'],
    ['an uuid', z.uuid(), '0190163d-8694-739b-aea5-966c26f8ad91'],
    ['a big number', z.number(), 1e300],
    ['a loose object', z.looseObject({ a: z.string() }), { a: 'x', b: 1 }],
  ])('%s', async (_, schema, answer) => {
    expect(schema.safeParse(answer).success).toBe(true);
    expect(answerMisfit(answerSchemaOf(schema), (answer ?? null) as Json)).toBeUndefined();
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

  test('sends back the answer it names, and keeps the others', async () => {
    const run = asking(() => {
      const count = interrupt('how many?', { key: 'count' });
      const address = interrupt('where to?', { key: 'address' });
      if (count > 3) rejectAnswer('only 3 left', { key: 'count' });
      return [count, address];
    });
    await run.invoke();
    await resume(run, 10);
    await resume(run, 'here');
    expect(await open(run)).toEqual([{ id: '1.ask:count', rejected: 'only 3 left' }]);
    expect((await resume(run, 2)).answer).toEqual([2, 'here']);
  });

  test('must name one where the body was given several, for it would send back the wrong one', async () => {
    const run = asking(() => {
      const count = interrupt('how many?', { key: 'count' });
      interrupt('where to?', { key: 'address' });
      if (count > 3) rejectAnswer('only 3 left');
    });
    await run.invoke();
    await resume(run, 10);
    await expect(resume(run, 'here')).rejects.toMatchObject({ code: 'REJECTION_AMBIGUOUS' });
  });

  test('is on record with the decision that gave the answer', async () => {
    const run = asking(() => {
      if (interrupt('how many?') > 3) rejectAnswer('only 3 left');
    });
    await run.invoke();
    await resume(run, 10);
    expect((await run.thread().decisions())[0]).toMatchObject({
      verdict: { kind: 'accepted' },
      sentBack: { question: '1.ask:0', reason: 'only 3 left' },
    });
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
