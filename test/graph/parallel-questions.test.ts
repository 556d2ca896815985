import { z } from 'zod';
import { interrupt, nodeContext, Send, START } from 'abeyance';
import { buildGraph, Log, type GraphPlan } from './support/build-graph';
import { inMemory, openIds, resume, type MemoryRun } from './support/run-in-memory';

const FAN: GraphPlan = {
  nodes: ['a', 'b', 'plain', 'end'],
  edges: [
    [START, 'a'],
    [START, 'b'],
    [START, 'plain'],
    [['a', 'b', 'plain'], 'end'],
  ],
};

/** Two branches that ask beside one that does not; counts how often each has run. */
function fan(): MemoryRun & { runs: Record<string, number> } {
  const runs: Record<string, number> = {};
  const counted = (body: () => object) => () => {
    const { node } = nodeContext();
    runs[node] = (runs[node] ?? 0) + 1;
    return body();
  };
  const run = inMemory(buildGraph(FAN), {
    a: counted(() => ({ log: `a=${interrupt('a?')}` })),
    b: counted(() => ({ log: `b=${interrupt('b?')}` })),
    plain: counted(() => ({ log: 'plain' })),
    end: counted(() => ({ log: 'end' })),
  });
  return { ...run, runs };
}

describe('parallel branches that ask', () => {
  test('all show their questions at once, beside what the others wrote', async () => {
    const paused = await fan().invoke();
    expect(paused).toEqual({
      log: ['plain'],
      __interrupt__: [
        { id: '1.a:0', value: 'a?' },
        { id: '1.b:0', value: 'b?' },
      ],
    });
  });

  test('proceed one by one: the answered at once, while the other keeps waiting', async () => {
    const run = fan();
    await run.invoke();
    const between = await resume(run, 1, { question: '1.b:0' });
    expect(between).toEqual({ log: ['b=1', 'plain'], __interrupt__: [{ id: '1.a:0', value: 'a?' }] });
  });

  test('are not run again for the answers of others', async () => {
    const run = fan();
    await run.invoke();
    await resume(run, 1, { question: '1.b:0' });
    expect((await resume(run, 2)).log).toEqual(['a=2', 'b=1', 'plain', 'end']);
    expect(run.runs).toEqual({ a: 2, b: 2, plain: 1, end: 1 });
  });

  test('refuse a bare answer that could be for either, and change nothing', async () => {
    const run = fan();
    await run.invoke();
    await expect(run.thread().approve()).rejects.toMatchObject({
      code: 'ANSWER_AMBIGUOUS',
      open: [
        { id: '1.a:0', node: 'a', value: 'a?' },
        { id: '1.b:0', node: 'b', value: 'b?' },
      ],
    });
    expect(await openIds(run)).toEqual(['1.a:0', '1.b:0']);
  });

  test('may be answered together by a map', async () => {
    const run = fan();
    await run.invoke();
    expect((await resume(run, { '1.b:0': false, '1.a:0': null })).log).toEqual(['a=null', 'b=false', 'plain', 'end']);
  });

  test('may be answered by the names of their nodes', async () => {
    const run = fan();
    await run.invoke();
    await run.thread().approve({ node: 'b' });
    await run.thread().deny({ node: 'a' });
    expect((await run.thread().untilStopped()).log).toEqual(['a=false', 'b=true', 'plain', 'end']);
  });

  test('fail together when one of them fails', async () => {
    const graph = buildGraph({
      nodes: ['a', 'b'],
      edges: [
        [START, 'a'],
        [START, 'b'],
      ],
    });
    const run = inMemory(graph, {
      a: () => interrupt('?'),
      b: () => {
        throw new Error('broken');
      },
    });
    await expect(run.invoke()).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'b' });
    expect((await run.thread().getState()).interrupts).toEqual([]);
  });
});

describe('Sends that ask', () => {
  const sending = (): MemoryRun => {
    const graph = buildGraph({
      state: { items: z.array(z.string()).default([]), log: Log },
      nodes: ['check'],
      routers: [[START, ({ items }) => items.map((item: string) => new Send('check', { item })), ['check']]],
    });
    return inMemory(graph, { check: ({ item }) => ({ log: `${item}: ${interrupt({ item })}` }) });
  };

  test('each have their own question', async () => {
    const paused = await sending().invoke({ items: ['x', 'y'] });
    expect(paused.__interrupt__).toEqual([
      { id: '1.check.0:0', value: { item: 'x' } },
      { id: '1.check.1:0', value: { item: 'y' } },
    ]);
  });

  test('each get their own answer, whichever is given first', async () => {
    const run = sending();
    await run.invoke({ items: ['x', 'y'] });
    await resume(run, 'second', { question: '1.check.1:0' });
    expect((await resume(run, 'first')).log).toEqual(['x: first', 'y: second']);
  });

  test('cannot be answered by the name of their node while several are open', async () => {
    const run = sending();
    await run.invoke({ items: ['x', 'y'] });
    await expect(run.thread().approve({ node: 'check' })).rejects.toMatchObject({ code: 'ANSWER_AMBIGUOUS' });
  });

  test('show one name each among the next nodes', async () => {
    const run = sending();
    await run.invoke({ items: ['x', 'y'] });
    expect((await run.thread().getState()).next).toEqual(['check', 'check']);
  });
});

test('a node visited again by a cycle asks under a new id', async () => {
  const graph = buildGraph({
    nodes: ['ask'],
    edges: [[START, 'ask']],
    routers: [['ask', ({ log }) => (log.length < 2 ? 'ask' : [])]],
  });
  const run = inMemory(graph, { ask: () => ({ log: String(interrupt('?')) }) });
  await run.invoke();
  const second = await resume(run, 'one');
  expect(second.__interrupt__).toEqual([{ id: '2.ask:0', value: '?' }]);
  expect((await resume(run, 'two')).log).toEqual(['one', 'two']);
});
