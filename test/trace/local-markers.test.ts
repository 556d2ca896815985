import { foldRun } from '../../src/trace/fold-run';
import { runEventsOf } from '../../src/trace/run-events';
import { Trace, traceOf, type Item } from '../../src/trace';
import { local_patient } from '../support/local-graphs';
import { failure, payload, payloads, SyntheticHistory } from './support/synthetic-history';

const CALL = { task: '1.act', step: 1, visit: 1, idempotencyKey: 'k' };
const STATE = { lines: [], how: 'throws once' };

interface Marked {
  readonly type?: string;
  readonly attempt?: number;
  readonly backoff?: object;
  readonly result?: unknown;
  readonly failure?: object;
  readonly id?: string;
}

/** The marker of a local activity that was told of half a second before its workflow task completed. */
function mark(
  history: SyntheticHistory,
  { id, result, type = 'local_patient.act', ...told }: Marked,
): SyntheticHistory {
  const last = history.events.at(-1) as { eventTime: string };
  const seconds = Date.parse(last.eventTime) / 1000;
  const { failure: thrown, attempt = 1, backoff = null } = told;
  const data = payloads({
    seq: 1,
    attempt,
    activity_id: '1',
    activity_type: type,
    backoff,
    complete_time: { seconds: Math.floor(seconds), nanos: 0 },
    original_schedule_time: { seconds: Math.floor(seconds), nanos: 0 },
  });
  const details = { data, ...(result !== undefined && { result: payloads(result) }) };
  history.add('markerRecorded', { markerName: 'core_local_activity', details, failure: thrown }, 0);
  if (id !== undefined) Object.assign(history.events.at(-1) as object, { userMetadata: { summary: payload(id) } });
  return history;
}

function itemsIn(history: SyntheticHistory): readonly Item[] {
  const trace = traceOf([history]);
  expect(Trace.parse(JSON.parse(JSON.stringify(trace)))).toEqual(trace);
  expect(trace.notes).toEqual([]);
  expect(trace.runs[0]?.events).toBe(history.events.length);
  return trace.runs.flatMap(({ stops }) => stops).flatMap(({ items }) => items);
}

it('a local node that waited for its next attempt with a timer is one visit, with both attempts', () => {
  const history = new SyntheticHistory('local_patient', 't', { input: { how: 'throws once' } }).task();
  mark(history, { id: '1.act#1', failure: failure('out of stock'), backoff: { seconds: 61, nanos: 0 } });
  history.add('timerStarted', { timerId: '1', startToFireTimeout: '61s' }, 0);
  const startedEventId = history.last;
  history.add('timerFired', { timerId: '1', startedEventId }, 61_000).task();
  const given = { input: STATE, call: CALL, ms: 250 };
  const result = { kind: 'completed', updates: [{ lines: 'acted' }], goto: [], given };
  mark(history, { id: '1.act#1', attempt: 2, result }).done({ lines: ['acted'], how: 'throws once' });

  expect(
    itemsIn(history)
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(['node', 'timer']);
  expect(itemsIn(history).find(({ kind }) => kind === 'node')).toMatchObject({
    where: 'local',
    id: '1.act#1',
    status: 'completed',
    span: { durationMs: 61_000 },
    outcome: { kind: 'completed', updates: [{ lines: 'acted' }] },
    attempts: [
      { number: 1, status: 'failed', failure: { message: 'out of stock' } },
      { number: 2, status: 'completed' },
    ],
  });
  const run = runEventsOf(history);
  const fold = run && foldRun(local_patient, run);
  expect(fold?.broken).toBeUndefined();
  expect([...(fold?.views.values() ?? [])].at(-1)).toMatchObject({ status: 'done', values: { lines: ['acted'] } });
});

it('what a local node was given is shown as it was, even where it looks like a payload', () => {
  const input = { metadata: { encoding: 'json/plain' }, data: 'eyJhIjoxfQ==' };
  const history = new SyntheticHistory('local_patient').task();
  mark(history, { result: { kind: 'completed', updates: [], goto: [], given: { input, call: CALL, ms: 1 } } });
  expect(itemsIn(history)).toMatchObject([{ kind: 'node', id: '1.act#1', input: { kind: 'json', value: input } }]);
});

it.each([
  ['timed-out', { message: 'too long', timeoutFailureInfo: { timeoutType: 1 } }],
  ['cancelled', { message: 'no longer', canceledFailureInfo: {} }],
  ['failed', failure('out of stock')],
])('a local node may end as %s, and then nothing tells what it was given', (status, thrown) => {
  const history = new SyntheticHistory('local_patient').task();
  mark(history, { id: '1.act#1', failure: thrown });
  expect(itemsIn(history)).toMatchObject([{ kind: 'node', where: 'local', status, input: { kind: 'missing' } }]);
});

it('a local activity that is none of the graph’s is shown as such', () => {
  const history = new SyntheticHistory('local_patient').task();
  mark(history, { type: 'send_mail', result: { sent: true } });
  expect(itemsIn(history)).toMatchObject([{ kind: 'activity', type: 'send_mail', status: 'completed' }]);
});
