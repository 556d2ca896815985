import { z } from 'zod';
import { Command, END, implement, interrupt, inWorkflow, START, StateGraph, StateSchema } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { lines } from './support/review-graphs';

describe('a cached node', () => {
  const cached = (cache: object, body: (state: any) => unknown) => {
    const graph = new StateGraph(new StateSchema({ n: z.number().default(0), rounds: lines(), out: lines() }))
      .addNode('work', { reads: ['n'], cache })
      .addNode(
        'count',
        inWorkflow(() => ({ rounds: 'x' })),
      )
      .addEdge(START, 'work')
      .addEdge('work', 'count')
      .addConditionalEdges('count', ({ rounds }) => (rounds.length < 3 ? 'work' : END))
      .compile({ name: 'cached' });

    return { graph, graphs: new InMemoryGraphs({ nodes: [implement(graph, { work: body as () => any })] }) };
  };

  test('runs once where it sees the same, and its writes come each time', async () => {
    let runs = 0;
    const { graph, graphs } = cached({}, () => ({ out: `run ${++runs}` }));
    expect((await graphs.invoke(graph, {})).out).toEqual(['run 1', 'run 1', 'run 1']);
  });

  test('runs again where its key differs', async () => {
    let runs = 0;
    const { graph, graphs } = cached({ key: ({ n }: { n: number }) => String(n) }, ({ n }) => ({
      n: n + 1,
      out: `run ${++runs}`,
    }));
    expect((await graphs.invoke(graph, {})).out).toEqual(['run 1', 'run 2', 'run 3']);
  });

  test('that asked is never cached', async () => {
    const { graph, graphs } = cached({}, () => ({ out: String(interrupt('which?')) }));
    await graphs.invoke(graph, {}, { threadId: 'x' });
    for (const answer of ['one', 'two', 'three'])
      await graphs.invoke(graph, new Command({ resume: answer }), { threadId: 'x' });
    expect((await graphs.thread(graph, 'x').getState()).values.out).toEqual(['one', 'two', 'three']);
  });

  test('runs again once its time is over', async () => {
    let runs = 0;
    const { graph, graphs } = cached({ ttl: 0 }, () => ({ out: `run ${++runs}` }));
    expect((await graphs.invoke(graph, {})).out).toEqual(['run 1', 'run 2', 'run 3']);
  });

  test('whose handler stood in for it is not cached', async () => {
    let runs = 0;
    const graph = new StateGraph(new StateSchema({ rounds: lines(), out: lines() }))
      .addNode('work', {
        reads: [],
        cache: {},
        onError: () => ({ out: 'instead' }),
        activity: { retry: { maximumAttempts: 1 } },
      })
      .addNode(
        'count',
        inWorkflow(() => ({ rounds: 'x' })),
      )
      .addEdge(START, 'work')
      .addEdge('work', 'count')
      .addConditionalEdges('count', ({ rounds }) => (rounds.length < 3 ? 'work' : END))
      .compile({ name: 'cached' });
    const work = () => {
      if (++runs === 1) throw new Error('once');
      return { out: 'worked' };
    };
    const graphs = new InMemoryGraphs({ nodes: [implement(graph, { work })] });
    expect((await graphs.invoke(graph, {})).out).toEqual(['instead', 'worked', 'worked']);
    expect(runs).toBe(2);
  });
});
