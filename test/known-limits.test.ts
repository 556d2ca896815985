import { z } from 'zod';
import { implement, interrupt, inWorkflow, START, StateGraph, StateSchema, subgraph } from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { checkpointsOf } from '../src/trace';
import { asking, around } from './graph/support/review-graphs';
import { SyntheticHistory } from './trace/support/synthetic-history';

// Each is a line of docs/engine.md. A test that fails here is good news: mend the page.

it('an update of the state cannot be made as a node of a subgraph, nor of a key the subgraph is at work on', async () => {
  const { graph, graphs } = around(asking());
  await graphs.invoke(graph, {}, { threadId: 't' });
  const thread = graphs.thread(graph, 't');
  const inside = thread.updateState({ draft: 'x' }, { asNode: 'review/ask' as never });
  await expect(inside).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
  await expect(thread.updateState({ verdict: 'x' })).rejects.toMatchObject({ code: 'STATE_UPDATE_CONFLICT' });
});

const Count = new StateSchema({ n: z.number().default(0), handled: z.string().optional() });
const counting = inWorkflow(({ n }: { n: number }) => ({ n: n + 1 }));
const throwing = (): never => {
  throw new Error('left or right?');
};

it.each([
  ['router', 'ROUTER_FAILED', throwing],
  ['limit', 'GRAPH_RECURSION_LIMIT', () => 'count' as const],
])('the onError of an inline subgraph does not see the failure of its %s', async (what, code, router) => {
  const inside = new StateGraph(Count)
    .addNode('count', counting)
    .addEdge(START, 'count')
    .addConditionalEdges('count', router)
    .compile({ name: `inside_${what}`, recursionLimit: 3 });
  const outside = new StateGraph(Count)
    .addNode('inside', subgraph(inside, { onError: ({ message }) => ({ handled: message }) }))
    .addEdge(START, 'inside')
    .compile({ name: `outside_${what}` });
  const graphs = new InMemoryGraphs({ nodes: [implement(outside, {}), implement(inside, {})] });
  await expect(graphs.invoke(outside, {})).rejects.toMatchObject({ code });
});

it('the history of a run with an asynchronous node in workflow code cannot be told', () => {
  const waiting = inWorkflow(async () => Promise.resolve({ n: 1 }));
  const graph = new StateGraph(Count)
    .addNode('wait', waiting as never)
    .addEdge(START, 'wait')
    .compile({ name: 'order' });
  const history = new SyntheticHistory().task().done({ n: 1 });
  expect(() => checkpointsOf(graph, [history])).toThrow(
    expect.objectContaining({ code: 'HISTORY_UNREADABLE', message: expect.stringContaining('asynchronous') }),
  );
});

it('a decision id that was accepted before a retry dropped its answer is accepted again, and answers nothing', async () => {
  let broken = true;
  const graph = new StateGraph(Count).addNode('ask').addEdge(START, 'ask').compile({ name: 'asks' });
  const ask = async (): Promise<{ n: number }> => {
    const n: number = interrupt('how many?');
    if (broken) throw new Error('out of order');
    return { n };
  };
  const graphs = new InMemoryGraphs({ nodes: [implement(graph, { ask })] });
  const thread = (): ReturnType<typeof graphs.thread> => graphs.thread('t');
  await graphs.invoke(graph, {}, { threadId: 't' });
  await thread().resume(7, { question: '1.ask:0', decisionId: 'd1' });
  await expect(thread().untilStopped()).rejects.toMatchObject({ code: 'NODE_FAILED' });
  broken = false;
  await graphs.invoke(graph, null, { threadId: 't' });
  expect(await thread().resume(7, { question: '1.ask:0', decisionId: 'd1' })).toMatchObject({ kind: 'accepted' });
  expect(await thread().getState()).toMatchObject({ status: 'waiting', interrupts: [{ id: '1.ask:0' }] });
  await thread().resume(7, { question: '1.ask:0', decisionId: 'd2' });
  expect(await thread().untilStopped()).toEqual({ n: 7 });
});
