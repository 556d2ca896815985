import { inWorkflow, START, subgraph } from 'abeyance';
import { readReport, type ChildReport } from '../../src/graph/child-report';
import { readDecision } from '../../src/graph/decision';
import { GraphEngine } from '../../src/graph/engine';
import { viewOf } from '../../src/graph/run-view';
import { buildGraph, Log, type TestGraph } from './support/build-graph';
import { asked, AT, decide } from './support/waiting-engine';

const LATER = '2026-01-01T00:00:05.000Z';
const inner = buildGraph({ name: 'inner', nodes: ['ask'] });
const graph: TestGraph = buildGraph({
  state: { log: Log },
  nodes: {
    left: subgraph(inner, { run: 'child' }),
    right: subgraph(inner, { run: 'child' }),
    gate: inWorkflow(() => ({})),
  },
  edges: [
    [START, 'left'],
    [START, 'right'],
    [START, 'gate'],
  ],
});

const [GATE, LEFT, RIGHT] = ['1.gate:0', '1.left/1.ask:0', '1.right/1.ask:0'] as const;

const question = (fields: object = {}): ChildReport['questions'][number] => ({
  id: '1.ask:0',
  kind: 'question',
  value: 'fine?',
  digest: 'd',
  node: 'ask',
  task: '1.ask',
  askedAt: AT,
  ...fields,
});

const report = (task: string, fields: Partial<ChildReport> = {}): ChildReport => ({
  task,
  visit: 1,
  status: 'waiting',
  questions: [question()],
  tasks: [{ id: '1.ask', name: 'ask', visit: 1, status: 'waiting' }],
  records: [],
  verdicts: [],
  ...fields,
});

const accepted = (token: string): Partial<ChildReport> => ({
  status: 'running',
  questions: [],
  verdicts: [{ token, verdict: { kind: 'accepted', questions: ['1.ask:0'] } }],
});

const refused = (token: string): Partial<ChildReport> => ({
  status: 'running',
  questions: [],
  verdicts: [{ token, verdict: { kind: 'refused', code: 'QUESTION_SETTLED', message: 'Settled.', open: [] } }],
});

/** An engine whose gate and whose two subgraphs, which run elsewhere, have all asked. */
function allAsking(): GraphEngine {
  const engine = GraphEngine.start(graph, {});
  expect(engine.takeChildren(AT).map(({ task }) => [task.id, task.visit])).toEqual([
    ['1.left', 1],
    ['1.right', 1],
  ]);
  engine.take();
  engine.settle('1.gate', asked(GATE), AT);
  engine.hear(report('1.left'), AT);
  engine.hear(report('1.right'), AT);
  return engine;
}

const passOn = (engine: GraphEngine, request: object): string => {
  const token = engine.passOn(readDecision(request, 'update'), AT);
  if (token === undefined) throw new Error('the decision was not passed on');
  return token;
};

describe('a decision for a subgraph that runs elsewhere', () => {
  test('is sent there by the names it has there, and has no verdict before that run gives one', () => {
    const engine = allAsking();
    expect(engine.status).toBe('waiting');
    const token = passOn(engine, { type: 'approve', node: 'left/ask', by: 'ana', decisionId: 'x' });
    expect(engine.takePassed()).toEqual([
      {
        token,
        task: '1.left',
        decision: { type: 'approve', question: '1.ask:0', by: 'ana', decisionId: 'x', via: 'update' },
      },
    ]);
    expect([engine.status, engine.decisions]).toEqual(['running', []]);
    expect(engine.hear(report('1.left', accepted(token)), AT)).toEqual([
      { token, verdict: { kind: 'accepted', questions: [LEFT] } },
    ]);
    expect(engine.decisions).toMatchObject([{ decision: { node: 'left/ask', by: 'ana' } }]);
  });

  test('that is for several runs is judged by each; what was accepted stands, and a refusal says so', () => {
    const engine = allAsking();
    const token = passOn(engine, { type: 'resume', value: { [GATE]: 1, [LEFT]: 2, [RIGHT]: 3 } });
    expect(engine.takePassed().map(({ task, decision }) => [task, (decision as { value: unknown }).value])).toEqual([
      ['1.left', { '1.ask:0': 2 }],
      ['1.right', { '1.ask:0': 3 }],
    ]);
    expect(engine.hear(report('1.left', accepted(token)), AT)).toEqual([]);
    const [end] = engine.hear(report('1.right', refused(token)), AT);
    expect(end?.verdict).toMatchObject({ kind: 'refused' });
    const { message = '' } = end?.verdict as { message?: string };
    expect(message).toContain(`Answered all the same: ${GATE}, ${LEFT}.`);
    expect(message).not.toContain('Nothing changed');
    expect(message).not.toContain(`${GATE} is settled`);
    expect(engine.take().map(({ task }) => task.id)).toEqual(['1.gate']);
  });

  test('that is refused here as it stands is not sent at all', () => {
    const engine = allAsking();
    expect(engine.passOn(readDecision({ type: 'edit', args: {}, question: LEFT }, 'update'), AT)).toBeUndefined();
    expect(decide(engine, { type: 'edit', args: {}, question: LEFT })).toMatchObject({ code: 'ANSWER_INVALID' });
    expect(engine.takePassed()).toEqual([]);
  });

  test('is refused where that run ends before it judged', () => {
    const engine = allAsking();
    const token = passOn(engine, { type: 'approve', question: LEFT });
    expect(engine.unheard('1.left', AT)).toMatchObject([{ token, verdict: { code: 'THREAD_FINISHED' } }]);
    expect(engine.unheard('1.left', AT)).toEqual([]);
  });

  test('that comes twice before its verdict is one decision', () => {
    const engine = allAsking();
    const map = { [GATE]: 1, [LEFT]: 2 };
    const [first = '', second] = [1, 2].map(() => passOn(engine, { type: 'resume', value: map, decisionId: 'once' }));
    expect([second, engine.takePassed()]).toMatchObject([first, [{ token: first, task: '1.left' }]]);
    expect(engine.hear(report('1.left', accepted(first)), AT)).toEqual([
      { token: first, verdict: { kind: 'accepted', questions: [GATE, LEFT] } },
    ]);
    expect(engine.decisions).toHaveLength(1);
  });

  test('that has the id of another on its way, and says something else, is refused', () => {
    const engine = allAsking();
    passOn(engine, { type: 'approve', question: LEFT, decisionId: 'once' });
    for (const question of [RIGHT, GATE]) {
      const other = readDecision({ type: 'approve', question, decisionId: 'once' }, 'update');
      expect(engine.passOn(other, AT)).toBeUndefined();
      expect(engine.decide(other, AT)).toMatchObject({ kind: 'refused', code: 'DECISION_ID_REUSED' });
    }
  });

  test('that was kept for its node is sent when the node asks, once', () => {
    const engine = GraphEngine.start(graph, {});
    engine.takeChildren(AT);
    expect(decide(engine, { type: 'approve', node: 'left/ask' })).toEqual({ kind: 'kept', until: 'left/ask' });
    engine.hear(report('1.left'), AT);
    engine.hear(report('1.left'), AT);
    const [sent, ...more] = engine.takePassed();
    expect([sent?.decision, more]).toMatchObject([{ question: '1.ask:0' }, []]);
    engine.hear(report('1.left', accepted(sent?.token ?? '')), LATER);
    expect(engine.decisions).toMatchObject([{ verdict: { kind: 'accepted', questions: [LEFT] }, at: LATER }]);
  });
});

describe('a subgraph that runs elsewhere', () => {
  test('is settled there: whoever decides it again here is told who did', () => {
    const engine = allAsking();
    const decision = { type: 'deny', by: 'bo', question: '1.ask:0', via: 'update' } as const;
    const verdict = { kind: 'accepted', questions: ['1.ask:0'] } as const;
    engine.hear(
      report('1.left', { ...accepted('none'), verdicts: [], records: [{ decision, digest: '', verdict, at: AT }] }),
      AT,
    );
    expect(decide(engine, { type: 'approve', question: LEFT })).toMatchObject({
      code: 'QUESTION_SETTLED',
      message: expect.stringContaining('denied by bo'),
    });
  });

  test('expires its questions itself', () => {
    const engine = allAsking();
    engine.hear(report('1.left', { questions: [question({ expiresAt: AT })] }), AT);
    expect(engine.nextExpiry()).toBeUndefined();
    engine.expire(LATER);
    expect(engine.questions().map(({ id }) => id)).toContain(LEFT);
  });

  test('is given out anew, as another visit and with nothing asked, where its run is taken up again', () => {
    const engine = GraphEngine.restore(graph, allAsking().snapshot());
    expect(engine.questions().map(({ id }) => id)).toEqual([GATE]);
    expect(engine.takeChildren(AT).map(({ task }) => [task.id, task.visit])).toEqual([
      ['1.left', 2],
      ['1.right', 2],
    ]);
    engine.hear(report('1.left'), AT);
    expect(engine.questions().map(({ id }) => id)).toEqual([GATE]);
    engine.hear(report('1.left', { visit: 2 }), AT);
    const token = passOn(engine, { type: 'approve', question: LEFT });
    // The run before may have known another decision by this token.
    expect(engine.hear(report('1.left', accepted(token)), AT)).toEqual([]);
    expect(engine.hear(report('1.left', { visit: 2, ...accepted(token) }), AT)).toHaveLength(1);
  });

  test('that the state was updated in place of is at work on nothing more', () => {
    const engine = allAsking();
    engine.edit({ update: {}, asNode: 'left' }, AT);
    expect(viewOf(engine).tasks.map(({ id }) => id)).toEqual(['1.gate', '1.left', '1.right', '1.right/1.ask']);
  });

  test.each([
    ['what is asked', { value: undefined }],
    ['what may be decided', { allow: 5 }],
  ])('is not heard where its report does not tell %s', (_, fields) => {
    const told = report('1.left');
    expect(readReport(told)).toEqual(told);
    expect(readReport(report('1.left', { questions: [question(fields)] }))).toBeUndefined();
  });
});
