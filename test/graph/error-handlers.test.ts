import { Command, implement, interrupt, inWorkflow, START, StateGraph, subgraph } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { Inner, Outer } from './support/review-graphs';

describe('a node with onError', () => {
  const failing = (
    onError: (failure: any, state: any) => any,
    body: () => unknown = () => {
      throw new Error('broken');
    },
  ) => {
    const graph = new StateGraph(Outer)
      .addNode('work', { onError, ends: ['mend'], activity: { retry: { maximumAttempts: 2 } } })
      .addNode(
        'mend',
        inWorkflow(() => ({ log: 'mended' })),
      )
      .addEdge(START, 'work')
      .compile({ name: 'failing' });
    return { graph, graphs: new InMemoryGraphs({ nodes: [implement(graph, { work: body as () => any })] }) };
  };

  test('goes on with what the handler returns, after its retries', async () => {
    let attempts = 0;
    const { graph, graphs } = failing(
      ({ node, code, message }) => new Command({ update: { log: `${node}: ${code}: ${message}` }, goto: 'mend' }),
      () => {
        attempts += 1;
        throw new Error('broken');
      },
    );
    expect((await graphs.invoke(graph, {})).log).toEqual(['work: NODE_FAILED: Node "work" failed: broken', 'mended']);
    expect(attempts).toBe(2);
  });

  test('never sees a pause', async () => {
    const { graph, graphs } = failing(
      () => ({ log: 'handled' }),
      () => ({ log: String(interrupt('?')) }),
    );
    await graphs.invoke(graph, {}, { threadId: 'x' });
    expect((await graphs.invoke(graph, new Command({ resume: 1 }), { threadId: 'x' })).log).toEqual(['1']);
  });

  test('whose handler throws fails the run, with both messages', async () => {
    const { graph, graphs } = failing(() => {
      throw new Error('worse');
    });
    await expect(graphs.invoke(graph, {})).rejects.toMatchObject({
      code: 'NODE_FAILED',
      message: expect.stringMatching(/worse.*broken/),
    });
  });

  test('handles what fails in the subgraph that runs in it', async () => {
    const inner = new StateGraph(Inner).addNode('boom').addEdge(START, 'boom').compile({ name: 'inner' });
    const graph = new StateGraph(Outer)
      .addNode('inner', subgraph(inner, { onError: ({ message }) => ({ log: message }) }))
      .addEdge(START, 'inner')
      .compile({ name: 'outer' });
    const nodes = implement(inner, {
      boom: () => {
        throw new Error('inside');
      },
    });
    const graphs = new InMemoryGraphs({ nodes: [nodes], graphs: [graph] });
    expect((await graphs.invoke(graph, {})).log).toEqual([expect.stringContaining('inside')]);
  });
});
