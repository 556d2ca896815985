import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { Trace, traceOf, type HistoryInput, type Item } from '../../src/trace';
import { recordThread, replayHistories } from 'abeyance/testing';
import { eventually } from '../support/eventually';
import { Latches } from '../support/latches';
import { rolling_gates, rolling_loop } from '../support/long-graphs';
import { longNodes } from '../support/long-nodes';
import { onServer, testServer } from '../support/on-server';
import { abeyance, abeyanceJson } from '../support/run-cli';

const server = onServer(() => ({ nodes: longNodes(new Latches(), new Map()) }), { silent: true });

const directory = mkdtempSync(join(tmpdir(), 'rolled-threads-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function historiesOf(threadId: string): Promise<HistoryInput[]> {
  const { histories, missing } = await recordThread(server.client, threadId);
  expect(missing).toEqual([]);
  return histories.map(({ json }) => JSON.parse(json) as HistoryInput);
}

function check(histories: HistoryInput[], graph?: AnyGraph): Trace {
  const trace = traceOf(histories, { graph });
  expect(Trace.parse(trace)).toEqual(trace);
  expect(trace.notes).toEqual([]);
  if (graph) expect(trace.runs.map(({ folded }) => folded)).not.toContain(false);
  return trace;
}

const itemsOf = (trace: Trace): Item[] => trace.runs.flatMap(({ stops }) => stops).flatMap(({ items }) => [...items]);

it('a run that rolled over is one thread, its steps counted through', async () => {
  const threadId = server.threadId('loop');
  await server.graphs.invoke(rolling_loop, { times: 20 }, { threadId });
  const histories = await historiesOf(threadId);
  for (const graph of [undefined, rolling_loop]) {
    const trace = check(histories, graph);
    expect(trace.runs.length).toBeGreaterThan(2);
    expect(trace.runs.map(({ status }) => status)).toEqual([...trace.runs.slice(1).map(() => 'continued'), 'done']);
    const steps = itemsOf(trace).flatMap((item) => (item.kind === 'node' ? [item.step] : []));
    expect(steps).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    expect(trace.thread.status).toBe('done');
    expect(trace.totals).toMatchObject({ nodes: 20, runs: trace.runs.length });
  }
});

describe('a thread that rolled over while it waited', () => {
  async function waited(): Promise<string> {
    const threadId = server.threadId('gates');
    await server.graphs.invoke(rolling_gates, {}, { threadId });
    const handle = server.client.workflow.getHandle(threadId);
    const { runId } = await handle.describe();
    await eventually(async () => {
      await handle.signal('approve', { question: '9.nowhere:0' });
      expect((await handle.describe()).runId).not.toBe(runId);
    });
    return threadId;
  }

  it('shows each question once in its totals, waiting in the next run since it was asked', async () => {
    const threadId = await waited();
    const waits = (trace: Trace) =>
      trace.runs.map((run) =>
        run.stops.flatMap(({ items }) => items.flatMap((item) => (item.kind === 'wait' ? [item.status] : []))),
      );
    const histories = await historiesOf(threadId);
    for (const graph of [undefined, rolling_gates]) {
      const trace = check(histories, graph);
      expect(waits(trace)).toEqual([
        ['carried', 'carried'],
        ['open', 'open'],
      ]);
      expect(trace.thread.status).toBe('waiting');
      expect(trace.totals).toMatchObject({ waits: 2, nodes: 2 });
      expect(trace.runs[1]?.stops).toMatchObject([
        {
          began: 'continued',
          ended: 'paused',
          checkpoint: { next: ['left', 'right'], questions: [{ id: '1.left:0' }, { id: '1.right:0' }] },
        },
      ]);
    }
  });

  it('shows who answered in the run that took the answers', async () => {
    const threadId = await waited();
    const thread = server.graphs.thread(rolling_gates, threadId);
    await thread.resume('l', { node: 'left', by: 'ana' });
    await thread.resume('r', { node: 'right', by: 'bo' });
    await thread.untilStopped();
    const trace = check(await historiesOf(threadId), rolling_gates);
    const answered = itemsOf(trace).flatMap((item) =>
      item.kind === 'wait' && item.status === 'answered' ? [[item.node, item.answer, item.decision?.by]] : [],
    );
    expect(answered).toEqual([
      ['left', 'l', 'ana'],
      ['right', 'r', 'bo'],
    ]);
    expect(trace.runs.at(-1)?.stops.at(-1)?.checkpoint).toMatchObject({
      values: { value: { left: 'l', right: 'r', lines: ['"l" "r"'] } },
    });
  });

  it('is one thread on the command line, also to who names the run it has left', async () => {
    const threadId = await waited();
    const [first] = (await recordThread(server.client, threadId)).histories;
    const trace = await abeyanceJson('trace', '-w', threadId);
    expect(trace.runs.map(({ status }: { status: string }) => status)).toEqual(['continued', 'waiting']);
    expect((await abeyanceJson('trace', '-w', threadId, '-r', first?.runId as string)).runs).toHaveLength(1);
    const pinned = ['-w', threadId, '-r', first?.runId as string];
    expect(await abeyanceJson('show', ...pinned)).toMatchObject({ status: 'waiting', next: ['left', 'right'] });
    const { exitCode } = await abeyance(['approve', ...pinned, '--node', 'left']);
    expect(exitCode).toBe(0);
    const next = await server.graphs.thread(threadId).getState();
    expect(next.interrupts.map(({ id }) => id)).toEqual(['1.right:0']);
  });

  it('is recorded run by run, and each replays', async () => {
    const { histories } = await recordThread(server.client, await waited());
    expect(histories).toHaveLength(2);
    for (const { runId, json } of histories) writeFileSync(join(directory, `${runId}.json`), json);
    const results = await replayHistories(histories, { workflowBundle: { codePath: testServer().bundle } });
    expect(results.filter(({ error }) => error)).toEqual([]);
  });
});
