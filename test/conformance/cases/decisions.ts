import { z } from 'zod';
import { END, inWorkflow, interrupt, START } from 'abeyance';
import { Log } from '../../graph/support/build-graph';
import { eventually } from '../../support/eventually';
import { latch, note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal, type Stage } from '../stage';

const twice = scene('decisions_twice', () => ({ state: { answers: z.any() }, nodes: ['ask'] }), {
  bodies: {
    ask: async () => {
      note('ask');
      return { answers: [interrupt('first?'), interrupt('second?')] };
    },
  },
});

/** Answers the second question and gives both answers. */
async function finish(stage: Stage, second: unknown): Promise<unknown> {
  return (await stage.resume(second)).answers;
}

const same = [
  ...casesOf(
    'T08',
    twice,
    [
      ['a bare answer', (stage: Stage) => stage.thread().resume('a', { decisionId: 'd' })],
      ['an answer by id', (stage: Stage) => stage.thread().resume('a', { decisionId: 'd', question: '1.ask:0' })],
      ['an answer by node', (stage: Stage) => stage.thread().resume('a', { decisionId: 'd', node: 'ask' })],
      ['a map of answers', (stage: Stage) => stage.thread().resume({ '1.ask:0': 'a' }, { decisionId: 'd' })],
      ['an approval', (stage: Stage) => stage.thread().approve({ decisionId: 'd', by: 'ana' })],
      ['a denial', (stage: Stage) => stage.thread().deny({ decisionId: 'd', note: 'no' })],
    ].map(([what, decide]) => [
      `sent three times under one decision id, ${what as string} has one effect and one reply`,
      decide,
    ]),
    async (stage, decide) => {
      await stage.invoke();
      const replies = [await decide(stage), await decide(stage), await decide(stage)];
      expect(replies).toEqual([replies[0], replies[0], replies[0]]);
      expect(replies[0]).toEqual({ kind: 'accepted', questions: ['1.ask:0'] });
      await stage.stop();
      expect(await stage.open()).toEqual(['1.ask:1']);
      expect(await stage.thread().decisions()).toHaveLength(1);
      expect(stage.notes()).toHaveLength(2);
    },
  ),
  ...casesOf(
    'T08',
    twice,
    [
      ['another answer', (stage: Stage) => stage.thread().resume('b', { decisionId: 'd' })],
      ['a denial', (stage: Stage) => stage.thread().deny({ decisionId: 'd' })],
      ['another person', (stage: Stage) => stage.thread().resume('a', { decisionId: 'd', by: 'bo' })],
      ['another question', (stage: Stage) => stage.thread().resume('a', { decisionId: 'd', question: '1.ask:1' })],
    ].map(([what, decide]) => [`under a decision id that was used, ${what as string} is refused`, decide]),
    async (stage, decide) => {
      await stage.invoke();
      await stage.resume('a', { decisionId: 'd' });
      const error = await refusal(() => decide(stage));
      expect(error).toMatchObject({ code: 'DECISION_ID_REUSED', open: [{ id: '1.ask:1' }] });
      expect(await stage.open()).toEqual(['1.ask:1']);
      expect(await finish(stage, 'z')).toEqual(['a', 'z']);
    },
  ),
  ...cases('T08', twice, {
    'a refused decision sent again under its id is refused for the same reason, once on record': async (stage) => {
      await stage.invoke();
      const send = (): unknown => stage.thread().approve({ question: '0.ask:0', decisionId: 'd' });
      const [first, second] = [await refusal(send), await refusal(send)];
      expect([first.code, second.code]).toEqual(['QUESTION_UNKNOWN', 'QUESTION_UNKNOWN']);
      expect(await stage.verdicts()).toEqual(['approve refused QUESTION_UNKNOWN']);
    },
    'without a decision id the same answer twice is two decisions': async (stage) => {
      await stage.invoke();
      await stage.resume('a');
      expect(await finish(stage, 'a')).toEqual(['a', 'a']);
      expect(await stage.verdicts()).toEqual(['resume accepted', 'resume accepted']);
    },
  }),
];

const race = [
  ...cases('law 9', twice, {
    'of two people the first decides, and the second is told who did and when': async (stage) => {
      await stage.invoke();
      await stage.thread().approve({ question: '1.ask:0', by: 'ana@example.com' });
      const error = await refusal(() => stage.thread().deny({ question: '1.ask:0', by: 'bo@example.com' }));
      expect(error).toMatchObject({ code: 'QUESTION_SETTLED' });
      expect(error.message).toMatch(/approved by ana@example\.com at \d{4}-.*Nothing changed/);
      await stage.stop();
      expect(await finish(stage, 0)).toEqual([true, 0]);
    },
    'of two who decide at once one is accepted and one refused': async (stage) => {
      await stage.invoke();
      const both = await Promise.allSettled([
        stage.thread().resume('x', { question: '1.ask:0' }),
        stage.thread().resume('y', { question: '1.ask:0' }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await stage.stop();
      expect((await stage.verdicts()).sort()).toEqual(['resume accepted', 'resume refused QUESTION_SETTLED']);
      expect(stage.notes()).toHaveLength(2);
    },
    'the second is told what the first did: answered': async (stage) => {
      await stage.invoke();
      await stage.thread().resume('x', { question: '1.ask:0', by: 'ana' });
      expect((await refusal(() => stage.thread().approve({ question: '1.ask:0' }))).message).toContain(
        'answered by ana',
      );
    },
    'the second is told what the first did: denied': async (stage) => {
      await stage.invoke();
      await stage.thread().deny({ question: '1.ask:0' });
      expect((await refusal(() => stage.thread().approve({ question: '1.ask:0' }))).message).toContain('denied at');
    },
  }),
];

const MALFORMED: readonly (readonly [string, object])[] = [
  ['a question and a node', { question: '1.ask:0', node: 'ask' }],
  ['an unknown part', { approver: 'ana' }],
  ['a "by" that is no text', { by: 5 }],
  ['an empty "by"', { by: '' }],
  ['a "by" of more than 500 characters', { by: 'x'.repeat(501) }],
  ['an empty question', { question: '' }],
  ['a question that is no text', { question: 7 }],
  ['an empty node', { node: '' }],
  ['an empty decision id', { decisionId: '' }],
  ['a digest that is no text', { digest: {} }],
  ['a note of more than 20,000 characters', { note: 'x'.repeat(20_001) }],
  ['a note that is no text', { note: ['no'] }],
];

const judged = [
  ...casesOf(
    'T19',
    twice,
    MALFORMED.map(([what, options]) => [
      `a decision with ${what} is refused to its sender, and the run goes on`,
      options,
    ]),
    async (stage, options) => {
      await stage.invoke();
      expect(await refusal(() => stage.thread().approve(options))).toMatchObject({ code: 'DECISION_MALFORMED' });
      expect(await stage.open()).toEqual(['1.ask:0']);
      expect(await stage.verdicts()).toEqual([]);
    },
  ),
  ...casesOf(
    'law 5',
    twice,
    [
      ['of a node that is not there', '1.nope:0', 'QUESTION_UNKNOWN', /no question 1\.nope:0/],
      ['of a step before', '0.ask:0', 'QUESTION_UNKNOWN', /no question/],
      ['that is no question id', 'approve', 'QUESTION_UNKNOWN', /no question approve/],
      ['that is cut off', '1.ask', 'QUESTION_UNKNOWN', /no question 1\.ask/],
      ['of another case', '1.ASK:0', 'QUESTION_UNKNOWN', /no question/],
    ].map(([what, ...rest]) => [`an id ${what as string} is refused, naming the open one`, ...rest] as any),
    async (stage, question, code, message) => {
      await stage.invoke();
      const error = await refusal(() => stage.thread().approve({ question }));
      expect(error).toMatchObject({ code, open: [{ id: '1.ask:0', node: 'ask', value: 'first?' }] });
      expect(error.message).toMatch(message);
      expect(error.message).toContain('Open: 1.ask:0');
      expect(await stage.verdicts()).toEqual(['approve refused QUESTION_UNKNOWN']);
      expect(await stage.open()).toEqual(['1.ask:0']);
    },
  ),
  ...cases('law 5', twice, {
    'a node that the graph does not have is refused': async (stage) => {
      await stage.invoke();
      const error = await refusal(() => stage.thread().approve({ node: 'nope' }));
      expect(error).toMatchObject({ code: 'QUESTION_UNKNOWN', message: expect.stringContaining('"nope"') });
    },
    'an id that its task may still ask is kept, and answers nothing meanwhile': async (stage) => {
      await stage.invoke();
      expect(await stage.thread().approve({ question: '1.ask:5' })).toEqual({ kind: 'kept', until: '1.ask:5' });
      expect(await stage.open()).toEqual(['1.ask:0']);
      await stage.resume('a', { question: '1.ask:0' });
      expect(await finish(stage, 'b')).toEqual(['a', 'b']);
      expect((await stage.verdicts())[0]).toBe('approve refused QUESTION_UNKNOWN');
    },
    'a settled id is refused, also where another question is open': async (stage) => {
      await stage.invoke();
      await stage.resume('a');
      expect((await refusal(() => stage.thread().resume('x', { question: '1.ask:0' }))).code).toBe('QUESTION_SETTLED');
      expect(await finish(stage, 'b')).toEqual(['a', 'b']);
    },
    'a decision with the digest that was shown is accepted': async (stage) => {
      await stage.invoke();
      const digest = (await stage.state()).interrupts[0]?.digest;
      expect(await stage.thread().resume('a', { question: '1.ask:0', digest })).toMatchObject({ kind: 'accepted' });
    },
    'a decision with another digest is refused: the question has changed': async (stage) => {
      await stage.invoke();
      const digest = '0'.repeat(32);
      expect((await refusal(() => stage.thread().resume('a', { question: '1.ask:0', digest }))).code).toBe(
        'QUESTION_CHANGED',
      );
      expect(await stage.open()).toEqual(['1.ask:0']);
    },
    'a bare decision with another digest is refused as well': async (stage) => {
      await stage.invoke();
      expect(await refusal(() => stage.thread().resume('a', { digest: 'other' }))).toMatchObject({
        code: 'QUESTION_CHANGED',
      });
      expect(await stage.open()).toEqual(['1.ask:0']);
    },
    'a bare decision with the digest that was shown is accepted': async (stage) => {
      await stage.invoke();
      const digest = (await stage.state()).interrupts[0]?.digest;
      expect(await stage.thread().approve({ digest })).toMatchObject({ kind: 'accepted' });
    },
    'decisions are on record in their order, with who, why and how': async (stage) => {
      await stage.invoke();
      await stage.approve({ by: 'ana', note: 'fine', question: '1.ask:0' });
      await refusal(() => stage.thread().deny({ by: 'bo', question: '1.ask:0' }));
      await stage.deny({ by: 'cy', decisionId: 'd', question: '1.ask:1' });
      const decisions = await stage.thread().decisions();
      expect(decisions.map(({ decision }) => decision)).toMatchObject([
        { type: 'approve', by: 'ana', note: 'fine' },
        { type: 'deny', by: 'bo' },
        { type: 'deny', by: 'cy', decisionId: 'd' },
      ]);
      expect(decisions.map(({ verdict }) => verdict.kind)).toEqual(['accepted', 'refused', 'accepted']);
      for (const { at } of decisions) expect(at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    },
    'a refused decision changes nothing but the record': async (stage) => {
      await stage.invoke();
      const { values, next, tasks, interrupts, status } = await stage.state();
      await refusal(() => stage.thread().approve({ question: '1.nope:0' }));
      expect(await stage.state()).toMatchObject({ values, next, tasks, interrupts, status });
      expect(stage.notes()).toHaveLength(1);
    },
  }),
];

const line = scene(
  'decisions_line',
  () => ({
    state: { log: Log, detour: z.boolean().default(false) },
    nodes: {
      prepare: undefined,
      ask: undefined,
      gate: inWorkflow(() => ({ log: `gate ${(interrupt('gate?', { approval: true }) as any).type}` })),
      skipped: undefined,
    },
    edges: [
      [START, 'prepare'],
      ['prepare', 'ask'],
      ['ask', 'gate'],
    ],
    routers: [['gate', ({ detour }) => (detour ? 'skipped' : END), ['skipped', END]]],
  }),
  {
    bodies: {
      prepare: async () => {
        await latch('prepare');
        return {};
      },
      ask: async () => ({ log: [`one ${interrupt('one?')}`, `two ${interrupt('two?', { key: 'two' })}`] }),
      skipped: async () => ({ log: `skipped ${interrupt('skip?')}` }),
    },
  },
);

/** Starts, and holds the first node until the case has decided ahead. */
async function ahead(stage: Stage, decide: () => Promise<unknown>): Promise<unknown> {
  stage.latches.close('prepare');
  await stage.start();
  await stage.latches.reached('prepare');
  try {
    return await decide();
  } finally {
    stage.latches.open('prepare');
  }
}

const early = [
  ...cases('T01', line, {
    'a decision that comes with the start is kept for the question it names, and answers it': async (stage) => {
      const verdict = await ahead(stage, () => stage.thread().resume('early', { question: '2.ask:0' }));
      expect(verdict).toEqual({ kind: 'kept', until: '2.ask:0' });
      expect(await stage.stop()).toMatchObject({ __interrupt__: [{ id: '2.ask:two' }] });
      expect(await stage.verdicts()).toEqual(['resume accepted']);
    },
    'one that names a node is kept for the first question of that node, and only that': async (stage) => {
      const verdict = await ahead(stage, () => stage.thread().resume('early', { node: 'ask' }));
      expect(verdict).toEqual({ kind: 'kept', until: 'ask' });
      expect(await stage.stop()).toMatchObject({ __interrupt__: [{ id: '2.ask:two' }] });
    },
    'decisions for several questions to come each find their own': async (stage) => {
      await ahead(stage, async () => {
        await stage.thread().approve({ question: '3.gate:0' });
        await stage.thread().resume(2, { question: '2.ask:two' });
        await stage.thread().resume(1, { question: '2.ask:0' });
      });
      expect((await stage.stop()).log).toEqual(['one 1', 'two 2', 'gate approve']);
      expect(await stage.verdicts()).toEqual(['approve accepted', 'resume accepted', 'resume accepted']);
    },
    'a bare early decision is refused, never kept for whatever comes next': async (stage) => {
      await ahead(stage, async () => {
        expect((await refusal(() => stage.thread().approve())).code).toBe('NOTHING_PENDING');
        expect((await refusal(() => stage.thread().resume('x'))).code).toBe('NOTHING_PENDING');
      });
      expect(await stage.stop()).toMatchObject({ __interrupt__: [{ id: '2.ask:0' }] });
    },
    'an early map of answers is refused: it is for open questions': async (stage) => {
      await ahead(stage, async () => {
        expect((await refusal(() => stage.thread().resume({ '2.ask:0': 1 }))).code).toBe('QUESTION_UNKNOWN');
      });
      expect(await stage.stop()).toMatchObject({ __interrupt__: [{ id: '2.ask:0' }] });
    },
  }),
  ...cases('law 10', line, {
    'a second early decision for one question is refused when it opens, the first one counts': async (stage) => {
      await ahead(stage, async () => {
        await stage.thread().resume('first', { question: '2.ask:0', by: 'ana' });
        await stage.thread().resume('second', { question: '2.ask:0', by: 'bo' });
      });
      await stage.stop();
      expect(await stage.verdicts()).toEqual(['resume accepted', 'resume refused QUESTION_SETTLED']);
      expect((await stage.resume(2)).log).toEqual(['one first', 'two 2']);
    },
    'an early decision sent twice under one id is kept once': async (stage) => {
      await ahead(stage, async () => {
        const send = (): Promise<unknown> => stage.thread().resume(1, { question: '2.ask:0', decisionId: 'd' });
        expect([await send(), await send()]).toEqual([
          { kind: 'kept', until: '2.ask:0' },
          { kind: 'kept', until: '2.ask:0' },
        ]);
      });
      await stage.stop();
      expect(await stage.thread().decisions()).toHaveLength(1);
    },
    'an early decision with another digest is refused when its question opens': async (stage) => {
      await ahead(stage, () => stage.thread().resume(1, { question: '2.ask:0', digest: 'other' }));
      await stage.stop();
      expect(await stage.verdicts()).toEqual(['resume refused QUESTION_CHANGED']);
      expect(await stage.open()).toEqual(['2.ask:0']);
    },
    'an early answer that is no approval is refused when the approval opens': async (stage) => {
      await ahead(stage, () => stage.thread().resume('maybe', { question: '3.gate:0' }));
      await stage.resume(1, { question: '2.ask:0' });
      await stage.resume(2);
      expect(await stage.verdicts()).toContain('resume refused ANSWER_INVALID');
      expect(await stage.open()).toEqual(['3.gate:0']);
    },
    'one kept for a question its task never asked is refused when the task ends': async (stage) => {
      await stage.invoke();
      await stage.thread().resume('x', { question: '2.ask:9' });
      await stage.resume(1, { question: '2.ask:0' });
      await stage.resume(2, { question: '2.ask:two' });
      expect((await stage.verdicts())[0]).toBe('resume refused QUESTION_UNKNOWN');
      expect(await stage.open()).toEqual(['3.gate:0']);
    },
    'one kept for a node that did not run is refused when the run ends': async (stage) => {
      await stage.invoke();
      await stage.thread().resume('x', { node: 'skipped' });
      await stage.resume(1, { question: '2.ask:0' });
      await stage.resume(2);
      await stage.approve();
      expect((await stage.state()).status).toBe('done');
      expect((await stage.verdicts())[0]).toBe('resume refused QUESTION_UNKNOWN');
    },
    'one kept for a node that runs late is used there': async (stage) => {
      await stage.invoke({ detour: true });
      await stage.thread().resume('x', { node: 'skipped' });
      await stage.resume(1, { question: '2.ask:0' });
      await stage.resume(2);
      expect((await stage.approve()).log.at(-1)).toBe('skipped x');
    },
    'a kept decision does not answer another question meanwhile': async (stage) => {
      await ahead(stage, () => stage.thread().approve({ question: '3.gate:0' }));
      await stage.stop();
      expect(await stage.open()).toEqual(['2.ask:0']);
      expect((await stage.verdicts())[0]).toBe('approve kept');
    },
    'after an answer is sent ahead the question never shows as open': async (stage) => {
      await ahead(stage, () => stage.thread().resume(1, { question: '2.ask:0' }));
      await eventually(async () => expect(await stage.open()).toEqual(['2.ask:two']));
    },
  }),
];

const once = scene('decisions_once', () => ({ state: { answer: z.any() }, nodes: ['ask'] }), {
  bodies: { ask: async () => ({ answer: interrupt('q?') }) },
});
const fails = scene('decisions_fails', () => ({ state: { answer: z.any() }, nodes: ['ask'] }), {
  bodies: {
    ask: async () => {
      throw new Error('broken');
    },
  },
});
const DECIDE: readonly (readonly [string, (stage: Stage) => unknown])[] = [
  ['approve', (stage) => stage.thread().approve()],
  ['deny', (stage) => stage.thread().deny()],
  ['resume', (stage) => stage.thread().resume('x')],
  ['resume by id', (stage) => stage.thread().resume('x', { question: '1.ask:0' })],
  ['resume by node', (stage) => stage.thread().resume('x', { node: 'ask' })],
  ['a map of answers', (stage) => stage.thread().resume({ '1.ask:0': 'x' })],
  ['a command', (stage) => stage.command('x')],
];
const late = [
  ...casesOf(
    'T09',
    once,
    DECIDE.map(([word, decide]) => [`${word} after the end says that the thread has finished`, decide]),
    async (stage, decide) => {
      await stage.invoke();
      await stage.resume('in time');
      expect(await refusal(() => decide(stage))).toMatchObject({ code: 'THREAD_FINISHED', threadId: stage.threadId });
      expect(await stage.state()).toMatchObject({ status: 'done', values: { answer: 'in time' } });
    },
  ),
  ...casesOf(
    'T09',
    once,
    DECIDE.map(([word, decide]) => [`${word} on a thread that never was says that it is unknown`, decide]),
    async (stage, decide) => {
      expect(await refusal(() => decide(stage))).toMatchObject({ code: 'THREAD_UNKNOWN', threadId: stage.threadId });
    },
  ),
  ...casesOf(
    'T09',
    fails,
    DECIDE.filter(([word]) => ['approve', 'resume by id', 'a command'].includes(word)).map(([word, decide]) => [
      `${word} after a failure says that the thread has finished`,
      decide,
    ]),
    async (stage, decide) => {
      await refusal(() => stage.invoke());
      expect(await refusal(() => decide(stage))).toMatchObject({ code: 'THREAD_FINISHED' });
    },
  ),
];

export const decisions = [...same, ...race, ...judged, ...early, ...late];
