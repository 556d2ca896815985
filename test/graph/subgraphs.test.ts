import { z } from 'zod';
import {
  Command,
  END,
  INTERRUPT,
  inWorkflow,
  MessagesValue,
  Overwrite,
  PrivateValue,
  Send,
  START,
  StateGraph,
  StateSchema,
  subgraph,
} from 'abeyance';
import { InMemoryGraphs } from 'abeyance/testing';
import { around, asking, Inner, Outer } from './support/review-graphs';

describe('a graph as a node of another', () => {
  test('runs its nodes one by one, and asks under the path of its nodes', async () => {
    const { graph, graphs } = around(asking());
    const paused = await graphs.invoke(graph, {}, { threadId: 'a' });
    expect(paused[INTERRUPT]).toEqual([{ id: '2.review/2.ask:0', value: 'fine?' }]);
    const state = await graphs.thread(graph, 'a').getState();
    expect(state.next).toEqual(['review']);
    expect(state.interrupts).toMatchObject([{ node: 'review/ask', task: '2.review/2.ask' }]);
    expect(state.tasks.map(({ name, status }) => [name, status])).toEqual([
      ['review', 'waiting'],
      ['review/ask', 'waiting'],
    ]);
  });

  test('carries on at the node that asked: what ran before it in the subgraph stays as it was', async () => {
    const inner = asking();
    const { graph, graphs } = around(inner);
    await graphs.invoke(graph, {}, { threadId: 'a' });
    const done = await graphs.invoke(graph, new Command({ resume: 'yes' }), { threadId: 'a' });
    expect(inner.runs).toEqual({ step: 1, ask: 2 });
    expect(done).toEqual({ log: ['before', 'step', 'ask', 'after yes'], verdict: 'yes', draft: '' });
  });

  test('hands over each update that both fold just once', async () => {
    const { graph, graphs } = around(asking());
    await graphs.invoke(graph, { log: 'in' }, { threadId: 'a' });
    await graphs.thread(graph, 'a').approve();
    expect((await graphs.thread(graph, 'a').untilStopped()).log).toEqual(['in', 'before', 'step', 'ask', 'after true']);
  });

  test('keeps what the graph around does not have to itself', async () => {
    const { graph, graphs } = around(asking());
    await graphs.invoke(graph, {}, { threadId: 'a' });
    await graphs.thread(graph, 'a').approve();
    expect(await graphs.thread(graph, 'a').untilStopped()).not.toHaveProperty('secret');
  });

  test('is decided by the path of its nodes, and not by its own name', async () => {
    const { graph, graphs } = around(asking());
    await graphs.invoke(graph, {}, { threadId: 'a' });
    const thread = graphs.thread(graph, 'a');
    await expect(thread.approve({ node: 'review' })).rejects.toMatchObject({ code: 'QUESTION_UNKNOWN' });
    await expect(thread.approve({ node: 'review/nobody' })).rejects.toMatchObject({ code: 'QUESTION_UNKNOWN' });
    await thread.approve({ node: 'review/ask' });
    expect((await thread.untilStopped()).verdict).toBe('true');
  });

  test('keeps a decision that comes before its node has asked, by path or by id', async () => {
    for (const target of [{ node: 'review/ask' }, { question: '2.review/2.ask:0' }]) {
      const { graph, graphs } = around(asking());
      const thread = await graphs.start(graph, {}, { threadId: 'a' });
      expect(await thread.approve(target)).toMatchObject({ kind: 'kept' });
      expect((await thread.untilStopped()).verdict).toBe('true');
    }
  });

  test.each(['2.review/9.nobody:0', '2.review/2.ask/1.deeper:0', '2.review:0', '1.before/1.ask:0'])(
    'refuses a decision for %s, which no node can ask',
    async (question) => {
      const { graph, graphs } = around(asking());
      const thread = await graphs.start(graph, {}, { threadId: 'a' });
      await expect(thread.approve({ question })).rejects.toMatchObject({ code: 'QUESTION_UNKNOWN' });
    },
  );

  test('asks three graphs deep, under the whole path', async () => {
    const inner = asking('deep');
    const wrap = (name: string, node: string, graph: any) =>
      new StateGraph(Inner).addNode(node, graph).addEdge(START, node).addEdge(node, END).compile({ name });
    const top = wrap('top', 'a', wrap('middle', 'b', inner.graph));
    const graphs = new InMemoryGraphs({ nodes: [inner.nodes], graphs: [top] });
    const paused = await graphs.invoke(top, {}, { threadId: 'x' });
    expect(paused[INTERRUPT]?.map(({ id }) => id)).toEqual(['1.a/1.b/2.ask:0']);
    await graphs.thread(top, 'x').approve({ node: 'a/b/ask' });
    expect(await graphs.thread(top, 'x').untilStopped()).toMatchObject({ log: ['step', 'ask'], verdict: 'true' });
    expect(inner.runs).toEqual({ step: 1, ask: 2 });
  });

  test('runs beside others, each with its questions, answered one by one', async () => {
    const inner = asking();
    const graph = new StateGraph(Outer)
      .addNode('left', subgraph(inner.graph, { output: ({ verdict }) => ({ log: `left ${verdict}` }) }))
      .addNode('right', subgraph(inner.graph, { output: ({ verdict }) => ({ log: `right ${verdict}` }) }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile({ name: 'outer' });
    const graphs = new InMemoryGraphs({ nodes: [inner.nodes], graphs: [graph] });
    const paused = await graphs.invoke(graph, {}, { threadId: 'a' });
    expect(paused[INTERRUPT]?.map(({ id }) => id)).toEqual(['1.left/2.ask:0', '1.right/2.ask:0']);
    const thread = graphs.thread(graph, 'a');
    await expect(thread.approve()).rejects.toMatchObject({ code: 'ANSWER_AMBIGUOUS' });
    await thread.resume('r', { node: 'right/ask' });
    await thread.resume('l', { node: 'left/ask' });
    expect((await thread.untilStopped()).log).toEqual(['left l', 'right r']);
    expect(inner.runs).toEqual({ step: 2, ask: 4 });
  });

  test('runs once for each Send, on its input', async () => {
    const inner = asking();
    const graph = new StateGraph(Outer)
      .addNode('review', inner.graph)
      .addConditionalEdges(START, () => [new Send('review', { log: 'one' }), new Send('review', { log: 'two' })], [
        'review',
      ])
      .addEdge('review', END)
      .compile({ name: 'outer' });
    const graphs = new InMemoryGraphs({ nodes: [inner.nodes], graphs: [graph] });
    const paused = await graphs.invoke(graph, {}, { threadId: 'a' });
    const ids = paused[INTERRUPT]?.map(({ id }) => id);
    expect(ids).toEqual(['1.review.0/2.ask:0', '1.review.1/2.ask:0']);
  });

  test('maps state in and out where it shares no key', async () => {
    const Words = new StateSchema({ text: z.string(), length: z.number().default(0) });
    const counter = new StateGraph(Words)
      .addNode(
        'count',
        inWorkflow(({ text }: { text: string }) => ({ length: text.length })),
      )
      .addEdge(START, 'count')
      .compile({ name: 'counter' });
    const graph = new StateGraph(Outer)
      .addNode(
        'count',
        subgraph(counter, {
          input: (state: { draft: string }) => ({ text: state.draft }),
          output: ({ length }) => ({ verdict: `${length} letters` }),
        }),
      )
      .addEdge(START, 'count')
      .compile({ name: 'outer' });
    const done = await new InMemoryGraphs({ graphs: [graph] }).invoke(graph, { draft: 'hello' });
    expect(done.verdict).toBe('5 letters');
    expect(() =>
      new StateGraph(Outer).addNode('count', counter).addEdge(START, 'count').compile({ name: 'outer' }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_STATE_SCHEMA', message: expect.stringContaining('input') }));
  });

  test('hands a replaced value over as a replacement', async () => {
    const clearing = new StateGraph(Inner)
      .addNode(
        'clear',
        inWorkflow(() => [{ log: new Overwrite(['fresh']) }, { log: 'more' }]),
      )
      .addEdge(START, 'clear')
      .compile({ name: 'clearing' });
    const graph = new StateGraph(Outer).addNode('clear', clearing).addEdge(START, 'clear').compile({ name: 'outer' });
    const done = await new InMemoryGraphs({ graphs: [graph] }).invoke(graph, { log: 'old' });
    expect(done.log[0]).toBe('fresh');
    expect(done.log).not.toContain('old');
  });

  test('gives messages the same ids outside as inside', async () => {
    const Talk = new StateSchema({ messages: MessagesValue, seen: z.array(z.string()).default([]) });
    const inner = new StateGraph(Talk)
      .addNode(
        'say',
        inWorkflow(() => ({ messages: [{ role: 'ai' as const, content: 'hi' }] })),
      )
      .addNode(
        'look',
        inWorkflow(({ messages }: { messages: readonly { id: string }[] }) => ({ seen: messages.map(({ id }) => id) })),
      )
      .addEdge(START, 'say')
      .addEdge('say', 'look')
      .compile({ name: 'talk' });
    const graph = new StateGraph(Talk).addNode('talk', inner).addEdge(START, 'talk').compile({ name: 'outer' });
    const done = await new InMemoryGraphs({ graphs: [graph] }).invoke(graph, {});
    expect(done.messages.map(({ id }) => id)).toEqual(done.seen);
  });
});

describe('at its border', () => {
  test('messages from several visits all arrive', async () => {
    const Talk = new StateSchema({ messages: MessagesValue, round: z.number().default(0) });
    const Plain = new StateSchema({ messages: z.array(z.any()).default([]) });
    const inner = new StateGraph(Plain)
      .addNode(
        'say',
        inWorkflow(() => ({ messages: [{ role: 'ai', content: 'hi' }] })),
      )
      .addEdge(START, 'say')
      .compile({ name: 'say' });
    const graph = new StateGraph(Talk)
      .addNode('s', subgraph(inner, { input: () => ({}) }))
      .addNode(
        'count',
        inWorkflow(({ round }: { round: number }) => ({ round: round + 1 })),
      )
      .addEdge(START, 's')
      .addEdge('s', 'count')
      .addConditionalEdges('count', ({ round }) => (round < 3 ? 's' : END))
      .compile({ name: 'outer' });
    expect((await new InMemoryGraphs({ graphs: [graph] }).invoke(graph, {})).messages).toHaveLength(3);
  });

  test('a private value inside is not a public one outside', async () => {
    const Secret = new StateSchema({ notes: new PrivateValue(z.string().default('')), out: z.string().default('') });
    const Open = new StateSchema({ notes: z.string().default(''), out: z.string().default('') });
    const inner = new StateGraph(Secret)
      .addNode(
        'think',
        inWorkflow(() => ({ notes: 'secret', out: 'done' })),
      )
      .addEdge(START, 'think')
      .compile({ name: 'thinking' });
    const graph = new StateGraph(Open).addNode('think', inner).addEdge(START, 'think').compile({ name: 'outer' });
    expect(await new InMemoryGraphs({ graphs: [graph] }).invoke(graph, {})).toEqual({ notes: '', out: 'done' });
  });

  test('an update from outside of what it is at work on is refused', async () => {
    const { graph, graphs } = around(asking());
    await graphs.invoke(graph, {}, { threadId: 'a' });
    const thread = graphs.thread(graph, 'a');
    const conflict = { code: 'STATE_UPDATE_CONFLICT', message: expect.stringContaining('"review"') };
    await expect(thread.updateState({ verdict: 'mine' })).rejects.toMatchObject(conflict);
    await expect(thread.approve({ update: { verdict: 'mine' } })).rejects.toMatchObject(conflict);
    await thread.updateState({ draft: 'mine' });
    expect((await thread.getState()).values.draft).toBe('mine');
  });

  test('is retried with its own recursion limit counted anew', async () => {
    const looping = new StateGraph(Inner)
      .addNode(
        'again',
        inWorkflow(() => ({ log: 'x' })),
      )
      .addEdge(START, 'again')
      .addConditionalEdges('again', ({ log }) => (log.length < 5 ? 'again' : END))
      .compile({ name: 'looping', recursionLimit: 3 });
    const graph = new StateGraph(Outer).addNode('loop', looping).addEdge(START, 'loop').compile({ name: 'outer' });
    const graphs = new InMemoryGraphs({ graphs: [graph] });
    await expect(graphs.invoke(graph, {}, { threadId: 'x' })).rejects.toMatchObject({ code: 'GRAPH_RECURSION_LIMIT' });
    expect((await graphs.invoke(graph, null, { threadId: 'x' })).log).toHaveLength(5);
  });
});

describe('a graph that is to run as a child workflow', () => {
  const played = async (run: 'inline' | 'child'): Promise<unknown> => {
    const inner = asking();
    const { graph, graphs } = around(inner, run);
    const paused = await graphs.invoke(graph, { log: 'in' }, { threadId: 'a', interruptBefore: ['review/step'] });
    const thread = graphs.thread(graph, 'a');
    const held = await graphs.invoke(graph, null, { threadId: 'a' });
    const { interrupts, next, tasks } = await thread.getState();
    const refused = await thread.approve({ node: 'review' }).catch(({ code }: { code: string }) => code);
    await thread.resume('yes', { node: 'review/ask', by: 'ana' });
    const done = await thread.untilStopped();
    const steps = [];
    for await (const { metadata, values } of thread.getStateHistory()) steps.push([metadata.step, values]);
    const verdicts = (await thread.decisions()).map(({ verdict }) => verdict);
    const asked = interrupts.map(({ askedAt: _, ...question }) => question);
    const lines = tasks.map(({ id, name, visit, status }) => [id, name, visit, status]);
    return { paused, held, asked, next, lines, refused, done, steps, verdicts, runs: inner.runs };
  };

  test('runs inline in memory: the same ids, paths, state and results', async () => {
    expect(await played('child')).toEqual(await played('inline'));
  });

  test('is another graph to a run that waits: the fingerprint tells', () => {
    expect(around(asking(), 'child').graph.fingerprint).not.toBe(around(asking()).graph.fingerprint);
    expect(around(asking()).graph.fingerprint).toBe(around(asking()).graph.fingerprint);
  });
});

describe('a command to the parent graph', () => {
  const escaping = (command: () => unknown) => {
    const inner = new StateGraph(Inner)
      .addNode('leave', inWorkflow(command as () => any))
      .addNode(
        'never',
        inWorkflow(() => ({ log: 'never' })),
      )
      .addEdge(START, 'leave')
      .addEdge('leave', 'never')
      .compile({ name: 'inner' });
    const graph = new StateGraph(Outer)
      .addNode('inner', subgraph(inner, { ends: ['elsewhere'] }))
      .addNode(
        'elsewhere',
        inWorkflow(() => ({ log: 'elsewhere' })),
      )
      .addEdge(START, 'inner')
      .compile({ name: 'outer' });
    return { graph, inner, graphs: new InMemoryGraphs({ graphs: [graph, inner] }) };
  };

  test('ends the subgraph, updates the graph around and goes there', async () => {
    const { graph, graphs } = escaping(() => [
      { log: 'kept' },
      new Command({ graph: Command.PARENT, update: { verdict: 'left' }, goto: 'elsewhere' }),
    ]);
    expect(await graphs.invoke(graph, {})).toEqual({ log: ['kept', 'elsewhere'], verdict: 'left', draft: '' });
  });

  test('to a node the graph around does not have fails the run', async () => {
    const { graph, graphs } = escaping(() => new Command({ graph: Command.PARENT, goto: 'nowhere' }));
    await expect(graphs.invoke(graph, {})).rejects.toMatchObject({ code: 'UNKNOWN_GOTO', node: 'inner' });
  });

  test('with a key the graph around does not have fails the run', async () => {
    const { graph, graphs } = escaping(() => new Command({ graph: Command.PARENT, update: { secret: 'x' } }));
    await expect(graphs.invoke(graph, {})).rejects.toMatchObject({ code: 'STATE_UNKNOWN_KEY', node: 'inner' });
  });

  test('fails the run where there is no graph around', async () => {
    const { inner, graphs } = escaping(() => new Command({ graph: Command.PARENT, goto: 'elsewhere' }));
    await expect(graphs.invoke(inner, {})).rejects.toMatchObject({ code: 'NO_PARENT_GRAPH', node: 'leave' });
  });
});
