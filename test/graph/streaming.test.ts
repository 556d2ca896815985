import { z } from 'zod';
import { Command, interrupt, INTERRUPT, isInterrupted, nodeContext, type StreamMode } from 'abeyance';
import { InMemoryGraphs, scriptedModel } from 'abeyance/testing';
import { Latches } from '../support/latches';
import { chat } from '../support/model-graphs';
import { all, lines, upTo } from '../support/read-stream';
import { stages } from '../support/stream-graphs';
import { streamNodes } from '../support/stream-nodes';
import { buildGraph, Log } from './support/build-graph';
import { around, asking } from './support/review-graphs';
import { inMemory } from './support/run-in-memory';

const ALL: readonly StreamMode[] = ['values', 'updates', 'tasks', 'questions', 'custom', 'messages'];

function staged(latches = new Latches()): InMemoryGraphs {
  return new InMemoryGraphs({ nodes: streamNodes(latches).slice(0, 1), graphs: [] });
}

describe('a run that is streamed', () => {
  it('tells its state, tasks, writes and questions in order, up to the pause', async () => {
    const events = await all(staged().stream(stages, {}, { threadId: 't', modes: ALL }));
    expect(lines(events)).toEqual([
      '0 values {"answer":null,"lines":[],"fail":0}',
      '1.prepare#1 starts',
      '1.prepare#1 attempt 1 wrote 0 {"percent":50,"attempt":1}',
      '1.prepare#1 attempt 1 wrote 1 {"percent":100,"attempt":1,"began":1}',
      '1.prepare#1 done',
      '1.prepare#1 updates [{"lines":"prepared"}]',
      '1 values {"answer":null,"lines":["prepared"],"fail":0}',
      '2.note#1 starts',
      '2.note#1 attempt 1 wrote 0 {"noted":true}',
      '2.note#1 done',
      '2.note#1 updates [{"lines":"noted"}]',
      '2 values {"answer":null,"lines":["prepared","noted"],"fail":0}',
      '3.ask#1 starts',
      '3.ask#1 paused',
      'open: 3.ask:0',
      '3 values {"answer":null,"lines":["prepared","noted"],"fail":0} asks 3.ask:0',
    ]);
  });

  it('ends at a pause with the whole state and the question', async () => {
    const last = (await all(staged().stream(stages, {}, { threadId: 't', modes: ['values'] }))).at(-1);
    if (last?.kind !== 'values' || !isInterrupted(last.values)) throw new Error('the last event is no pause');
    expect(last.values).toMatchObject({ lines: ['prepared', 'noted'] });
    expect(last.values[INTERRUPT]).toEqual([{ id: '3.ask:0', value: 'go on?' }]);
  });

  it('goes on with the answer, on its next visit, to the end', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    const events = await all(graphs.stream(stages, new Command({ resume: 'yes' }), { threadId: 't' }));
    expect(lines(events)).toEqual([
      'open: ',
      '3.ask#2 starts',
      '3.ask#2 done',
      '3.ask#2 updates [{"answer":"yes"}]',
      '3 values {"answer":"yes","lines":["prepared","noted"],"fail":0}',
      '4.finish#1 starts',
      '4.finish#1 done',
      '4.finish#1 updates [{"lines":"finished"}]',
      '4 values {"answer":"yes","lines":["prepared","noted","finished"],"fail":0}',
      'end done',
    ]);
  });

  it('does nothing before it is iterated', () => {
    const graphs = staged();
    graphs.stream(stages, {}, { threadId: 't' });
    expect(() => graphs.thread('t')).toThrow(expect.objectContaining({ code: 'THREAD_UNKNOWN' }));
  });

  it('tells only the modes that were asked for, and the end in any case', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    const events = await all(graphs.stream(stages, new Command({ resume: 1 }), { threadId: 't', modes: ['updates'] }));
    expect(lines(events)).toEqual([
      '3.ask#2 updates [{"answer":1}]',
      '4.finish#1 updates [{"lines":"finished"}]',
      'end done',
    ]);
  });

  it('tells of attempts that failed, and tells attempts apart', async () => {
    const events = await all(staged().stream(stages, { fail: 2 }, { modes: ['tasks', 'custom'] }));
    expect(lines(events).slice(0, 8)).toEqual([
      '1.prepare#1 starts',
      '1.prepare#1 attempt 1 wrote 0 {"percent":50,"attempt":1}',
      '1.prepare#1 attempt 1 failed: Node "prepare" failed: attempt 1 failed',
      '1.prepare#1 attempt 2 wrote 0 {"percent":50,"attempt":2}',
      '1.prepare#1 attempt 2 failed: Node "prepare" failed: attempt 2 failed',
      '1.prepare#1 attempt 3 wrote 0 {"percent":50,"attempt":3}',
      '1.prepare#1 attempt 3 wrote 1 {"percent":100,"attempt":3,"began":1}',
      '1.prepare#1 done',
    ]);
  });

  it('ends with the failure of a run that fails, and throws it as invoke does', async () => {
    const seen: string[] = [];
    const streaming = (async () => {
      for await (const event of staged().stream(stages, { fail: 3 }, { modes: ['tasks'] }))
        seen.push(...lines([event]));
    })();
    await expect(streaming).rejects.toMatchObject({
      code: 'NODE_FAILED',
      message: 'Node "prepare" failed: attempt 3 failed',
    });
    expect(seen.slice(-2)).toEqual(['1.prepare#1 failed', 'end failed NODE_FAILED']);
  });

  it('tells of answers that are sent back, with the reason', async () => {
    const graph = buildGraph({ nodes: ['ask'] });
    const run = inMemory(graph, {
      ask: () => ({ log: String(interrupt('how many?', { schema: z.coerce.number() })) }),
    });
    await run.invoke();
    const events = await all(
      run.graphs.stream(graph, new Command({ resume: 'many' }), { threadId: 'thread', modes: ['tasks', 'questions'] }),
    );
    expect(lines(events)).toEqual(['open: ', '1.ask#2 starts', '1.ask#2 sent-back', 'open: 1.ask:0']);
    expect(events.at(-2)).toMatchObject({ end: { questions: [{ id: '1.ask:0' }], reason: expect.any(String) } });
  });

  it('stops again where an answer leaves other questions open, or is kept for a question to come', async () => {
    const graph = buildGraph({ nodes: ['ask'] });
    const run = inMemory(graph, { ask: () => ({ log: [`${interrupt('a?')}`, `${interrupt('b?')}`] }) });
    await run.invoke();
    const options = { threadId: 'thread', modes: ['values'] } as const;
    const first = await all(run.graphs.stream(graph, new Command({ resume: 1 }), options));
    expect(lines(first)).toEqual(['1 values {"log":[]} asks 1.ask:1']);
    const thread = run.thread();
    const events = upTo(thread.stream({ modes: ['values'], after: first.at(-1)?.offset ?? '' }), () => true);
    await thread.resume(3, { question: '1.ask:2' });
    expect(lines(await events)).toEqual(['1 values {"log":[]} asks 1.ask:1']);
  });

  it('names nodes in subgraphs by their path, and tells of the subgraph’s task as of any', async () => {
    const { graph, graphs } = around(asking());
    const events = await all(graphs.stream(graph, {}, { threadId: 't', modes: ['tasks', 'updates'] }));
    await graphs.thread('t').resume('yes');
    const rest = await all(
      graphs.thread('t').stream({ modes: ['tasks', 'updates'], after: events.at(-1)?.offset ?? '' }),
    );
    expect(lines(events)).toEqual([
      '1.before#1 starts',
      '1.before#1 done',
      '1.before#1 updates [{"log":"before"}]',
      '2.review#1 starts',
      '2.review/1.step#1 starts',
      '2.review/1.step#1 done',
      '2.review/1.step#1 updates [{"log":"step","secret":"inside"}]',
      '2.review/2.ask#1 starts',
      '2.review/2.ask#1 paused',
    ]);
    expect(events[4]).toMatchObject({ node: 'review/step', step: 1 });
    expect(lines(rest)).toEqual([
      '2.review/2.ask#2 starts',
      '2.review/2.ask#2 done',
      '2.review/2.ask#2 updates [{"log":"ask","verdict":"yes"}]',
      '2.review#1 done',
      expect.stringMatching(/^2.review#1 updates /),
      '3.after#1 starts',
      '3.after#1 done',
      '3.after#1 updates [{"log":"after yes"}]',
      'end done',
    ]);
  });

  it('marks what was used again from the cache', async () => {
    const graph = buildGraph({
      state: { log: Log, n: z.number().default(0) },
      nodes: { work: { reads: ['n'], cache: {} } },
      edges: [['__start__', 'work']],
      routers: [['work', ({ log }) => (log.length < 2 ? 'work' : '__end__'), ['work', '__end__']]],
    });
    const run = inMemory(graph, { work: () => ({ log: 'worked' }) });
    const events = await all(run.graphs.stream(graph, {}, { modes: ['tasks'] }));
    expect(lines(events)).toEqual(['1.work#1 starts', '1.work#1 done', '2.work#0 done', 'end done']);
    expect(events[2]).toMatchObject({ end: { kind: 'done', cached: true } });
  });
});

describe('carrying on', () => {
  it('streams on from a breakpoint, and from where a run failed', async () => {
    const graph = buildGraph({ nodes: ['a', 'b'] });
    let fails = true;
    const run = inMemory(graph, {
      a: () => ({ log: 'a' }),
      b: () => {
        if (fails) throw new Error('not yet');
        return { log: 'b' };
      },
    });
    await run.invoke({}, { interruptBefore: ['b'] });
    const options = { threadId: 'thread', modes: ['tasks'] } as const;
    await expect(all(run.graphs.stream(graph, null, options))).rejects.toMatchObject({ code: 'NODE_FAILED' });
    fails = false;
    expect(lines(await all(run.graphs.stream(graph, null, options)))).toEqual([
      '2.b#2 starts',
      '2.b#2 done',
      'end done',
    ]);
  });

  it('tells where a run stands that has nothing to carry on with', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    const paused = await all(graphs.stream(stages, null, { threadId: 't', modes: ['values'] }));
    expect(lines(paused)).toEqual(['3 values {"answer":null,"lines":["prepared","noted"],"fail":0} asks 3.ask:0']);
    await graphs.thread('t').resume(1);
    await graphs.thread('t').untilStopped();
    const ended = await all(graphs.stream(stages, null, { threadId: 't', modes: ['values'] }));
    expect(lines(ended)).toEqual([
      '4 values {"answer":1,"lines":["prepared","noted","finished"],"fail":0}',
      'end done',
    ]);
  });

  it('tells an edit of the state, and what comes of it', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    const thread = graphs.thread(stages, 't');
    const before = (await upTo(thread.stream(), (event) => event.kind === 'values' && isInterrupted(event.values))).at(
      -1,
    );
    await thread.updateState({ answer: 'edited' }, { asNode: 'ask' });
    const events = await all(thread.stream({ after: before?.offset ?? '', modes: ['values', 'questions'] }));
    expect(lines(events)).toEqual([
      expect.stringContaining('"answer":"edited"'),
      expect.stringContaining('"answer":"edited"'),
      'open: ',
      expect.stringContaining('"finished"'),
      'end done',
    ]);
  });
});

describe('readers of a thread', () => {
  it('all get the same, whether they come early or late, across pauses to the end', async () => {
    const latches = new Latches();
    latches.close('t');
    const graphs = staged(latches);
    const thread = await graphs.start(stages, {}, { threadId: 't' });
    const early = all(thread.stream({ modes: ALL }));
    latches.open('t');
    await thread.untilStopped();
    await thread.resume('yes');
    await thread.untilStopped();
    const late = await all(thread.stream({ modes: ALL }));
    expect(await early).toEqual(late);
    expect(late.at(-1)).toMatchObject({ kind: 'end', status: 'done' });
  });

  it('go on after any offset without a gap or a repeat', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    const thread = graphs.thread(stages, 't');
    await thread.resume('yes');
    await thread.untilStopped();
    const whole = await all(thread.stream({ modes: ALL }));
    for (const [n, { offset }] of whole.entries())
      expect(lines(await all(thread.stream({ modes: ALL, after: offset })))).toEqual(lines(whole.slice(n + 1)));
  });

  it('are told an offset that is none', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    for (const after of ['', 'nonsense', 'another-run/3.0'])
      await expect(all(graphs.thread('t').stream({ after }))).rejects.toMatchObject({ code: 'OFFSET_UNKNOWN' });
  });

  it('end with the reason of their signal', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    const leave = new AbortController();
    const reading = all(graphs.thread('t').stream({ signal: leave.signal }));
    leave.abort(new Error('gone home'));
    await expect(reading).rejects.toThrow('gone home');
  });

  it('see only the newest run of a thread, each from its own start', async () => {
    const graphs = staged();
    await graphs.invoke(stages, {}, { threadId: 't' });
    await graphs.thread('t').resume('yes');
    await graphs.thread('t').untilStopped();
    await graphs.invoke(stages, { fail: 1 }, { threadId: 't' });
    const [first] = await upTo(graphs.thread('t').stream(), () => true);
    expect(lines(first ? [first] : [])).toEqual([expect.stringMatching(/^5 values .*"finished".*"fail":1/)]);
  });
});

describe('what a model says', () => {
  it('is told word by word while it says it', async () => {
    const planner = scriptedModel([{ content: 'one two three' }], { stream: true });
    const graphs = new InMemoryGraphs({ graphs: [chat], models: { planner } });
    const events = await all(graphs.stream(chat, { messages: 'hi' }, { modes: ['messages', 'tasks'] }));
    expect(lines(events)).toEqual([
      '1.agent#1 starts',
      '1.agent#1 attempt 1 said 0 "one "',
      '1.agent#1 attempt 1 said 4 "two "',
      '1.agent#1 attempt 1 said 8 "three"',
      '1.agent#1 done',
      'end done',
    ]);
  });

  it('is told in one piece where the model does not stream, before its task ends', async () => {
    const graphs = new InMemoryGraphs({ graphs: [chat], models: { planner: scriptedModel([{ content: 'one two' }]) } });
    const events = await all(graphs.stream(chat, { messages: 'hi' }, { modes: ['messages', 'tasks'] }));
    expect(lines(events).slice(1, 3)).toEqual(['1.agent#1 attempt 1 said 0 "one two"', '1.agent#1 done']);
  });
});

describe('write', () => {
  const graph = buildGraph({ nodes: ['a'] });
  const writing = (body: (write: (chunk: unknown) => void) => unknown): Promise<string[]> => {
    const run = inMemory(graph, { a: () => body(nodeContext().write) });
    return all(run.graphs.stream(graph, {}, { modes: ['custom'] })).then(lines);
  };

  it.each([new Date(0), () => 1, { at: NaN }, undefined])('refuses what is no JSON: %p', async (chunk) => {
    await expect(writing((write) => write(chunk))).rejects.toMatchObject({ code: 'STATE_NOT_JSON', node: 'a' });
  });

  it('refuses a chunk over 64 KiB, and takes one of 64', async () => {
    await expect(writing((write) => write('x'.repeat(64 * 1024)))).rejects.toMatchObject({ code: 'STATE_TOO_LARGE' });
    expect(await writing((write) => write('x'.repeat(64 * 1024 - 2)))).toHaveLength(2);
  });

  it('tells what was written then, whatever becomes of it later', async () => {
    const chunk = { n: 1 };
    const told = await writing((write) => {
      write(chunk);
      chunk.n = 2;
    });
    expect(told[0]).toMatch('{"n":1}');
  });

  it('does nothing after a pause was asked for', async () => {
    const run = inMemory(graph, {
      a: () => {
        const { write } = nodeContext();
        try {
          interrupt('?');
        } finally {
          write('too late');
        }
      },
    });
    expect(lines(await all(run.graphs.stream(graph, {}, { modes: ['custom'] })))).toEqual([]);
  });
});
