import { compactSnapshot } from '../../src/graph/compact-snapshot';
import { GraphEngine } from '../../src/graph/engine';
import { buildGraph } from './support/build-graph';
import { AT, waiting } from './support/waiting-engine';

const graph = buildGraph({ nodes: ['a', 'b'] });

function engine(): GraphEngine {
  return waiting(graph, { '1.a': ['1.a:0', '1.a:1'] });
}

const moved = (from: GraphEngine): GraphEngine =>
  GraphEngine.restore(graph, JSON.parse(JSON.stringify(compactSnapshot(from.snapshot()))));

function refuseMany(at: GraphEngine, times: number): void {
  for (let n = 0; n < times; n++) at.decide({ type: 'approve', question: '9.none:0', via: 'test', by: `${n}` }, AT);
}

test('a short ledger is taken over as it is', () => {
  const before = engine();
  before.decide({ type: 'approve', question: '1.a:0', via: 'test' }, AT);
  expect(moved(before).snapshot()).toEqual(before.snapshot());
});

test('of a long ledger the newest 500 are taken over, and every decision that is kept', () => {
  const before = engine();
  before.decide({ type: 'approve', question: '7.b:0', via: 'test' }, AT);
  refuseMany(before, 600);
  const { ledger, forgotten } = compactSnapshot(before.snapshot());
  expect(ledger[0]).toMatchObject({ verdict: { kind: 'kept', until: '7.b:0' } });
  expect(ledger).toHaveLength(501);
  expect(ledger.at(-1)?.decision.by).toBe('599');
  expect(forgotten).toBe(100);
  const again = moved(before);
  refuseMany(again, 10);
  expect(compactSnapshot(again.snapshot())).toMatchObject({ forgotten: 110 });
});

test('a decision for a question whose record is gone is refused as settled, never kept', () => {
  const before = engine();
  before.decide({ type: 'approve', question: '1.a:0', via: 'test' }, AT);
  refuseMany(before, 600);
  const after = moved(before);
  expect(after.decisions.some(({ verdict }) => verdict.kind === 'accepted')).toBe(false);
  const late = (question: string) => after.decide({ type: 'deny', question, via: 'test' }, AT);
  expect(late('1.a:0')).toMatchObject({ kind: 'refused', code: 'QUESTION_SETTLED' });
  expect(late('0.b:0')).toMatchObject({ kind: 'refused', code: 'QUESTION_SETTLED' });
  expect(late('1.a:1')).toMatchObject({ kind: 'accepted' });
});

test('a large answer that was judged stays known by its digest, without its value', () => {
  const before = engine();
  const answer = {
    type: 'resume',
    value: 'x'.repeat(10_000),
    question: '1.a:0',
    via: 'test',
    decisionId: 'd',
  } as const;
  const verdict = before.decide(answer, AT);
  const kept = { ...answer, question: '7.b:0', decisionId: 'k' } as const;
  before.decide(kept, AT);
  const after = moved(before);
  expect(after.decisions).toMatchObject([
    { decision: { value: null, decisionId: 'd' }, omitted: true },
    { decision: { value: kept.value } },
  ]);
  expect(after.decide(answer, AT)).toEqual(verdict);
  expect(after.decide({ ...answer, value: 'else' }, AT)).toMatchObject({ code: 'DECISION_ID_REUSED' });
});
