import { Send, START } from 'abeyance';
import { GraphEngine } from '../../src/graph/engine';
import { buildGraph } from './support/build-graph';
import { AT, asked, decide, running, wrote } from './support/waiting-engine';

const graph = buildGraph({ nodes: ['first', 'ask', 'last'] });

/** Runs on to the node `ask` and lets it ask. */
function reachQuestion(engine: GraphEngine, ...ids: string[]): void {
  engine.settle('1.first', wrote(), AT);
  engine.take();
  engine.settle('2.ask', asked(...ids), AT);
}

function answersOf(engine: GraphEngine): unknown[] {
  return engine.take().flatMap(({ task }) => task.answers.map(({ id, value }) => ({ id, value })));
}

describe('a decision that comes before its question', () => {
  test.each<[string, object, string]>([
    ['by node', { type: 'approve', node: 'ask' }, 'ask'],
    ['by question id', { type: 'approve', question: '2.ask:0' }, '2.ask:0'],
  ])('is kept when it names it %s, and answers it as soon as it is asked', (_, request, until) => {
    const engine = running(graph);
    expect(decide(engine, request)).toEqual({ kind: 'kept', until });
    reachQuestion(engine, '2.ask:0');
    expect(answersOf(engine)).toEqual([{ id: '2.ask:0', value: true }]);
    expect(engine.decisions[0]?.verdict).toEqual({ kind: 'accepted', questions: ['2.ask:0'] });
  });

  test('is kept while the task that may ask it still runs', () => {
    const engine = running(buildGraph({ nodes: ['ask'] }));
    expect(decide(engine, { type: 'approve', question: '1.ask:budget' })).toMatchObject({ kind: 'kept' });
  });

  test('is refused when the task it was for ends without asking', () => {
    const engine = running(graph);
    decide(engine, { type: 'approve', question: '2.ask:budget' });
    engine.settle('1.first', wrote(), AT);
    engine.take();
    engine.settle('2.ask', wrote(), AT);
    expect(engine.decisions[0]?.verdict).toMatchObject({ kind: 'refused', code: 'QUESTION_UNKNOWN' });
  });

  test('is kept for the next question of a node that waits on another', () => {
    const engine = running(graph);
    reachQuestion(engine, '2.ask:0');
    expect(decide(engine, { type: 'approve', question: '2.ask:1' })).toMatchObject({ kind: 'kept' });
  });

  test('for a node is refused when the node ends without asking, and is not there for its next visit', () => {
    const engine = running(graph);
    decide(engine, { type: 'approve', node: 'ask' });
    engine.settle('1.first', wrote(), AT);
    engine.take();
    engine.settle('2.ask', wrote(), AT);
    expect(engine.decisions[0]?.verdict).toMatchObject({ kind: 'refused', code: 'QUESTION_UNKNOWN' });
  });

  test('is refused when the run ends, whatever it was for', () => {
    const engine = running(buildGraph({ nodes: ['first'] }));
    decide(engine, { type: 'approve', question: '9.first:0' });
    engine.settle('1.first', wrote(), AT);
    expect(engine.status).toBe('done');
    expect(engine.decisions[0]?.verdict).toMatchObject({ kind: 'refused', code: 'QUESTION_UNKNOWN' });
  });

  test('waits on while the node asks something else', () => {
    const engine = running(graph);
    decide(engine, { type: 'approve', question: '2.ask:1' });
    reachQuestion(engine, '2.ask:0');
    expect(engine.questions().map(({ id }) => id)).toEqual(['2.ask:0']);
    expect(engine.decisions[0]?.verdict).toMatchObject({ kind: 'kept' });
  });

  test('is applied after a snapshot was restored, and the record says so', () => {
    const engine = running(graph);
    decide(engine, { type: 'deny', node: 'ask' });
    const restored = GraphEngine.restore(graph, JSON.parse(JSON.stringify(engine.snapshot())));
    restored.take();
    reachQuestion(restored, '2.ask:0');
    expect(answersOf(restored)).toEqual([{ id: '2.ask:0', value: false }]);
    expect(restored.decisions[0]?.verdict).toEqual({ kind: 'accepted', questions: ['2.ask:0'] });
  });

  test('is refused when the question turns out not to be what it was made for', () => {
    const engine = running(graph);
    decide(engine, { type: 'approve', node: 'ask', digest: 'another' });
    reachQuestion(engine, '2.ask:0');
    expect(engine.decisions[0]?.verdict).toMatchObject({ kind: 'refused', code: 'QUESTION_CHANGED' });
    expect(engine.questions()).toHaveLength(1);
  });

  test('is refused when its node asks several questions at once', () => {
    const engine = running(graph);
    decide(engine, { type: 'approve', node: 'ask' });
    reachQuestion(engine, '2.ask:x', '2.ask:y');
    expect(engine.decisions[0]?.verdict).toMatchObject({ kind: 'refused', code: 'ANSWER_AMBIGUOUS' });
  });

  test('loses to one that came before it, and does not answer the node’s next question instead', () => {
    const engine = running(graph);
    decide(engine, { type: 'approve', node: 'ask', by: 'ana' });
    decide(engine, { type: 'deny', node: 'ask', by: 'bo' });
    reachQuestion(engine, '2.ask:0');
    expect(engine.decisions[1]?.verdict).toMatchObject({
      kind: 'refused',
      code: 'QUESTION_SETTLED',
      message: expect.stringContaining('approved by ana'),
    });
    engine.take();
    engine.settle('2.ask', asked('2.ask:1'), AT);
    expect(engine.questions().map(({ id }) => id)).toEqual(['2.ask:1']);
  });

  test('gets its final verdict when it is sent again with the same id', () => {
    const engine = running(graph);
    const sent = { type: 'approve', node: 'ask', decisionId: 'd1' };
    expect(decide(engine, sent)).toMatchObject({ kind: 'kept' });
    reachQuestion(engine, '2.ask:0');
    expect(decide(engine, sent)).toEqual({ kind: 'accepted', questions: ['2.ask:0'] });
  });

  test('for a node that sends its answer back is applied to the question when it opens again', () => {
    const engine = running(buildGraph({ nodes: ['ask'] }));
    engine.settle('1.ask', asked('1.ask:0'), AT);
    decide(engine, { type: 'deny' });
    engine.take();
    decide(engine, { type: 'approve', node: 'ask' });
    engine.settle('1.ask', { kind: 'rejected', question: '1.ask:0', reason: 'no', once: {} }, AT);
    expect(answersOf(engine)).toEqual([{ id: '1.ask:0', value: true }]);
  });

  test('may name the question of a Send', () => {
    const engine = running(
      buildGraph({ nodes: ['work'], routers: [[START, () => [new Send('work', 1), new Send('work', 2)]]] }),
    );
    expect(decide(engine, { type: 'resume', value: 'B', question: '1.work.1:0' })).toMatchObject({ kind: 'kept' });
    engine.settle('1.work.0', asked('1.work.0:0'), AT);
    engine.settle('1.work.1', asked('1.work.1:0'), AT);
    expect(answersOf(engine)).toEqual([{ id: '1.work.1:0', value: 'B' }]);
  });
});
