import { Client, Connection } from '@temporalio/client';
import { Command, INTERRUPT, isInterrupted, type StreamEvent, type StreamMode } from 'abeyance';
import { openaiModel, type ChatModel, type ModelRecord } from 'abeyance/activity';
import { GraphClient } from 'abeyance/client';
import { InMemoryGraphs, startOpenAiServer } from 'abeyance/testing';
import { eventually } from '../support/eventually';
import { recordsOf } from '../support/history-text';
import { Latches } from '../support/latches';
import { rolling_gates, rolling_loop } from '../support/long-graphs';
import { longNodes } from '../support/long-nodes';
import { chat } from '../support/model-graphs';
import { ModelOfThread } from '../support/model-of-thread';
import { onServer, testServer } from '../support/on-server';
import { all, lines, upTo } from '../support/read-stream';
import { runsOf } from '../support/runs-of';
import { stages } from '../support/stream-graphs';
import { streamNodes } from '../support/stream-nodes';

const RECORDED: readonly StreamMode[] = ['values', 'updates', 'tasks', 'questions'];
const ALL: readonly StreamMode[] = [...RECORDED, 'custom', 'messages'];

const latches = new Latches();
const planner = new ModelOfThread();
const server = onServer(
  () => ({
    nodes: [...streamNodes(latches), ...longNodes(latches, new Map())],
    graphs: [chat],
    models: { planner },
  }),
  { silent: true },
);

/** A client in its own process would have its own connection, and know nothing. */
async function elsewhere<T>(read: (graphs: GraphClient) => Promise<T>): Promise<T> {
  const { address, namespace } = testServer();
  const connection = await Connection.connect({ address });
  try {
    return await read(new GraphClient(new Client({ connection, namespace }), { taskQueue: server.taskQueue }));
  } finally {
    await connection.close();
  }
}

async function finished(threadId: string, input = {}): Promise<void> {
  await server.graphs.invoke(stages, input, { threadId });
  await server.graphs.thread(stages, threadId).resume('yes');
  await server.graphs.thread(stages, threadId).untilStopped();
}

/** Takes a thread that was held back to its end with no more than a signal, so that two make the same events. */
async function runByHand(threadId: string): Promise<void> {
  const handle = server.client.workflow.getHandle(threadId);
  const status = async (): Promise<unknown> => (await server.graphs.thread(threadId).getState()).status;
  latches.open(threadId);
  await eventually(async () => expect(await status()).toBe('waiting'));
  await handle.signal('approve');
  await handle.result();
}

/** A model that says words as the test lets it, by the latches `<thread> <n>`. */
const saying = (words: readonly string[], { failing = 0 } = {}): ChatModel => ({
  provider: 'test',
  call: async (_, { writeText, threadId, attempt }) => {
    for (const [n, word] of words.entries()) {
      await latches.pass(`${threadId} ${n}`);
      writeText(word);
    }
    await latches.pass(`${threadId} end`);
    if (attempt <= failing) throw new Error('the line went dead');
    return { content: words.join(''), model: 'test' };
  },
});

const textOf = (events: readonly StreamEvent[]): string =>
  events.reduce((text, event) => (event.kind === 'messages' ? text.slice(0, event.from) + event.text : text), '');

describe('a run that is streamed', () => {
  it('tells the same in the same order as in memory, over a pause and a failed attempt', async () => {
    const tell = async (graphs: Pick<GraphClient, 'stream' | 'thread'>, threadId: string): Promise<string[]> => {
      const asked = await all(graphs.stream(stages, { fail: 1 }, { threadId, modes: RECORDED }));
      const answered = await all(graphs.stream(stages, new Command({ resume: 'yes' }), { threadId, modes: RECORDED }));
      const whole = lines(await all(graphs.thread(stages, threadId).stream({ modes: RECORDED })));
      expect(whole).toEqual([...lines(asked), ...lines(answered)]);
      return whole;
    };
    const onTheServer = await tell(server.graphs, server.threadId('stages'));
    const memory = new InMemoryGraphs({ nodes: streamNodes(latches) });
    expect(onTheServer).toEqual(await tell(memory, 'stages'));
    expect(onTheServer).toContain('1.prepare#1 attempt 1 failed: Node "prepare" failed: attempt 1 failed');
  });

  it('ends at a pause with the whole state and the question', async () => {
    const threadId = server.threadId('stages');
    const last = (await all(server.graphs.stream(stages, {}, { threadId, modes: ['values'] }))).at(-1);
    if (last?.kind !== 'values' || !isInterrupted(last.values)) throw new Error('the last event is no pause');
    expect(last.values).toMatchObject({ answer: null, lines: ['prepared', 'noted'], fail: 0 });
    expect(last.values[INTERRUPT]).toEqual([{ id: '3.ask:0', value: 'go on?' }]);
  });

  it('throws as invoke does where the run fails, after the event that says so', async () => {
    const seen: string[] = [];
    const streaming = (async () => {
      const options = { threadId: server.threadId('stages'), modes: ['tasks'] } as const;
      for await (const event of server.graphs.stream(stages, { fail: 3 }, options)) seen.push(...lines([event]));
    })();
    await expect(streaming).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'prepare' });
    expect(seen).toEqual([
      '1.prepare#1 starts',
      '1.prepare#1 attempt 1 failed: unknown',
      '1.prepare#1 attempt 2 failed: Node "prepare" failed: attempt 2 failed',
      '1.prepare#1 failed',
      'end failed NODE_FAILED',
    ]);
  });

  it('tells of runs that are cancelled or terminated, which no worker ends', async () => {
    for (const how of ['cancel', 'terminate'] as const) {
      const threadId = server.threadId('stages');
      await server.graphs.invoke(stages, {}, { threadId });
      const reading = all(server.graphs.thread(stages, threadId).stream({ modes: ['questions'] }));
      await server.client.workflow.getHandle(threadId)[how]();
      expect((await reading).at(-1)).toMatchObject({
        kind: 'end',
        status: how === 'cancel' ? 'cancelled' : 'terminated',
        error: { code: how === 'cancel' ? 'RUN_CANCELLED' : 'RUN_TERMINATED' },
      });
    }
  });

  it('carries on where it failed, and tells where it stands if there is nothing to carry on with', async () => {
    const threadId = server.threadId('stages');
    await server.graphs.invoke(stages, {}, { threadId });
    const options = { threadId, modes: ['values'] } as const;
    const standing = lines(await all(server.graphs.stream(stages, null, options)));
    expect(standing).toEqual(['3 values {"answer":null,"lines":["prepared","noted"],"fail":0} asks 3.ask:0']);
    await server.client.workflow.getHandle(threadId).terminate();
    const again = lines(await all(server.graphs.stream(stages, null, options)));
    expect(again.at(-1)).toMatch(/^3 values .* asks 3.ask:0$/);
  });

  it('is told apart from the thread’s earlier runs', async () => {
    const threadId = server.threadId('stages');
    await finished(threadId);
    const events = await all(server.graphs.stream(stages, {}, { threadId, modes: ['tasks'] }));
    expect(lines(events)[0]).toBe('6.prepare#1 starts');
  });
});

describe('readers of a thread', () => {
  it('get the same, live or late, here or elsewhere, and the run does not notice', async () => {
    const [watched, alone] = [server.threadId('stages'), server.threadId('stages')];
    for (const threadId of [watched, alone]) latches.close(threadId);
    const thread = await server.graphs.start(stages, {}, { threadId: watched });
    const live = [all(thread.stream({ modes: ALL })), all(thread.stream({ modes: ALL }))];
    const afar = elsewhere((graphs) => all(graphs.thread(stages, watched).stream({ modes: RECORDED })));
    await runByHand(watched);
    const late = lines(await all(thread.stream({ modes: ALL })));
    for (const events of await Promise.all(live)) expect(lines(events)).toEqual(late);
    expect(lines(await afar)).toEqual(late.filter((line) => !line.includes('wrote')));
    await server.graphs.start(stages, {}, { threadId: alone });
    await runByHand(alone);
    const kinds = async (id: string): Promise<unknown[]> => {
      const [run] = await runsOf(server.client, id);
      return (run?.events ?? []).map((event) => event.eventType).sort();
    };
    expect(await kinds(watched)).toEqual(await kinds(alone));
  });

  it('go on after any offset without a gap or a repeat', async () => {
    const threadId = server.threadId('stages');
    await finished(threadId, { fail: 1 });
    const whole = await all(server.graphs.thread(stages, threadId).stream({ modes: ALL }));
    await elsewhere(async (graphs) => {
      for (const [n, { offset }] of whole.entries()) {
        const rest = await all(graphs.thread(stages, threadId).stream({ modes: ALL, after: offset }));
        expect(lines(rest)).toEqual(lines(whole.slice(n + 1)));
      }
    });
  });

  it('go on in another process where one was cut off in the middle, over a pause', async () => {
    const threadId = server.threadId('stages');
    const thread = await server.graphs.start(stages, {}, { threadId });
    const first = await upTo(thread.stream({ modes: ALL }), ({ kind }) => kind === 'questions');
    await thread.resume('yes');
    const rest = await elsewhere((graphs) =>
      all(graphs.thread(stages, threadId).stream({ modes: ALL, after: first.at(-1)?.offset ?? '' })),
    );
    expect(lines([...first, ...rest])).toEqual(lines(await all(thread.stream({ modes: ALL }))));
  });

  it('are told an offset that is none of the thread, and a thread that is none', async () => {
    const [threadId, other] = [server.threadId('stages'), server.threadId('stages')];
    await server.graphs.invoke(stages, {}, { threadId });
    await server.graphs.invoke(stages, {}, { threadId: other });
    const [of] = await upTo(server.graphs.thread(stages, other).stream(), () => true);
    for (const after of ['nonsense', of?.offset ?? ''])
      await expect(all(server.graphs.thread(stages, threadId).stream({ after }))).rejects.toMatchObject({
        code: 'OFFSET_UNKNOWN',
      });
    const nobody = server.graphs.thread(stages, 'nobody').stream();
    await expect(all(nobody)).rejects.toMatchObject({ code: 'THREAD_UNKNOWN' });
    const mistaken = server.graphs.thread(rolling_loop, threadId).stream();
    await expect(all(mistaken)).rejects.toMatchObject({ code: 'THREAD_OF_OTHER_GRAPH' });
    await expect(all(server.graphs.thread(threadId).stream())).rejects.toMatchObject({ code: 'THREAD_OF_OTHER_GRAPH' });
  });

  it('end with the reason of their signal while they wait', async () => {
    const threadId = server.threadId('stages');
    await server.graphs.invoke(stages, {}, { threadId });
    const leave = new AbortController();
    const seen: string[] = [];
    const reading = (async () => {
      const stream = server.graphs.thread(stages, threadId).stream({ modes: ['questions'], signal: leave.signal });
      for await (const { kind } of stream) seen.push(kind);
    })();
    await eventually(() => expect(seen).toEqual(['questions']));
    leave.abort(new Error('gone home'));
    await expect(reading).rejects.toThrow('gone home');
  });
});

describe('a thread that rolls over', () => {
  it('is followed through its runs without a gap or a repeat, from any offset', async () => {
    const threadId = server.threadId('loop');
    const times = 12;
    const live = await all(server.graphs.stream(rolling_loop, { times }, { threadId, modes: RECORDED }));
    expect((await runsOf(server.client, threadId)).length).toBeGreaterThan(2);
    const starts = lines(live).filter((line) => line.endsWith('starts'));
    expect(starts).toEqual(Array.from({ length: times }, (_, n) => `${n + 1}.work#1 starts`));
    const values = live.flatMap((event) => (event.kind === 'values' ? [event.values.lines.length] : []));
    expect(values).toEqual(Array.from({ length: times + 1 }, (_, n) => n));
    const thread = server.graphs.thread(rolling_loop, threadId);
    expect(lines(await all(thread.stream({ modes: RECORDED })))).toEqual(lines(live));
    for (const n of [3, 17, 30, 41]) {
      const rest = await all(thread.stream({ modes: RECORDED, after: live[n]?.offset ?? '' }));
      expect(lines(rest)).toEqual(lines(live.slice(n + 1)));
    }
  });

  it('is followed where it rolls over while it waits: the questions are not told again', async () => {
    const threadId = server.threadId('gates');
    const thread = await server.graphs.start(rolling_gates, {}, { threadId });
    const reading = all(thread.stream({ modes: ['questions', 'values', 'tasks'] }));
    await thread.untilStopped();
    const { interrupts } = await thread.getState();
    const { runId } = await server.client.workflow.getHandle(threadId).describe();
    await eventually(async () => {
      await server.client.workflow.getHandle(threadId).signal('approve', { question: '9.nowhere:0' });
      expect((await server.client.workflow.getHandle(threadId).describe()).runId).not.toBe(runId);
    });
    const standing = lines(await all(server.graphs.stream(rolling_gates, null, { threadId, modes: ['values'] })));
    expect(standing).toEqual([expect.stringMatching(/^1 values .* asks 1.left:0 1.right:0$/)]);
    for (const { id, digest, node } of interrupts) await thread.resume(node, { question: id, digest });
    await thread.untilStopped();
    const told = lines(await reading);
    expect(told.filter((line) => line.endsWith('paused')).sort()).toEqual(['1.left#1 paused', '1.right#1 paused']);
    expect(
      told.filter((line) => line.startsWith('open: ') && line.includes('left') && line.includes('right')),
    ).toHaveLength(1);
    expect(told.slice(-3)).toEqual([
      '2.after#1 done',
      '2 values {"left":"left","right":"right","lines":["\\"left\\" \\"right\\""]}',
      'end done',
    ]);
  });
});

describe('what nodes show while they run', () => {
  it('comes before the node has ended, and costs no event', async () => {
    const threadId = server.threadId('stages');
    latches.close(threadId);
    const thread = await server.graphs.start(stages, {}, { threadId });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of thread.stream({ modes: ['custom', 'tasks'] })) {
        seen.push(...lines([event]));
        if (event.kind === 'task-end') return;
      }
    })();
    await eventually(() => expect(seen).toContain('1.prepare#1 attempt 1 wrote 0 {"percent":50,"attempt":1}'));
    expect(seen).not.toContain('1.prepare#1 done');
    const { events = [] } = await server.client.workflow.getHandle(threadId).fetchHistory();
    expect(events).toHaveLength(5);
    latches.open(threadId);
    await reading;
    expect(seen).toEqual([
      '1.prepare#1 starts',
      '1.prepare#1 attempt 1 wrote 0 {"percent":50,"attempt":1}',
      '1.prepare#1 attempt 1 wrote 1 {"percent":100,"attempt":1,"began":1}',
      '1.prepare#1 done',
    ]);
  });

  it('comes to a reader that reconnects only as far as it has not seen it', async () => {
    const threadId = server.threadId('chat');
    for (const n of [1, 2]) latches.close(`${threadId} ${n}`);
    planner.set(threadId, saying(['one ', 'two ', 'three']));
    const thread = await server.graphs.start(chat, { messages: 'hi' }, { threadId });
    const options = { modes: ['messages'] } as const;
    const first = await upTo(thread.stream(options), ({ kind }) => kind === 'messages');
    expect(lines(first)).toEqual(['1.agent#1 attempt 1 said 0 "one "']);
    latches.open(`${threadId} 1`);
    await latches.reached(`${threadId} 2`);
    const second = await elsewhere((graphs) =>
      upTo(
        graphs.thread(chat, threadId).stream({ ...options, after: first.at(-1)?.offset ?? '' }),
        ({ kind }) => kind === 'messages',
      ),
    );
    expect(lines(second)).toEqual(['1.agent#1 attempt 1 said 4 "two "']);
    const late = await upTo(thread.stream(options), ({ kind }) => kind === 'messages');
    expect(lines(late)).toEqual(['1.agent#1 attempt 1 said 0 "one two "']);
    latches.open(`${threadId} 2`);
    const rest = await all(thread.stream({ ...options, after: second.at(-1)?.offset ?? '' }));
    expect(textOf([...first, ...second, ...rest])).toBe('one two three');
    expect(lines(rest).slice(-1)).toEqual(['end done']);
    expect(lines(await all(thread.stream(options)))).toEqual([
      '1.agent#1 attempt 1 said 0 "one two three"',
      'end done',
    ]);
  });

  it('tells attempts apart: what a failed one said is followed by its failure and by the next from the start', async () => {
    const threadId = server.threadId('chat');
    latches.close(`${threadId} end`);
    planner.set(threadId, saying(['one ', 'two'], { failing: 1 }));
    const thread = await server.graphs.start(chat, { messages: 'hi' }, { threadId });
    const seen: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of thread.stream({ modes: ['messages', 'tasks'] })) seen.push(event);
    })();
    await eventually(() => expect(textOf(seen)).toBe('one two'));
    latches.open(`${threadId} end`);
    await reading;
    const failed = seen.findIndex(({ kind }) => kind === 'attempt-failed');
    expect(lines(seen.slice(failed, failed + 1))).toEqual([
      '1.agent#1 attempt 1 failed: Node "agent" failed: the line went dead',
    ]);
    const after = seen.slice(failed + 1);
    expect(after.find(({ kind }) => kind === 'messages')).toMatchObject({ attempt: 2, from: 0 });
    expect(textOf(after)).toBe('one two');
    expect(seen.filter(({ kind }) => kind === 'attempt-failed')).toHaveLength(1);
  });

  it('comes from a live model word by word, over a stream that is cut, with both on record', async () => {
    const threadId = server.threadId('chat');
    latches.close(threadId);
    const service = await startOpenAiServer([
      { content: 'one two three', cut: 'within' },
      { content: 'one two three', beforeEvent: (n) => (n === 3 ? latches.pass(threadId) : undefined) },
    ]);
    planner.set(threadId, openaiModel({ baseURL: service.url, apiKey: 'any', model: 'm', stream: true }));
    const thread = await server.graphs.start(chat, { messages: 'hi' }, { threadId });
    const seen: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of thread.stream({ modes: ['messages'] })) seen.push(event);
    })();
    const second = (): StreamEvent[] => seen.filter((event) => event.kind === 'messages' && event.attempt === 2);
    await eventually(() => expect(textOf(second())).toBe('one two '));
    latches.open(threadId);
    await reading;
    await service.close();
    expect(textOf(second())).toBe('one two three');
    const [record] = (await recordsOf(server.client, threadId)) as ModelRecord[];
    expect(record?.exchanges).toMatchObject([
      { attempt: 1, response: { cut: true }, error: { code: 'MODEL_UNAVAILABLE' } },
      { attempt: 2, response: { events: 6, body: { choices: [{ message: { content: 'one two three' } }] } } },
    ]);
  });
});
