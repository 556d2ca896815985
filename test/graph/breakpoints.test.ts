import { randomUUID } from 'node:crypto';
import { INTERRUPT, inWorkflow, isInterrupted, START, StateGraph } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { around, asking, Outer } from './support/review-graphs';

describe('breakpoints', () => {
  const steps: string[] = [];
  const graph = (options: object) => {
    steps.length = 0;
    return new StateGraph(Outer)
      .addNode(
        'a',
        inWorkflow(() => (steps.push('a'), { log: 'a' })),
      )
      .addNode(
        'b',
        inWorkflow(() => (steps.push('b'), { log: 'b' })),
      )
      .addNode(
        'c',
        inWorkflow(() => (steps.push('c'), { log: 'c' })),
      )
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('a', 'c')
      .compile({ name: 'stepped', ...options });
  };

  test('before a node hold its whole superstep, until somebody lets it go on', async () => {
    const stepped = graph({ interruptBefore: ['b'] });
    const graphs = new InMemoryGraphs({ graphs: [stepped] });
    const paused = await graphs.invoke(stepped, {}, { threadId: 'x' });
    expect(isInterrupted(paused)).toBe(true);
    expect(paused[INTERRUPT]).toEqual([
      { id: '2.b:~before', value: { breakpoint: 'before', nodes: ['b'], next: ['b', 'c'] } },
    ]);
    expect(steps).toEqual(['a']);
    expect((await graphs.thread('x').getState()).next).toEqual(['b', 'c']);
    await graphs.thread('x').resume(null);
    expect((await graphs.thread(stepped, 'x').untilStopped()).log).toEqual(['a', 'b', 'c']);
  });

  test('after a node stop before what comes next, and nowhere where nothing does', async () => {
    const stepped = graph({ interruptAfter: '*' });
    const graphs = new InMemoryGraphs({ graphs: [stepped] });
    const paused = await graphs.invoke(stepped, {}, { threadId: 'x' });
    expect(paused[INTERRUPT]?.[0]?.value).toEqual({ breakpoint: 'after', nodes: ['a'], next: ['b', 'c'] });
    await graphs.thread('x').approve();
    expect((await graphs.thread('x').untilStopped()).log).toEqual(['a', 'b', 'c']);
  });

  test('can be set for one run, also in a subgraph by path', async () => {
    const inner = asking();
    const { graph: outer, graphs } = around(inner);
    const paused = await graphs.invoke(outer, {}, { threadId: 'x', interruptBefore: ['review/step'] });
    expect(paused[INTERRUPT]?.map(({ id }) => id)).toEqual(['2.review/1.step:~before']);
    expect(inner.runs.step).toBe(0);
    await graphs.thread('x').approve();
    expect((await graphs.thread('x').untilStopped())[INTERRUPT]).toMatchObject([{ id: '2.review/2.ask:0' }]);
  });

  test('at no node are refused', async () => {
    expect(() => graph({ interruptBefore: ['nobody'] })).toThrow(expect.objectContaining({ code: 'UNKNOWN_NODE' }));
    const { graph: outer, graphs } = around(asking());
    await expect(
      graphs.invoke(outer, {}, { threadId: randomUUID(), interruptAfter: ['review/nobody'] }),
    ).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
  });

  test('cannot be denied', async () => {
    const stepped = graph({ interruptBefore: ['b'] });
    const graphs = new InMemoryGraphs({ graphs: [stepped] });
    await graphs.invoke(stepped, {}, { threadId: 'x' });
    await expect(graphs.thread('x').deny()).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    expect(steps).toEqual(['a']);
  });

  test('are not passed by a decision that was kept for the node behind them', async () => {
    const inner = asking();
    const { graph: outer, graphs } = around(inner);
    const thread = await graphs.start(outer, {}, { threadId: 'x', interruptBefore: ['review/ask'] });
    await thread.approve({ node: 'review/ask' });
    expect((await thread.untilStopped())[INTERRUPT]).toMatchObject([{ id: '2.review/2.ask:~before' }]);
    await thread.resume(null, { question: '2.review/2.ask:~before' });
    expect((await thread.untilStopped()).verdict).toBe('true');
  });
});
