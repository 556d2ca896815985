import { START } from 'abeyance';
import { answersById, readDecision } from '../../src/graph/decision';
import { buildGraph } from './support/build-graph';
import { AT, asked, decide, running, waiting, wrote } from './support/waiting-engine';

const one = buildGraph({ nodes: ['ask', 'after'] });
const two = buildGraph({
  nodes: ['a', 'b'],
  edges: [
    [START, 'a'],
    [START, 'b'],
  ],
});

describe('a decision is refused', () => {
  const oneOpen = { '1.ask': ['1.ask:0'] };
  const twoOpen = { '1.a': ['1.a:0'], '1.b': ['1.b:x', '1.b:y'] };

  test.each<[string, Parameters<typeof waiting>, object, string, string]>([
    [
      'when it is bare and several questions are open',
      [two, twoOpen],
      { type: 'approve' },
      'ANSWER_AMBIGUOUS',
      '1.a:0, 1.b:x, 1.b:y',
    ],
    ['when its node has several open', [two, twoOpen], { type: 'approve', node: 'b' }, 'ANSWER_AMBIGUOUS', '"b"'],
    [
      'when the graph has no such node',
      [one, oneOpen],
      { type: 'approve', node: 'nope' },
      'QUESTION_UNKNOWN',
      '"nope"',
    ],
    [
      'when its question is of a node the graph does not have',
      [one, oneOpen],
      { type: 'approve', question: '9.nope:0' },
      'QUESTION_UNKNOWN',
      '9.nope:0',
    ],
    [
      'when its question is of a step that is over',
      [one, oneOpen],
      { type: 'approve', question: '0.ask:0' },
      'QUESTION_UNKNOWN',
      '0.ask:0',
    ],
    [
      'when its question is no question id',
      [one, oneOpen],
      { type: 'approve', question: 'ask' },
      'QUESTION_UNKNOWN',
      'ask',
    ],
    [
      'when the question is not what was shown',
      [one, oneOpen],
      { type: 'approve', question: '1.ask:0', digest: 'old' },
      'QUESTION_CHANGED',
      '1.ask:0',
    ],
    [
      'when it is bare and the only question is not what was shown',
      [one, oneOpen],
      { type: 'approve', digest: 'old' },
      'QUESTION_CHANGED',
      '1.ask:0',
    ],
    [
      'when one id of its map is unknown',
      [two, twoOpen],
      { type: 'resume', value: { '1.a:0': 1, '0.a:9': 2 } },
      'QUESTION_UNKNOWN',
      '0.a:9',
    ],
    [
      'when one id of its map is not open yet',
      [two, twoOpen],
      { type: 'resume', value: { '1.a:0': 1, '7.a:0': 2 } },
      'QUESTION_UNKNOWN',
      '7.a:0',
    ],
  ])('%s, and nothing changes', (_, [graph, open], request, code, mentioned) => {
    const engine = waiting(graph, open);
    const before = engine.snapshot();
    const verdict = decide(engine, request);
    expect(verdict).toMatchObject({ kind: 'refused', code, message: expect.stringContaining(mentioned) });
    // What the questions ask is told to the caller, and not written down again.
    const written = { ...verdict, open: [] };
    expect(engine.snapshot()).toEqual({ ...before, ledger: [expect.objectContaining({ verdict: written })] });
  });

  test('naming every open question with its node and value', () => {
    expect(decide(waiting(two, twoOpen), { type: 'approve' })).toMatchObject({
      open: [
        { id: '1.a:0', node: 'a', value: '1.a:0?' },
        { id: '1.b:x', node: 'b', value: '1.b:x?' },
        { id: '1.b:y', node: 'b', value: '1.b:y?' },
      ],
    });
  });

  test('when it is bare and no question is open, and it is not kept for whatever comes next', () => {
    const engine = running(one);
    expect(decide(engine, { type: 'approve' })).toMatchObject({ kind: 'refused', code: 'NOTHING_PENDING' });
    engine.settle('1.ask', asked('1.ask:0'), AT);
    expect(engine.questions()).toHaveLength(1);
  });

  test.each<[string, object, string]>([
    ['approve', { type: 'approve' }, 'approved by ana'],
    ['deny', { type: 'deny' }, 'denied by ana'],
    ['resume', { type: 'resume', value: 7 }, 'answered by ana'],
  ])('when %s has settled the question, telling who did and when', (_, first, told) => {
    const engine = waiting(one, oneOpen);
    decide(engine, { ...first, question: '1.ask:0', by: 'ana' });
    const verdict = decide(engine, { type: 'approve', question: '1.ask:0', by: 'bo' });
    expect(verdict).toMatchObject({ code: 'QUESTION_SETTLED', message: expect.stringContaining(`${told} at ${AT}`) });
  });

  test('when the step of its question is over, as settled still', () => {
    const engine = waiting(one, oneOpen);
    decide(engine, { type: 'approve' });
    engine.take();
    engine.settle('1.ask', wrote(), AT);
    expect(decide(engine, { type: 'deny', question: '1.ask:0' })).toMatchObject({ code: 'QUESTION_SETTLED' });
  });

  test('when it comes in the same breath as another for the same question: the first one wins', () => {
    const engine = waiting(one, oneOpen);
    const verdicts = [decide(engine, { type: 'approve' }), decide(engine, { type: 'deny' })];
    expect(verdicts.map(({ kind }) => kind)).toEqual(['accepted', 'refused']);
    expect(engine.take()[0]?.task.answers).toMatchObject([{ id: '1.ask:0', value: true }]);
  });
});

describe('a decision cannot be read', () => {
  test.each<[string, unknown]>([
    ['of an unknown type', { type: 'perhaps' }],
    ['without a type', {}],
    ['that is none', null],
    ['of type resume without a value', { type: 'resume' }],
    ['with an unknown detail', { type: 'approve', who: 'ana' }],
    ['with a question and a node', { type: 'approve', question: '1.ask:0', node: 'ask' }],
    ['with an empty question', { type: 'approve', question: '' }],
    ['with a nameless decider', { type: 'approve', by: '' }],
    ['with a value JSON does not know', { type: 'resume', value: new Map() }],
    ['with a map of which only some keys are question ids', { type: 'resume', value: { '1.a:0': 1, other: 2 } }],
  ])('%s', (_, request) => {
    expect(() => readDecision(request, 'test')).toThrow(expect.objectContaining({ code: 'DECISION_MALFORMED' }));
  });
});

describe('a map of answers', () => {
  const open = { '1.a': ['1.a:0'], '1.b': ['1.b:x', '1.b:y'] };

  test.each([{ question: '1.a:0' }, { node: 'a' }])('is one plain answer where its target is named: %j', (target) => {
    const value = { '10.30:00': 'free', '11.00:00': 'taken' };
    expect(readDecision({ type: 'resume', value, ...target }, 'test')).toMatchObject({ value, ...target });
    expect(answersById({ type: 'resume', value, ...target })).toBeUndefined();
  });

  test('settles every question it names, and tells which', () => {
    const engine = waiting(two, open);
    const verdict = decide(engine, { type: 'resume', value: { '1.b:y': 'Y', '1.a:0': null } });
    expect(verdict).toEqual({ kind: 'accepted', questions: ['1.b:y', '1.a:0'] });
    expect(engine.questions().map(({ id }) => id)).toEqual(['1.b:x']);
  });

  test.each<[string, unknown]>([
    ['an empty object', {}],
    ['an object whose keys are no question ids', { total: 1, 'a:0': 2 }],
    ['a list', ['1.a:0']],
  ])('is not %s: that is a plain answer', (_, value) => {
    const engine = waiting(one, { '1.ask': ['1.ask:0'] });
    expect(decide(engine, { type: 'resume', value })).toEqual({ kind: 'accepted', questions: ['1.ask:0'] });
    expect(engine.take()[0]?.task.answers[0]?.value).toEqual(value);
  });
});

describe('a decision with an id', () => {
  const sent = { type: 'approve', decisionId: 'd1', by: 'ana' };

  test('that is sent again has one effect and the same reply', () => {
    const engine = waiting(one, { '1.ask': ['1.ask:0'] });
    const replies = [decide(engine, sent), decide(engine, sent)];
    expect(replies[1]).toEqual(replies[0]);
    expect(engine.decisions).toHaveLength(1);
  });

  test('gets the same reply through another door', () => {
    const engine = waiting(one, { '1.ask': ['1.ask:0'] });
    const first = decide(engine, sent);
    expect(engine.decide({ ...sent, type: 'approve', via: 'signal' }, AT)).toEqual(first);
  });

  test('that is refused is refused again, though it could be right by now', () => {
    const engine = running(one);
    const first = decide(engine, sent);
    engine.settle('1.ask', asked('1.ask:0'), AT);
    expect(decide(engine, sent)).toEqual(first);
  });

  test.each<[string, object]>([
    ['another answer', { type: 'deny' }],
    ['another decider', { by: 'bo' }],
    ['another question', { question: '1.ask:0' }],
    ['a note', { note: 'why not' }],
  ])('is refused when it comes with %s, and that is on record', (_, change) => {
    const engine = waiting(one, { '1.ask': ['1.ask:0'] });
    decide(engine, sent);
    const verdict = decide(engine, { ...sent, ...change });
    expect(verdict).toMatchObject({ kind: 'refused', code: 'DECISION_ID_REUSED' });
    expect(engine.decisions.map((record) => record.verdict.kind)).toEqual(['accepted', 'refused']);
  });
});

test('every decision is on record with its verdict and time, also the refused', () => {
  const engine = waiting(one, { '1.ask': ['1.ask:0'] });
  decide(engine, { type: 'approve', node: 'nope', by: 'ana', note: 'hm' });
  decide(engine, { type: 'deny', by: 'bo' });
  expect(engine.decisions).toEqual([
    {
      decision: { type: 'approve', node: 'nope', by: 'ana', note: 'hm', via: 'test' },
      digest: expect.any(String),
      verdict: expect.objectContaining({ kind: 'refused' }),
      at: AT,
    },
    {
      decision: { type: 'deny', by: 'bo', via: 'test' },
      digest: expect.any(String),
      verdict: { kind: 'accepted', questions: ['1.ask:0'] },
      at: AT,
    },
  ]);
});

test('an answer carries who decided, why, and through which door', () => {
  const engine = waiting(one, { '1.ask': ['1.ask:0'] });
  decide(engine, { type: 'resume', value: 7, by: 'ana', note: 'because', decisionId: 'd1' });
  expect(engine.take()[0]?.task.answers).toEqual([
    { id: '1.ask:0', digest: 'digest of 1.ask:0', value: 7, by: 'ana', note: 'because', via: 'test', decision: 'd1' },
  ]);
});

describe('an answer with a key called __proto__', () => {
  const answer = (text: string) => readDecision({ type: 'resume', value: JSON.parse(text) }, 'update');

  test('arrives with it', () => {
    const decision = answer('{"__proto__":1,"to":"all"}');
    expect(JSON.stringify(decision)).toContain('"value":{"__proto__":1,"to":"all"}');
  });

  test('is no map of answers, whatever its other keys are', () => {
    expect(() => answer('{"__proto__":1,"1.ask:0":true}')).toThrow(
      expect.objectContaining({ code: 'DECISION_MALFORMED' }),
    );
  });
});
