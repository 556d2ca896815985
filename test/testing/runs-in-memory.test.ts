import { z } from 'zod';
import { END, implement, interrupt, nodeContext, ReducedValue, START, StateGraph, StateSchema } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';

const Log = new ReducedValue(z.array(z.string()).default([]), {
  inputSchema: z.string(),
  reducer: (lines, line) => [...lines, line],
});
const State = new StateSchema({ log: Log, lost: z.boolean().default(false) });

describe('a second run on a finished thread', () => {
  const graph = new StateGraph(State)
    .addNode('work')
    .addConditionalEdges(START, ({ lost }) => (lost ? ('nowhere' as never) : 'work'), ['work'])
    .compile({ name: 'work' });
  const nodes = implement(graph, { work: async () => ({ log: interrupt('what?') ?? nodeContext().task }) });

  async function twice(): Promise<{ graphs: InMemoryGraphs; first: string | undefined }> {
    const graphs = new InMemoryGraphs({ nodes: [nodes] });
    await graphs.invoke(graph, { log: 'first' }, { threadId: 't' });
    const { metadata } = await graphs.thread('t').getState();
    await graphs.thread('t').resume('one');
    await graphs.thread('t').untilStopped();
    await graphs.invoke(graph, { log: 'second' }, { threadId: 't' });
    return { graphs, first: metadata.runId };
  }

  test('goes on with the values of the first', async () => {
    const { graphs } = await twice();
    expect((await graphs.thread('t').getState()).values.log).toEqual(['first', 'one', 'second']);
  });

  test('counts its steps on, so that no question id comes twice', async () => {
    const { graphs } = await twice();
    expect((await graphs.thread('t').getState()).interrupts.map(({ id }) => id)).toEqual(['3.work:0']);
  });

  test('is a run of its own, with no decisions yet', async () => {
    const { graphs, first } = await twice();
    expect((await graphs.thread('t').getState()).metadata.runId).not.toBe(first);
    expect(await graphs.thread('t').decisions()).toEqual([]);
  });

  test('refuses a late answer to the first run’s question', async () => {
    const { graphs } = await twice();
    await expect(graphs.thread('t').approve({ question: '1.work:0' })).rejects.toMatchObject({
      code: 'QUESTION_UNKNOWN',
    });
  });

  test('that fails before its first step leaves the values for a third', async () => {
    const { graphs } = await twice();
    await graphs.thread('t').resume('two');
    await graphs.thread('t').untilStopped();
    await expect(graphs.invoke(graph, { lost: true }, { threadId: 't' })).rejects.toMatchObject({
      code: 'UNKNOWN_GOTO',
    });
    expect((await graphs.thread('t').getState()).status).toBe('failed');
    await graphs.invoke(graph, { log: 'third' }, { threadId: 't' });
    expect((await graphs.thread('t').getState()).values.log).toEqual(['first', 'one', 'second', 'two', 'third']);
  });
});

describe('a node that throws', () => {
  const once = { activity: { retry: { maximumAttempts: 1 } } };

  function failing(
    options: object,
    thrown: unknown,
    times = Infinity,
  ): { graphs: InMemoryGraphs; attempts: number[]; run: () => Promise<any> } {
    const graph = new StateGraph(State)
      .addNode('work', options)
      .addEdge(START, 'work')
      .addEdge('work', END)
      .compile({ name: 'work' });
    const attempts: number[] = [];
    const nodes = implement(graph, {
      work: async () => {
        attempts.push(nodeContext().attempt);
        if (attempts.length <= times) throw thrown;
        return { log: 'done' };
      },
    });
    const graphs = new InMemoryGraphs({ nodes: [nodes] });
    return { graphs, attempts, run: () => graphs.invoke(graph, {}, { threadId: 't' }) };
  }

  test('is tried three times, then fails the run, naming it', async () => {
    const { attempts, run } = failing({}, new Error('broken'));
    await expect(run()).rejects.toMatchObject({
      code: 'NODE_FAILED',
      node: 'work',
      message: expect.stringContaining('broken'),
      cause: expect.objectContaining({ message: 'broken' }),
    });
    expect(attempts).toEqual([1, 2, 3]);
  });

  test('and works in the end has not failed', async () => {
    const { run } = failing({}, new Error('broken'), 2);
    expect((await run()).log).toEqual(['done']);
  });

  test('is tried as often as its retry policy says', async () => {
    const { attempts, run } = failing(once, new Error('broken'));
    await expect(run()).rejects.toMatchObject({ code: 'NODE_FAILED' });
    expect(attempts).toEqual([1]);
  });

  test('is tried once where its policy does not retry such errors', async () => {
    const { attempts, run } = failing(
      { activity: { retry: { nonRetryableErrorTypes: ['RangeError'] } } },
      new RangeError('x'),
    );
    await expect(run()).rejects.toMatchObject({ code: 'NODE_FAILED' });
    expect(attempts).toEqual([1]);
  });

  test.each(['a string', null, undefined, 7])('%j fails the run all the same', async (thrown) => {
    const { run } = failing(once, thrown);
    await expect(run()).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'work' });
  });

  test('leaves a failed thread that tells why', async () => {
    const { graphs, run } = failing(once, new Error('broken'));
    await run().catch(() => undefined);
    expect(await graphs.thread('t').getState()).toMatchObject({
      status: 'failed',
      next: ['work'],
      interrupts: [],
      metadata: { error: { code: 'NODE_FAILED', message: expect.stringContaining('broken') } },
    });
  });

  test('leaves a thread that can be started again', async () => {
    const { run } = failing(once, new Error('broken'), 1);
    await run().catch(() => undefined);
    expect((await run()).log).toEqual(['done']);
  });

  test('is not tried again for a write that does not fit', async () => {
    let runs = 0;
    const graph = new StateGraph(State).addNode('work').addEdge(START, 'work').compile({ name: 'work' });
    const nodes = implement(graph, { work: async () => (runs++, { log: 7 as never }) });
    await expect(new InMemoryGraphs({ nodes: [nodes] }).invoke(graph, {})).rejects.toMatchObject({
      code: 'STATE_INVALID',
    });
    expect(runs).toBe(1);
  });
});

test('a graph may set the retry policy of all its nodes, and a node a part of it', async () => {
  const attempts: Record<string, number> = {};
  const graph = new StateGraph(State)
    .addNode('a')
    .addNode('b', { activity: { retry: { maximumAttempts: 4 } } })
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .compile({ name: 'retrying', activity: { retry: { maximumAttempts: 2 } } });
  const failUntil = (last: number) => async () => {
    const { node, attempt } = nodeContext();
    attempts[node] = attempt;
    if (attempt < last) throw new Error('again');
    return {};
  };
  await new InMemoryGraphs({ nodes: [implement(graph, { a: failUntil(2), b: failUntil(4) })] }).invoke(graph, {});
  expect(attempts).toEqual({ a: 2, b: 4 });
});
