import { z } from 'zod';
import {
  Command,
  END,
  implement,
  INTERRUPT,
  interrupt,
  inWorkflow,
  nodeContext,
  Send,
  START,
  StateGraph,
  StateSchema,
} from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { lines } from './support/review-graphs';

const State = new StateSchema({ log: lines(), n: z.number().default(0) });

/** START → draft → ask → publish → END. */
function publishing(bodies: Partial<Record<'draft' | 'ask' | 'publish', (state: any) => any>> = {}) {
  const runs: string[] = [];
  const graph = new StateGraph(State)
    .addNode('draft')
    .addNode('ask')
    .addNode('publish', { activity: { retry: { maximumAttempts: 1 } } })
    .addEdge(START, 'draft')
    .addEdge('draft', 'ask')
    .addEdge('ask', 'publish')
    .addEdge('publish', END)
    .compile({ name: 'publishing' });
  const body = (name: 'draft' | 'ask' | 'publish', otherwise: (state: any) => any) => (state: any) => {
    runs.push(name);
    return (bodies[name] ?? otherwise)(state);
  };
  const nodes = implement(graph, {
    draft: body('draft', () => ({ log: 'draft' })),
    ask: body('ask', () => ({ log: `ask ${interrupt('publish?')}` })),
    publish: body('publish', ({ n }) => ({ log: `publish ${n}` })),
  });
  return { graph, runs, graphs: new InMemoryGraphs({ nodes: [nodes] }) };
}

async function paused(bodies?: Parameters<typeof publishing>[0]) {
  const made = publishing(bodies);
  await made.graphs.invoke(made.graph, {}, { threadId: 'x' });
  return { ...made, thread: made.graphs.thread(made.graph, 'x') };
}

async function historyOf(thread: { getStateHistory(): AsyncIterable<any> }) {
  const all: any[] = [];
  for await (const state of thread.getStateHistory()) all.push(state);
  return all;
}

describe('updateState', () => {
  test('changes the values that nodes see next, and leaves the question open', async () => {
    const { graph, graphs, thread } = await paused();
    const state = await thread.updateState({ n: 7, log: 'edited' });
    expect(state.values).toEqual({ log: ['draft', 'edited'], n: 7 });
    expect(state.interrupts).toHaveLength(1);
    await thread.approve();
    expect((await graphs.thread(graph, 'x').untilStopped()).log).toEqual(['draft', 'edited', 'ask true', 'publish 7']);
  });

  test('as the node that asks stands in for it: its question is withdrawn, its edges lead on', async () => {
    const { thread, runs } = await paused();
    await thread.updateState({ log: 'skipped' }, { asNode: 'ask' });
    expect((await thread.untilStopped()).log).toEqual(['draft', 'skipped', 'publish 0']);
    expect(runs).toEqual(['draft', 'ask', 'publish']);
    await expect(thread.approve({ question: '2.ask:0' })).rejects.toMatchObject({ code: 'THREAD_FINISHED' });
  });

  test('as another node, while one waits, is refused: the question would vanish', async () => {
    const { thread } = await paused();
    await expect(thread.updateState({ n: 1 }, { asNode: 'draft' })).rejects.toMatchObject({
      code: 'STATE_UPDATE_CONFLICT',
      message: expect.stringContaining('ask'),
    });
    expect((await thread.getState()).values).toEqual({ log: ['draft'], n: 0 });
    await thread.approve();
  });

  test('as END ends the run', async () => {
    const { thread } = await paused();
    const state = await thread.updateState({}, { asNode: END });
    expect(state).toMatchObject({ status: 'done', next: [], interrupts: [] });
  });

  test.each<[string, object, string | undefined, string]>([
    ['a key the state does not have', { m: 1 }, undefined, 'STATE_UNKNOWN_KEY'],
    ['a value that does not fit', { n: 'x' }, undefined, 'STATE_INVALID'],
    ['a value JSON cannot carry', { n: Number.NaN }, undefined, 'STATE_INVALID'],
    ['a node that is not there', { n: 1 }, 'nobody', 'UNKNOWN_NODE'],
  ])('with %s is refused, and nothing changes', async (_, update, asNode, code) => {
    const { thread } = await paused();
    const before = await thread.getState();
    await expect(
      thread.updateState(update as any, { ...(asNode && { asNode: asNode as never }) }),
    ).rejects.toMatchObject({ code });
    expect(await thread.getState()).toEqual(before);
  });

  test('while nodes run is refused', async () => {
    const { graph, graphs } = publishing();
    const thread = await graphs.start(graph, {}, { threadId: 'x' });
    await expect(thread.updateState({ n: 1 })).rejects.toMatchObject({ code: 'THREAD_BUSY' });
  });

  test('never drops a Send that waits', async () => {
    const graph = new StateGraph(State)
      .addNode('each')
      .addNode(
        'other',
        inWorkflow(() => ({ log: 'other' })),
      )
      .addConditionalEdges(START, () => [new Send('each', 1), new Send('each', 2)], ['each'])
      .addEdge('each', 'other')
      .compile({ name: 'sending' });
    const graphs = new InMemoryGraphs({
      nodes: [implement(graph, { each: (input: any) => ({ log: `${input} ${interrupt('?')}` }) })],
    });
    await graphs.invoke(graph, {}, { threadId: 'x' });
    const thread = graphs.thread(graph, 'x');
    await expect(thread.updateState({}, { asNode: 'each' })).rejects.toMatchObject({ code: 'STATE_UPDATE_CONFLICT' });
    await expect(thread.updateState({}, { asNode: 'other' })).rejects.toMatchObject({ code: 'STATE_UPDATE_CONFLICT' });
    expect((await thread.getState()).interrupts).toHaveLength(2);
  });

  test('on a finished thread as a node runs what comes after it', async () => {
    const { thread, runs } = await paused();
    await thread.approve();
    await thread.untilStopped();
    runs.length = 0;
    await thread.updateState({ n: 5 }, { asNode: 'ask' });
    expect((await thread.untilStopped()).log.at(-1)).toBe('publish 5');
    expect(runs).toEqual(['publish']);
  });

  test('on a finished thread alone changes its values and runs nothing', async () => {
    const { thread, runs } = await paused();
    await thread.approve();
    await thread.untilStopped();
    runs.length = 0;
    expect(await thread.updateState({ n: 5 })).toMatchObject({ status: 'done', values: { n: 5 } });
    expect(runs).toEqual([]);
  });

  test('at a breakpoint changes what the held nodes see', async () => {
    const graph = new StateGraph(State)
      .addNode(
        'a',
        inWorkflow(() => ({ log: 'a' })),
      )
      .addNode(
        'b',
        inWorkflow(({ n }: { n: number }) => ({ log: `b ${n}` })),
      )
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ name: 'held', interruptBefore: ['b'] });
    const graphs = new InMemoryGraphs({ graphs: [graph] });
    await graphs.invoke(graph, {}, { threadId: 'x' });
    await graphs.thread(graph, 'x').updateState({ n: 3 });
    expect((await graphs.invoke(graph, null, { threadId: 'x' })).log).toEqual(['a', 'b 3']);
  });
});

describe('getStateHistory', () => {
  test('tells each superstep, newest first, with what was asked in it', async () => {
    const { thread } = await paused();
    await thread.approve();
    await thread.untilStopped();
    const history = await historyOf(thread);
    expect(history.map(({ next, values }) => [next, values.log])).toEqual([
      [[], ['draft', 'ask true', 'publish 0']],
      [['publish'], ['draft', 'ask true']],
      [['ask'], ['draft']],
      [['draft'], []],
    ]);
    expect(history.map(({ interrupts }) => interrupts.length)).toEqual([0, 0, 1, 0]);
    expect(new Set(history.map(({ metadata }) => metadata.checkpoint)).size).toBe(4);
    expect(history[0].metadata).toMatchObject({ threadId: 'x', graph: 'publishing', source: 'history' });
  });

  test('tells an edit as a checkpoint of its own', async () => {
    const { thread } = await paused();
    await thread.updateState({ n: 1 });
    const history = await historyOf(thread);
    expect(history.map(({ values }) => values.n)).toEqual([1, 0, 0]);
  });
});

describe('a fork', () => {
  test('begins a new thread on a checkpoint: what comes after it runs again, and asks anew', async () => {
    const { graph, graphs, thread, runs } = await paused();
    await thread.approve({ by: 'ana' });
    await thread.untilStopped();
    runs.length = 0;
    const checkpoint = (await historyOf(thread)).find(({ next }) => next[0] === 'ask').metadata.checkpoint;
    const fork = await graphs.fork(graph, 'x', { checkpoint, threadId: 'y' });
    expect((await fork.untilStopped())[INTERRUPT]).toEqual([{ id: '2.ask:0', value: 'publish?' }]);
    expect(await fork.decisions()).toEqual([]);
    expect((await fork.getState()).metadata.origin).toEqual({ threadId: 'x', checkpoint });
    await fork.deny();
    expect((await fork.untilStopped()).log).toEqual(['draft', 'ask false', 'publish 0']);
    expect(runs).toEqual(['ask', 'ask', 'publish']);
    expect((await thread.getState()).values.log).toEqual(['draft', 'ask true', 'publish 0']);
  });

  test('takes an update, as if a node had returned it', async () => {
    const { graph, graphs, thread } = await paused();
    const fork = await graphs.fork(graph, 'x', { threadId: 'y', update: { n: 9 }, asNode: 'ask' });
    expect((await fork.untilStopped()).log).toEqual(['draft', 'publish 9']);
    expect((await thread.getState()).interrupts).toHaveLength(1);
  });

  test('of an unknown checkpoint, or onto a thread that is there, is refused', async () => {
    const { graph, graphs } = await paused();
    await expect(graphs.fork(graph, 'x', { checkpoint: 'none' })).rejects.toMatchObject({ code: 'CHECKPOINT_UNKNOWN' });
    await expect(graphs.fork(graph, 'x', { threadId: 'x' })).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    await expect(graphs.fork(graph, 'nobody')).rejects.toMatchObject({ code: 'THREAD_UNKNOWN' });
  });
});

describe('invoke with null', () => {
  test('retries a failed run from where it failed: finished nodes do not run again', async () => {
    let broken = true;
    const { graph, graphs, runs, thread } = await paused({
      publish: () => {
        if (broken) throw new Error('offline');
        return { log: 'published' };
      },
    });
    await thread.approve();
    await expect(thread.untilStopped()).rejects.toMatchObject({ code: 'NODE_FAILED' });
    broken = false;
    runs.length = 0;
    expect((await graphs.invoke(graph, null, { threadId: 'x' })).log).toEqual(['draft', 'ask true', 'published']);
    expect(runs).toEqual(['publish']);
  });

  test('asks anew where the node that failed had an answer', async () => {
    const { graph, graphs, thread } = await paused({
      ask: () => {
        const answer: string = interrupt('publish?');
        if (answer === 'bad') throw new Error('cannot use it');
        return { log: answer };
      },
    });
    await thread.resume('bad');
    await expect(thread.untilStopped()).rejects.toMatchObject({ code: 'NODE_FAILED' });
    const again = await graphs.invoke(graph, null, { threadId: 'x' });
    expect(again[INTERRUPT]).toMatchObject([{ value: 'publish?' }]);
    await thread.resume('good');
    expect((await thread.untilStopped()).log).toEqual(['draft', 'good', 'publish 0']);
  });

  test('goes on beyond the recursion limit when it is raised', async () => {
    const graph = new StateGraph(State)
      .addNode(
        'loop',
        inWorkflow(({ n }: { n: number }) => ({ n: n + 1 })),
      )
      .addEdge(START, 'loop')
      .addConditionalEdges('loop', ({ n }) => (n < 6 ? 'loop' : END))
      .compile({ name: 'looping', recursionLimit: 3 });
    const graphs = new InMemoryGraphs({ graphs: [graph] });
    await expect(graphs.invoke(graph, {}, { threadId: 'x' })).rejects.toMatchObject({ code: 'GRAPH_RECURSION_LIMIT' });
    expect((await graphs.invoke(graph, null, { threadId: 'x', recursionLimit: 10 })).n).toBe(6);
  });

  test('shows an open question again, and answers nothing', async () => {
    const { graph, graphs, runs } = await paused();
    const again = await graphs.invoke(graph, null, { threadId: 'x' });
    expect(again[INTERRUPT]).toEqual([{ id: '2.ask:0', value: 'publish?' }]);
    expect(runs).toEqual(['draft', 'ask']);
  });

  test('on an unknown thread is refused', async () => {
    const { graph, graphs } = publishing();
    await expect(graphs.invoke(graph, null, { threadId: 'nobody' })).rejects.toMatchObject({ code: 'THREAD_UNKNOWN' });
  });
});

describe('an answer with an update beside it', () => {
  test('brings both in together, and the node that asks twice keeps the update', async () => {
    const { graph, graphs } = publishing({
      ask: ({ n }) => {
        const first = interrupt('first?');
        const second = interrupt('second?');
        return { log: `${first} ${second} ${n}` };
      },
    });
    await graphs.invoke(graph, {}, { threadId: 'x' });
    await graphs.invoke(graph, new Command({ resume: 'a', update: { n: 4 } }), { threadId: 'x' });
    const done = await graphs.invoke(graph, new Command({ resume: 'b' }), { threadId: 'x' });
    expect(done).toEqual({ log: ['draft', 'a b 4', 'publish 4'], n: 4 });
  });

  test('is refused whole where the update does not fit', async () => {
    const { thread } = await paused();
    const before = await thread.getState();
    await expect(thread.approve({ update: { n: 'x' } })).rejects.toMatchObject({ code: 'STATE_INVALID' });
    await expect(thread.approve({ update: { m: 1 } })).rejects.toMatchObject({ code: 'STATE_UNKNOWN_KEY' });
    expect(await thread.getState()).toEqual(before);
    await thread.approve({ update: { n: 2 } });
    expect((await thread.untilStopped()).log).toEqual(['draft', 'ask true', 'publish 2']);
  });

  test('comes in once, however often it is sent', async () => {
    const { thread } = await paused();
    const decision = { decisionId: 'd1', update: { log: 'noted' } };
    await thread.approve(decision);
    await thread.approve({ ...decision, question: '2.ask:0' }).catch(() => undefined);
    expect((await thread.untilStopped()).log).toEqual(['draft', 'noted', 'ask true', 'publish 0']);
  });

  test('is refused while its question is not open', async () => {
    const { graph, graphs } = publishing();
    const thread = await graphs.start(graph, {}, { threadId: 'x' });
    await expect(thread.approve({ node: 'ask', update: { n: 1 } })).rejects.toMatchObject({ code: 'QUESTION_UNKNOWN' });
  });

  test('that goes somewhere is refused, and says what to use', async () => {
    const { graph, graphs } = await paused();
    await expect(
      graphs.invoke(graph, new Command({ resume: 1, goto: 'draft' }), { threadId: 'x' }),
    ).rejects.toMatchObject({
      code: 'DECISION_MALFORMED',
      message: expect.stringContaining('updateState'),
    });
  });
});

describe('nothing leaks or is lost', () => {
  test('a fork at any checkpoint asks anew, also where the first thread was answered and edited', async () => {
    const { graph, graphs, thread } = await paused({
      ask: () => ({ log: `${interrupt('a?')} ${interrupt('b?')}` }),
    });
    await thread.resume('one', { update: { n: 1 } });
    await thread.untilStopped();
    await thread.updateState({ n: 2 });
    await thread.resume('two');
    await thread.untilStopped();
    let forks = 0;
    for (const { metadata, next } of await historyOf(thread)) {
      if (next[0] !== 'ask') continue;
      const fork = await graphs.fork(graph, 'x', { checkpoint: metadata.checkpoint, threadId: `fork-${forks++}` });
      expect((await fork.untilStopped())[INTERRUPT]).toEqual([{ id: '2.ask:0', value: 'a?' }]);
      expect(await fork.decisions()).toEqual([]);
    }
    expect(forks).toBeGreaterThan(2);
  });

  test('a fork whose update does not fit begins no thread', async () => {
    const { graph, graphs } = await paused();
    await expect(graphs.fork(graph, 'x', { threadId: 'y', asNode: 'nobody' as never })).rejects.toMatchObject({
      code: 'UNKNOWN_NODE',
    });
    expect((await graphs.fork(graph, 'x', { threadId: 'y' })).id).toBe('y');
  });

  test('a run that fails again when it is retried can be retried once more, with all it had', async () => {
    let broken = true;
    const graph = new StateGraph(State)
      .addNode(
        'a',
        inWorkflow(() => ({ log: 'a' })),
      )
      .addNode(
        'b',
        inWorkflow(() => ({ log: 'b' })),
      )
      .addEdge(START, 'a')
      .addConditionalEdges('a', () => {
        if (broken) throw new Error('lost');
        return 'b';
      })
      .compile({ name: 'routed' });
    const graphs = new InMemoryGraphs({ graphs: [graph] });
    await expect(graphs.invoke(graph, {}, { threadId: 'x' })).rejects.toMatchObject({ code: 'ROUTER_FAILED' });
    await expect(graphs.invoke(graph, null, { threadId: 'x' })).rejects.toMatchObject({ code: 'ROUTER_FAILED' });
    expect((await graphs.thread(graph, 'x').getState()).values.log).toEqual(['a']);
    broken = false;
    expect((await graphs.invoke(graph, null, { threadId: 'x' })).log).toEqual(['a', 'b']);
  });

  test('an edit whose router fails changes nothing', async () => {
    let broken = true;
    const graph = new StateGraph(State)
      .addNode(
        'ask',
        inWorkflow(() => ({ log: String(interrupt('?')) })),
      )
      .addEdge(START, 'ask')
      .addConditionalEdges('ask', () => {
        if (broken) throw new Error('lost');
        return END;
      })
      .compile({ name: 'routed' });
    const graphs = new InMemoryGraphs({ graphs: [graph] });
    await graphs.invoke(graph, {}, { threadId: 'x' });
    const thread = graphs.thread(graph, 'x');
    const before = await thread.getState();
    await expect(thread.updateState({}, { asNode: 'ask' })).rejects.toMatchObject({ code: 'ROUTER_FAILED' });
    expect(await thread.getState()).toEqual(before);
    broken = false;
    await thread.approve();
    expect((await thread.untilStopped()).log).toEqual(['true']);
  });

  test('what a finished sibling wrote cannot be replaced', async () => {
    const graph = new StateGraph(State)
      .addNode(
        'a',
        inWorkflow(() => ({ log: 'a wrote' })),
      )
      .addNode(
        'b',
        inWorkflow(() => ({ log: String(interrupt('?')) })),
      )
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile({ name: 'siblings' });
    const graphs = new InMemoryGraphs({ graphs: [graph] });
    await graphs.invoke(graph, {}, { threadId: 'x' });
    const thread = graphs.thread(graph, 'x');
    await expect(thread.updateState({}, { asNode: 'a' })).rejects.toMatchObject({ code: 'STATE_UPDATE_CONFLICT' });
    expect((await thread.getState()).values.log).toEqual(['a wrote']);
  });

  test('nodes that a breakpoint holds are not dropped by an update as another', async () => {
    const graph = new StateGraph(State)
      .addNode(
        'a',
        inWorkflow(() => ({ log: 'a' })),
      )
      .addNode(
        'b',
        inWorkflow(() => ({ log: 'b' })),
      )
      .addNode(
        'z',
        inWorkflow(() => ({ log: 'z' })),
      )
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addConditionalEdges('b', () => END, ['z'] as never)
      .compile({ name: 'held', interruptBefore: ['b'] });
    const graphs = new InMemoryGraphs({ graphs: [graph] });
    await graphs.invoke(graph, {}, { threadId: 'x' });
    await expect(graphs.thread(graph, 'x').updateState({}, { asNode: 'z' })).rejects.toMatchObject({
      code: 'STATE_UPDATE_CONFLICT',
    });
  });

  test('a retry keeps the idempotency keys', async () => {
    const keys: string[] = [];
    let broken = true;
    const { graph, graphs, thread } = await paused({
      publish: () => {
        keys.push(nodeContext().idempotencyKey);
        if (broken) throw new Error('offline');
        return {};
      },
    });
    await thread.approve();
    await expect(thread.untilStopped()).rejects.toMatchObject({ code: 'NODE_FAILED' });
    broken = false;
    await graphs.invoke(graph, null, { threadId: 'x' });
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(2);
  });
});
