import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { Trace, traceOf, type HistoryInput, type Item } from '../../src/trace';
import * as graphs from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';

const latches = new Latches();
const server = onServer(() => ({ nodes: askingNodes(latches) }));

interface Histories {
  readonly proto: HistoryInput;
  readonly json: HistoryInput;
}

async function historiesOf(threadId: string): Promise<Histories> {
  const proto = await server.client.workflow.getHandle(threadId).fetchHistory();
  return { proto: proto, json: JSON.parse(historyToJSON(proto)) as HistoryInput };
}

function itemsOf<K extends Item['kind']>(trace: Trace, kind: K): Extract<Item, { kind: K }>[] {
  const items = trace.runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
  return items.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind);
}

/** The verdicts of a thread’s decisions as the trace has them. */
function verdictsIn(trace: Trace): string[] {
  const waits = itemsOf(trace, 'wait').flatMap(({ decision, refused }) => [
    ...(decision ? [decision] : []),
    ...refused,
  ]);
  const all = [...waits, ...itemsOf(trace, 'decision').map(({ decision }) => decision)];
  return [...new Map(all.map((one) => [one.eventId, one.verdict.kind])).values()].sort();
}

async function checkThread(threadId: string, graph: AnyGraph): Promise<Trace> {
  const { proto, json } = await historiesOf(threadId);
  const trace = traceOf([json], { graph });
  expect(Trace.parse(trace)).toEqual(trace);
  expect(trace.notes).toEqual([]);
  expect(trace.runs[0]?.folded).toBe(true);
  const thread = server.graphs.thread(threadId);
  const [state, decisions] = await Promise.all([thread.getState(), thread.decisions()]);
  expect(trace.thread).toMatchObject({ id: threadId, status: state.status });
  const checkpoint = trace.runs.at(-1)?.stops.at(-1)?.checkpoint;
  expect(checkpoint?.values).toEqual({ kind: 'json', value: state.values });
  expect(checkpoint?.next).toEqual(state.next);
  expect(verdictsIn(trace)).toEqual(decisions.map(({ verdict }) => verdict.kind).sort());
  // As the client library gives it: numbers for words, seconds for texts, bytes for base64.
  expect(withoutZeros(traceOf([proto], { graph }))).toEqual(withoutZeros(trace));
  return trace;
}

// The same times, one written with nine digits and one without trailing zeros.
function withoutZeros(trace: Trace): unknown {
  return JSON.parse(JSON.stringify(trace).replace(/(T\d\d:\d\d:\d\d(?:\.\d*?[1-9])?)\.?0*Z/g, '$1Z'));
}

it('reads a thread that was decided by signals, right and wrong ones', async () => {
  const threadId = server.threadId('signalled');
  await server.graphs.invoke(graphs.gate, {}, { threadId });
  const handle = server.client.workflow.getHandle(threadId);
  await handle.signal('approve', { question: '9.nowhere:0' });
  await handle.signal('approve', { aprove: 1 });
  await handle.signal('resume', 'perhaps');
  await handle.signal('deny', { by: 'ana', note: 'too dear' });
  await handle.result();
  const trace = await checkThread(threadId, graphs.gate);
  const [wait] = itemsOf(trace, 'wait');
  expect(wait).toMatchObject({ status: 'answered', decision: { by: 'ana', via: 'signal', verdictFrom: 'graph' } });
  expect(wait?.answer).toEqual({ type: 'deny', by: 'ana', note: 'too dear' });
  const withoutGraph = traceOf([(await historiesOf(threadId)).json]);
  expect(itemsOf(withoutGraph, 'wait')[0]?.decision).toMatchObject({ by: 'ana', verdictFrom: 'inference' });
});

it('reads siblings that ask at the same time and are answered one by one', async () => {
  const threadId = server.threadId('siblings');
  await server.graphs.invoke(graphs.two_gates, {}, { threadId });
  const thread = server.graphs.thread(threadId);
  await thread.resume('r', { node: 'right', by: 'bo' });
  await thread.resume('l', { node: 'left', by: 'ana' });
  await thread.untilStopped();
  const trace = await checkThread(threadId, graphs.two_gates);
  // Which of them is the first to ask is a matter of scheduling.
  expect(itemsOf(trace, 'wait').map(({ node, answer, decision }) => [node, answer, decision?.by])).toHaveLength(2);
  expect(itemsOf(trace, 'wait').map(({ node, answer, decision }) => [node, answer, decision?.by])).toEqual(
    expect.arrayContaining([
      ['left', 'l', 'ana'],
      ['right', 'r', 'bo'],
    ]),
  );
});

it('reads a run that pauses when a sibling has come to its end', async () => {
  const threadId = server.threadId('slow-sibling');
  latches.close(threadId);
  await server.graphs.start(graphs.slow_sibling, {}, { threadId });
  latches.open(threadId);
  await server.graphs.thread(threadId).untilStopped();
  const trace = await checkThread(threadId, graphs.slow_sibling);
  const [stop, ...more] = trace.runs[0]?.stops ?? [];
  expect(more).toEqual([]);
  expect(stop).toMatchObject({ ended: 'paused', checkpoint: { next: ['gate'] } });
  const slow = itemsOf(trace, 'node').find(({ node }) => node === 'slow');
  expect(stop?.span.durationMs).toBeGreaterThanOrEqual((slow?.span.offsetMs ?? 0) + (slow?.span.durationMs ?? 0));
});

it('joins the runs of a thread, with a reducer of the user’s own', async () => {
  const threadId = server.threadId('diary');
  await server.graphs.invoke(graphs.diary, { pages: 2 }, { threadId });
  const { runId } = await server.client.workflow.getHandle(threadId).describe();
  await server.graphs.invoke(graphs.diary, { pages: 4 }, { threadId });
  const handles = [server.client.workflow.getHandle(threadId), server.client.workflow.getHandle(threadId, runId)];
  const histories = await Promise.all(handles.map((handle) => handle.fetchHistory()));
  const trace = traceOf(histories, { graph: graphs.diary });
  expect(trace.runs.map(({ status, folded }) => [status, folded])).toEqual([
    ['done', true],
    ['done', true],
  ]);
  expect(trace.runs[1]?.stops[0]?.checkpoint).toMatchObject({ values: { value: { pages: 4 } } });
  expect(trace.totals).toMatchObject({ runs: 2, nodes: 4, messages: 4 });
  expect(trace.notes).toEqual([]);
  // One alone says that there were others.
  expect(traceOf([histories[0] as HistoryInput]).notes).toMatchObject([{ kind: 'runs-missing' }]);
});
