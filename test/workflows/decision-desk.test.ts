import { inWorkflow, START, subgraph } from 'abeyance';
import { readDecision } from '../../src/graph/decision';
import { GraphEngine } from '../../src/graph/engine';
import { ChildRuns } from '../../src/workflows/child-runs';
import { DecisionDesk } from '../../src/workflows/decision-desk';
import { buildGraph, Log } from '../graph/support/build-graph';
import { asked, AT } from '../graph/support/waiting-engine';

const graph = buildGraph({
  state: { log: Log },
  nodes: {
    left: subgraph(buildGraph({ name: 'inner', nodes: ['ask'] }), { run: 'child' }),
    gate: inWorkflow(() => ({})),
  },
  edges: [
    [START, 'left'],
    [START, 'gate'],
  ],
});

const CHILDS = { id: '1.ask:0', kind: 'question', value: 'fine?', digest: 'd', node: 'ask', task: '1.ask' } as const;

/** The gate's question has expired, and nobody has told the engine; a child workflow asks beside it. */
function overdue(): { readonly engine: GraphEngine; readonly desk: DecisionDesk } {
  const engine = GraphEngine.start(graph, {});
  engine.takeChildren(AT);
  engine.take();
  const { questions, ...rest } = asked('1.gate:0');
  engine.settle('1.gate', { ...rest, questions: questions.map((one) => ({ ...one, deadline: 10 })) }, AT);
  const report = { task: '1.left', visit: 1, status: 'waiting', tasks: [], records: [], verdicts: [] } as const;
  engine.hear({ ...report, questions: [{ ...CHILDS, askedAt: AT }] }, AT);
  const desk = new DecisionDesk({
    engine,
    children: new ChildRuns(),
    report: undefined,
    isPassedOn: () => false,
    isRollingOver: () => false,
    onMove: () => undefined,
    onEdit: () => undefined,
  });
  return { engine, desk };
}

test('a decision that an expiry leaves to the question of a child is judged by the child', () => {
  const { engine, desk } = overdue();
  expect(desk.judge(readDecision({ type: 'approve' }, 'update'))).toBeInstanceOf(Promise);
  expect(engine.takePassed()).toMatchObject([{ task: '1.left', decision: { question: '1.ask:0' } }]);
  expect(engine.takeChildren(AT)).toEqual([]);
});

test('a question that has expired takes no answer, also from a map with a question of a child', () => {
  const { engine, desk } = overdue();
  const value = { '1.gate:0': 1, '1.left/1.ask:0': 2 };
  expect(desk.judge(readDecision({ type: 'resume', value }, 'update'))).toMatchObject({ code: 'QUESTION_SETTLED' });
  expect(engine.takePassed()).toEqual([]);
});
