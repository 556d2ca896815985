import { z } from 'zod';
import { interrupt, type ApprovalDecision } from 'abeyance';
import { buildGraph } from './support/build-graph';
import { inMemory, openIds, type MemoryRun } from './support/run-in-memory';

/** A node that asks, and what it was told in the end. */
async function told(
  ask: () => unknown,
  answer: (thread: ReturnType<MemoryRun['thread']>) => Promise<unknown>,
): Promise<unknown> {
  const run = inMemory(buildGraph({ state: { told: z.any() }, nodes: ['ask'] }), { ask: () => ({ told: ask() }) });
  await run.invoke();
  await answer(run.thread());
  return (await run.thread().untilStopped()).told;
}

describe('a plain question', () => {
  const ask = (): unknown => interrupt('go on?');

  test('reads approve as true', async () => {
    expect(await told(ask, (thread) => thread.approve({ by: 'ana', note: 'fine' }))).toBe(true);
  });

  test('reads deny as false', async () => {
    expect(await told(ask, (thread) => thread.deny({ by: 'ana' }))).toBe(false);
  });
});

describe('an approval', () => {
  const ask = (): ApprovalDecision => interrupt('approve?', { approval: true });

  test.each<[string, Parameters<typeof told>[1], ApprovalDecision]>([
    ['approve', (thread) => thread.approve(), { type: 'approve' }],
    ['deny', (thread) => thread.deny(), { type: 'deny' }],
    [
      'approve with who and why',
      (thread) => thread.approve({ by: 'ana', note: 'ok' }),
      { type: 'approve', by: 'ana', note: 'ok' },
    ],
    [
      'deny with who and why',
      (thread) => thread.deny({ by: 'ana', note: 'no' }),
      { type: 'deny', by: 'ana', note: 'no' },
    ],
    ['resume(true)', (thread) => thread.resume(true, { by: 'ana' }), { type: 'approve', by: 'ana' }],
    ['resume(false)', (thread) => thread.resume(false), { type: 'deny' }],
    ["resume({ type: 'approve' })", (thread) => thread.resume({ type: 'approve' }), { type: 'approve' }],
    [
      "resume({ type: 'deny', note })",
      (thread) => thread.resume({ type: 'deny', note: 'no' }, { by: 'ana' }),
      { type: 'deny', by: 'ana', note: 'no' },
    ],
    [
      'a map of the question to a verdict',
      (thread) => thread.resume({ '1.ask:0': { type: 'deny' } }),
      { type: 'deny' },
    ],
    [
      'who the door says, not who the answer says',
      (thread) => thread.resume({ type: 'approve', by: 'mallory' }, { by: 'ana' }),
      { type: 'approve', by: 'ana' },
    ],
  ])('hands over the whole decision of %s', async (_, answer, expected) => {
    expect(await told(ask, answer)).toStrictEqual(expected);
  });

  test.each([null, 'yes', 1, 0, '', [], {}, { type: 'edit' }, { approved: true }, 'approve'])(
    'refuses the answer %j and stays open',
    async (answer) => {
      const run = inMemory(buildGraph({ nodes: ['ask'] }), { ask: () => void ask() });
      await run.invoke();
      await expect(run.thread().resume(answer)).rejects.toMatchObject({
        code: 'ANSWER_INVALID',
        open: [{ id: '1.ask:0', node: 'ask', value: 'approve?' }],
      });
      expect(await openIds(run)).toEqual(['1.ask:0']);
    },
  );

  test('in a map with an answer that does not fit leaves the other questions open as well', async () => {
    const both = (): unknown =>
      Promise.all(
        [
          async () => interrupt('plain?', { key: 'p' }),
          async () => interrupt('gate?', { key: 'g', approval: true }),
        ].map((one) => one()),
      );
    const run = inMemory(buildGraph({ nodes: ['ask'] }), { ask: async () => void (await both()) });
    await run.invoke();
    await expect(run.thread().resume({ '1.ask:p': 1, '1.ask:g': 'perhaps' })).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
    });
    expect(await openIds(run)).toEqual(['1.ask:p', '1.ask:g']);
  });
});
