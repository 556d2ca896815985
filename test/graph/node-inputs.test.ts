import { z } from 'zod';
import { Command, END, implement, inWorkflow, Send, START, StateGraph, StateSchema } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { lines } from './support/review-graphs';

const When = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const State = new StateSchema({ log: lines() });

function packing(route: () => unknown) {
  const graph = new StateGraph(State)
    .addNode('pack', { input: z.object({ item: z.string(), on: When.optional() }) })
    .addConditionalEdges(START, route as () => 'pack', ['pack'])
    .addEdge('pack', END)
    .compile({ name: 'packing' });
  const nodes = implement(graph, { pack: ({ item, on }) => ({ log: `${item} ${on?.getUTCFullYear() ?? ''}` }) });
  return { graph, graphs: new InMemoryGraphs({ nodes: [nodes] }) };
}

describe('a node that takes an input', () => {
  test('is given what its Send carries, decoded', async () => {
    const { graph, graphs } = packing(() => [
      new Send('pack', { item: 'cup' }),
      new Send('pack', { item: 'jar', on: new Date('2030-01-01') }),
    ]);
    expect((await graphs.invoke(graph, {})).log).toEqual(['cup ', 'jar 2030']);
  });

  test('refuses a Send that carries something else, at the sender', async () => {
    const { graph, graphs } = packing(() => new Send('pack', { item: 1 }));
    await expect(graphs.invoke(graph, {})).rejects.toMatchObject({ code: 'STATE_INVALID', key: 'input' });
  });

  test('cannot be reached without a Send: by a goto', async () => {
    const { graph, graphs } = packing(() => 'pack');
    await expect(graphs.invoke(graph, {})).rejects.toMatchObject({ code: 'UNKNOWN_GOTO' });
  });

  test('cannot be reached without a Send: by an edge', () => {
    const building = new StateGraph(State).addNode('pack', { input: z.string() }).addEdge(START, 'pack');
    expect(() => building.compile({ name: 'packing' })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  test('is checked in commands too', async () => {
    const graph = new StateGraph(State)
      .addNode('start', { ...inWorkflow(() => new Command({ goto: new Send('pack', 'x') })), ends: ['pack'] } as any)
      .addNode('pack', { input: z.number() })
      .addEdge(START, 'start')
      .compile({ name: 'packing' });
    const graphs = new InMemoryGraphs({
      nodes: [implement(graph, { pack: (n: any) => ({ log: n.toFixed() }) } as any)],
    });
    await expect(graphs.invoke(graph, {})).rejects.toMatchObject({ code: 'STATE_INVALID', key: 'input' });
  });
});
