import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ask, ask_twice, gate, two_gates } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { eventually } from '../support/eventually';
import { failingNodes } from '../support/failing-nodes';
import { order } from '../support/graphs';
import { Latches } from '../support/latches';
import { onServer, testServer } from '../support/on-server';
import { abeyance, abeyanceJson } from '../support/run-cli';

const latches = new Latches();
const server = onServer(() => ({ nodes: [...askingNodes(latches), ...failingNodes(new Map())] }), { silent: true });

const directory = mkdtempSync(join(tmpdir(), 'abeyance-cli-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const QUESTION = '2.place_order:0';
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

async function paused(graph: typeof ask | typeof order | typeof two_gates | typeof gate | typeof ask_twice) {
  const threadId = server.threadId(graph.name);
  await server.graphs.invoke(graph as typeof order, graph === order ? { order_total: 500 } : {}, {
    threadId,
  });
  return threadId;
}

/** The server's list lags; until it shows what is waited for, there is no use in starting a command. */
async function listed(threadId: string, query: string): Promise<void> {
  await eventually(async () => {
    const { count } = await server.client.workflow.count(`WorkflowId = "${threadId}" AND ${query}`);
    expect(count).toBe(1);
  });
}

describe('a thread from its start to its end', () => {
  it('as JSON', async () => {
    const threadId = server.threadId('cli-order');
    const input = ['--input', '{"order_total":500}', '--identity', 'the tester'];
    const started = await abeyanceJson('start', 'order', '-t', server.taskQueue, '-w', threadId, ...input, '--wait');
    const { runId } = started;
    const question = { id: QUESTION, value: { question: 'approve?', total: 500 } };
    expect(started).toEqual({
      threadId,
      runId: expect.any(String),
      graph: 'order',
      taskQueue: server.taskQueue,
      stop: { status: 'waiting', values: { order_total: 500, approved: false }, questions: [question] },
    });
    const { events } = await server.client.workflow.getHandle(threadId).fetchHistory();
    expect(events?.[0]?.workflowExecutionStartedEventAttributes?.identity).toBe('the tester');

    await listed(threadId, 'AbeyanceStatus = "waiting"');
    const [listing, pending, pendingHere, shown] = await Promise.all([
      abeyance(['list', '--waiting', '--graph', 'order', '-q', `WorkflowId = "${threadId}"`, '-o', 'jsonl']),
      abeyanceJson('pending', '--graph', 'order'),
      abeyanceJson('pending', '-w', threadId),
      abeyanceJson('show', '-w', threadId, '-r', runId),
    ]);
    expect(JSON.parse(listing.out)).toEqual({
      threadId,
      runId,
      graph: 'order',
      status: 'waiting',
      waitingFor: ['place_order'],
      taskQueue: server.taskQueue,
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(pendingHere).toEqual([
      {
        threadId,
        runId,
        graph: 'order',
        question: QUESTION,
        node: 'place_order',
        kind: 'question',
        value: question.value,
        digest: expect.any(String),
        askedAt: expect.any(String),
      },
    ]);
    expect(pending).toContainEqual(pendingHere[0]);
    expect(shown).toMatchObject({
      ...{ threadId, runId, graph: 'order', status: 'waiting', step: 2, source: 'run', next: ['place_order'] },
      values: { order_total: 500 },
      tasks: [{ name: 'place_order', status: 'waiting' }],
      questions: [question],
      decisions: [],
    });

    const details = ['--digest', pendingHere[0].digest, '--question', QUESTION, '--by', 'ana', '--note', 'fine'];
    expect(await abeyanceJson('approve', '-w', threadId, ...details, '--wait')).toEqual({
      ...{ threadId, type: 'approve', by: 'ana', note: 'fine' },
      verdict: { kind: 'accepted', questions: [QUESTION] },
      stop: { status: 'done', values: { order_total: 500, approved: true }, questions: [] },
    });
    const over = await abeyanceJson('show', '-w', threadId);
    expect(over).toMatchObject({ status: 'done', source: 'result', values: { approved: true }, questions: [] });
    expect(over.decisions).toMatchObject([{ decision: { type: 'approve', by: 'ana' }, verdict: { kind: 'accepted' } }]);
  });

  it('as text, with no colours in a pipe', async () => {
    const file = join(directory, 'order.json');
    writeFileSync(file, '{"order_total":7}');
    // Some libraries take CI for a terminal.
    const started = await abeyance(['start', 'order', '-t', server.taskQueue, '--input-file', file, '--wait'], {
      env: { CI: 'true' },
    });
    expect(started).toMatchObject({ exitCode: 0, err: '' });
    const threadId = /started (order-\S+) \(order\)/.exec(started.out)?.[1] as string;
    expect(started.out).toContain(`waiting for an answer\n  ${QUESTION}  {"question":"approve?","total":7}`);

    await listed(threadId, 'AbeyanceStatus = "waiting"');
    const [list, pending] = await Promise.all([
      abeyance(['list', '-q', `WorkflowId = "${threadId}"`, '--color', 'always']),
      abeyance(['pending', '-w', threadId]),
    ]);
    expect(list.out).toMatch(/THREAD.*GRAPH.*STATUS.*\n.*order-.* order .*waiting.* place_order/);
    expect(list.out).toContain('\u001b[33mwaiting');
    expect(pending.out).toContain(`abeyance approve|deny|resume -w ${threadId} --question ${QUESTION}`);
    const denied = await abeyance(['deny', '-w', threadId, '--note', 'too many']);
    expect(denied).toEqual({ exitCode: 0, out: `denied ${QUESTION} of ${threadId}\n`, err: '' });
    await server.graphs.thread(threadId).untilStopped();
    const shown = await abeyance(['show', '-w', threadId]);
    expect(shown.out).toMatch(/^order-\S+ \(order\)\n {2}status +done\n[^]*"approved": false/);
    // Who decided is by default the user that the operating system knows.
    expect(shown.out).toContain(`deny by ${userInfo().username} (too many): accepted for ${QUESTION}`);
    expect(shown.out).not.toMatch(RAW);
  });

  it('an answer may be any JSON, and what it holds cannot drive the terminal', async () => {
    const threadId = await paused(ask);
    const evil = { text: '\u001b[2J\u202e\u009b', none: null };
    const resumed = await abeyance(['resume', '-w', threadId, JSON.stringify(evil), '--by', 'e\u001b[1mve', '--wait']);
    expect(resumed).toMatchObject({ exitCode: 0, err: '' });
    const shown = await abeyance(['show', '-w', threadId]);
    for (const { out } of [resumed, shown]) expect(out).not.toMatch(RAW);
    expect(shown.out).toContain('by e\\u{1b}[1mve');
    const { values } = await server.graphs.thread(threadId).getState();
    expect(values).toEqual({ answer: evil });
  });

  it('graph and trace show what runs and what ran', async () => {
    const threadId = await paused(gate);
    await listed(threadId, 'AbeyanceStatus = "waiting"');
    const [drawn, described, trace] = await Promise.all([
      abeyance(['graph', '-w', threadId]),
      abeyanceJson('graph', 'gate'),
      abeyanceJson('trace', '-w', threadId),
    ]);
    expect(drawn.out).toBe(`${gate.drawMermaid()}\n`);
    expect(described).toEqual(gate.describe());
    expect(trace).toMatchObject({ format: 'abeyance.trace', thread: { id: threadId, status: 'waiting' } });
  });
});

describe('a decision that is refused', () => {
  it('for want of a target ends with 3 and names the open questions', async () => {
    const threadId = await paused(two_gates);
    const [text, json] = await Promise.all([
      abeyance(['approve', '-w', threadId]),
      abeyance(['approve', '-w', threadId, '-o', 'json']),
    ]);
    expect([text.exitCode, text.out]).toEqual([3, '']);
    expect(text.err).toMatch(/^abeyance: Several questions are open.*1\.left:0, 1\.right:0.*\[ANSWER_AMBIGUOUS\]\n$/);
    expect([json.exitCode, json.out]).toEqual([3, '']);
    expect(JSON.parse(json.err).error).toMatchObject({
      ...{ code: 'ANSWER_AMBIGUOUS', exitCode: 3 },
      open: [
        { id: '1.left:0', node: 'left', value: 'left?' },
        { id: '1.right:0', node: 'right', value: 'right?' },
      ],
    });
    const both = await abeyanceJson('resume', '-w', threadId, '{"1.left:0":1,"1.right:0":-2}', '--wait');
    expect(both.stop).toMatchObject({ status: 'done', values: { left: 1, right: -2 } });
  });

  it('as settled, changed or the second of its id ends with 3 and changes nothing', async () => {
    const threadId = await paused(ask_twice);
    const first = ['approve', '-w', threadId, '--decision-id', 'd1', '--by', 'ana'];
    const once = await abeyanceJson(...first);
    await server.graphs.thread(threadId).untilStopped();
    const [again, other, settled, changed] = await Promise.all([
      abeyanceJson(...first),
      abeyance(['deny', '-w', threadId, '--decision-id', 'd1', '--by', 'ana']),
      abeyance(['deny', '-w', threadId, '--question', '1.ask:0']),
      abeyance(['approve', '-w', threadId, '--question', '1.ask:1', '--digest', 'of another']),
    ]);
    expect(again).toEqual(once);
    const codes = [other, settled, changed].map(({ exitCode, err }) => [exitCode, /\[(\w+)\]\n$/.exec(err)?.[1]]);
    expect(codes).toEqual([
      [3, 'DECISION_ID_REUSED'],
      [3, 'QUESTION_SETTLED'],
      [3, 'QUESTION_CHANGED'],
    ]);
    expect(settled.err).toContain('approved by ana');
    const { interrupts } = await server.graphs.thread(threadId).getState();
    expect(interrupts).toMatchObject([{ id: '1.ask:1' }]);
  });
});

describe('a thread that is not what it was taken for', () => {
  it('unknown, finished and busy have exit codes of their own', async () => {
    const [busy, done] = await Promise.all([paused(ask), paused(ask)]);
    await server.graphs.thread(done).approve();
    await server.graphs.thread(done).untilStopped();
    const ends = await Promise.all([
      abeyance(['approve', '-w', 'no-such-thread']),
      abeyance(['approve', '-w', done]),
      abeyance(['start', 'ask', '-w', busy, '-t', server.taskQueue]),
      abeyance(['start', 'order', '-w', done, '-t', server.taskQueue]),
    ]);
    expect(ends.map(({ exitCode, out }) => [exitCode, out])).toEqual([
      [4, ''],
      [5, ''],
      [3, ''],
      [3, ''],
    ]);
    const [unknown, finished, isBusy, others] = ends.map(({ err }) => err);
    expect(unknown).toMatch(/^abeyance: There is no thread "no-such-thread".*\[THREAD_UNKNOWN\]\n$/);
    expect(finished).toContain('[THREAD_FINISHED]');
    expect(isBusy).toMatch(/waits for an answer to 1\.ask:0.*\[THREAD_BUSY\]/);
    expect(others).toContain('[THREAD_OF_OTHER_GRAPH]');
    // A finished thread goes on from its last values.
    const onward = await abeyanceJson('start', 'ask', '-w', done, '-t', server.taskQueue, '--wait');
    expect(onward.stop).toMatchObject({ status: 'waiting', values: { answer: true } });
  });

  it('a run that fails ends a command that waits for it with 1', async () => {
    const input = ['-i', '{"how":"unknown key"}', '--wait'];
    const { exitCode, out, err } = await abeyance(['start', 'failing', '-t', server.taskQueue, ...input]);
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toMatch(/^abeyance: .*nope.*\[STATE_UNKNOWN_KEY\]\n$/);
  });
});

describe('what the server or the worker is to blame for', () => {
  it('an unknown namespace, a filter that is none, a graph nobody runs', async () => {
    const [namespace, filter, graph] = await Promise.all([
      abeyance(['show', '-w', 'x', '-n', 'nowhere']),
      abeyance(['list', '-q', 'Nonsense = 1 AND']),
      abeyance(['graph', 'nobody_runs_this']),
    ]);
    expect([namespace.exitCode, namespace.err]).toEqual([
      1,
      expect.stringMatching(/no namespace "nowhere".*\[NAMESPACE_UNKNOWN\]/),
    ]);
    expect([filter.exitCode, filter.err]).toEqual([2, expect.stringContaining('[INVALID_ARGUMENT]')]);
    expect([graph.exitCode, graph.err]).toEqual([4, expect.stringContaining('[GRAPH_UNKNOWN]')]);
  });

  it('a profile says where the server is', async () => {
    const { address, namespace } = testServer();
    const file = join(directory, 'temporal.toml');
    writeFileSync(file, `[profile.tests]\naddress = "${address}"\nnamespace = "${namespace}"\n`);
    const env = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined, TEMPORAL_CONFIG_FILE: file };
    const listing = await abeyance(['list', '--profile', 'tests', '--graph', 'nobody_runs_this'], { env });
    expect(listing).toEqual({ exitCode: 0, out: 'No thread matches.\n', err: '' });
  });

  it('without a worker what was published is shown, and what needs one ends with 7', async () => {
    const threadId = await paused(order);
    await server.stopWorker();
    try {
      const [shown, pending, graph, approved] = await Promise.all([
        abeyanceJson('show', '-w', threadId),
        abeyanceJson('pending', '-w', threadId),
        abeyance(['graph', '-w', threadId]),
        abeyance(['approve', '-w', threadId, '--timeout', '1']),
      ]);
      expect(shown).toMatchObject({ source: 'memo', values: { order_total: 500 }, decisions: null });
      expect(pending).toMatchObject([{ question: QUESTION }]);
      for (const { exitCode, err } of [graph, approved])
        expect([exitCode, err]).toEqual([7, expect.stringMatching(/No worker .*\[THREAD_UNREACHABLE\]\n$/)]);
    } finally {
      await server.startWorker();
    }
  });
});
