import { z } from 'zod';
import { END, implement, interrupt, ReducedValue, START, StateGraph, StateSchema, subgraph } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';

/** A log that every node may add a line to. */
export const lines = () =>
  new ReducedValue(z.array(z.string()).default([]), { inputSchema: z.string(), reducer: (all, one) => [...all, one] });

export const Outer = new StateSchema({ log: lines(), verdict: z.string().optional(), draft: z.string().default('') });
export const Inner = new StateSchema({ log: lines(), verdict: z.string().optional(), secret: z.string().default('') });

/** START → step → ask → END, counting how often each body runs. */
export function asking(name = 'review') {
  const graph = new StateGraph(Inner)
    .addNode('step')
    .addNode('ask')
    .addEdge(START, 'step')
    .addEdge('step', 'ask')
    .addEdge('ask', END)
    .compile({ name });
  const runs = { step: 0, ask: 0 };
  const nodes = implement(graph, {
    step: () => {
      runs.step += 1;
      return { log: 'step', secret: 'inside' };
    },
    ask: () => {
      runs.ask += 1;
      return { log: 'ask', verdict: String(interrupt('fine?')) };
    },
  });
  return { graph, nodes, runs };
}

/** The graph that asks, as a node between two others. */
export function around(inner: ReturnType<typeof asking>, run: 'inline' | 'child' = 'inline') {
  const graph = new StateGraph(Outer)
    .addNode('before')
    .addNode('review', run === 'inline' ? inner.graph : subgraph(inner.graph, { run }))
    .addNode('after')
    .addEdge(START, 'before')
    .addEdge('before', 'review')
    .addEdge('review', 'after')
    .addEdge('after', END)
    .compile({ name: 'outer' });
  const nodes = implement(graph, {
    before: () => ({ log: 'before' }),
    after: ({ verdict }) => ({ log: `after ${verdict}` }),
  });
  return { graph, graphs: new InMemoryGraphs({ nodes: [nodes, inner.nodes] }) };
}
