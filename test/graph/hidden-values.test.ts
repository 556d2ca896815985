import { z } from 'zod';
import {
  END,
  implement,
  interrupt,
  inWorkflow,
  PrivateValue,
  START,
  StateGraph,
  StateSchema,
  UntrackedValue,
} from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { lines } from './support/review-graphs';

const State = new StateSchema({
  answer: z.string().optional(),
  notes: new PrivateValue(lines()),
  page: new UntrackedValue(z.string().optional()),
});

const seen: unknown[] = [];
const graph = new StateGraph(State)
  .addNode('fetch')
  .addNode('read')
  .addNode('write')
  .addEdge(START, 'fetch')
  .addEdge('fetch', 'read')
  .addEdge('read', 'write')
  .addEdge('write', END)
  .compile({ name: 'reading' });
const nodes = implement(graph, {
  fetch: () => ({ page: 'a page', notes: 'fetched' }),
  read: ({ page, notes }) => {
    seen.push({ page, notes });
    return { notes: `read after ${interrupt('go on?')}` };
  },
  write: ({ page, notes }) => {
    seen.push({ page, notes });
    return { answer: notes.join(', ') };
  },
});

beforeEach(() => seen.splice(0));

describe('a private value', () => {
  test('is handed from node to node, and in no result, state or history of the thread', async () => {
    const graphs = new InMemoryGraphs({ nodes: [nodes] });
    const paused = await graphs.invoke(graph, {}, { threadId: 'x' });
    expect(Object.keys(paused)).toEqual(['__interrupt__']);
    const thread = graphs.thread(graph, 'x');
    expect((await thread.getState()).values).toEqual({});
    await thread.approve();
    expect(await thread.untilStopped()).toEqual({ answer: 'fetched, read after true' });
    for await (const { values } of thread.getStateHistory()) expect(values).not.toHaveProperty('notes');
  });

  test.each(['notes', 'page'])('cannot be set by an input: %s', async (key) => {
    const graphs = new InMemoryGraphs({ nodes: [nodes] });
    await expect(graphs.invoke(graph, { [key]: 'x' })).rejects.toMatchObject({ code: 'STATE_UNKNOWN_KEY', key });
  });
});

describe('an untracked value', () => {
  test('is seen by the next superstep, also after a pause in it, and by none beyond', async () => {
    const graphs = new InMemoryGraphs({ nodes: [nodes] });
    await graphs.invoke(graph, {}, { threadId: 'x' });
    await graphs.thread(graph, 'x').approve();
    await graphs.thread(graph, 'x').untilStopped();
    expect(seen).toEqual([
      { page: 'a page', notes: ['fetched'] },
      { page: 'a page', notes: ['fetched'] },
      { notes: ['fetched', 'read after true'] },
    ]);
  });

  test('is as it was at first, where it has a default, for all who were not to see it', async () => {
    const Defaulted = new StateSchema({ page: new UntrackedValue(z.string().default('none')), log: lines() });
    const turning = new StateGraph(Defaulted)
      .addNode(
        'a',
        inWorkflow(() => ({ page: 'one' })),
      )
      .addNode(
        'b',
        inWorkflow(({ page }: { page: string }) => ({ log: page })),
      )
      .addNode(
        'c',
        inWorkflow(({ page }: { page: string }) => ({ log: page })),
      )
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addEdge('b', 'c')
      .compile({ name: 'turning' });
    expect(await new InMemoryGraphs({ graphs: [turning] }).invoke(turning, {})).toEqual({ log: ['one', 'none'] });
  });
});
