import { z } from 'zod';
import {
  approvalGate,
  Command,
  END,
  interrupt,
  inWorkflow,
  MessagesValue,
  modelNode,
  nodeContext,
  once,
  Overwrite,
  PrivateValue,
  rejectAnswer,
  Send,
  START,
  subgraph,
  tool,
  toolNode,
  type Message,
} from 'abeyance';
import type { ToolImplementation } from 'abeyance/activity';
import { Log } from '../../graph/support/build-graph';
import { latch, note, timesNoted } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { inner, scene } from '../scene';
import { refusal, type Stage } from '../stage';

const verdict = z.string().optional();

/** START → step → ask: asks one question, and tells the graph around what it was told. */
const review = inner(
  'subgraphs_inner_review',
  () => ({ state: { log: Log, verdict, secret: z.string().default('') }, nodes: ['step', 'ask'] }),
  {
    step: async () => {
      note('step');
      return { log: 'step', secret: 'inside' };
    },
    ask: async ({ secret }) => {
      note('ask');
      return { log: `ask ${secret}`, verdict: String(interrupt('fine?')) };
    },
  },
);

const between = scene(
  'subgraphs_between',
  () => ({
    state: { log: Log, verdict },
    nodes: { before: undefined, review: review.graph(), after: undefined },
  }),
  {
    bodies: {
      before: async () => {
        note('before');
        await latch('before');
        return { log: 'before' };
      },
      after: async ({ verdict }) => ({ log: `after ${verdict}` }),
    },
    subgraphs: [review],
  },
);

const ASK = '2.review/2.ask:0';

const asNode = [
  ...cases('subgraphs', between, {
    'a question in a subgraph is asked under the path of its nodes': async (stage) => {
      const { __interrupt__ } = await stage.invoke();
      expect(__interrupt__).toEqual([{ id: ASK, value: 'fine?' }]);
      expect((await stage.state()).interrupts).toMatchObject([{ node: 'review/ask', task: '2.review/2.ask' }]);
    },
    'the tasks of a subgraph are shown after the one it runs in, by path': async (stage) => {
      await stage.invoke();
      const { tasks, next, values } = await stage.state();
      expect(tasks.map(({ id, name, visit, status }) => [id, name, visit, status])).toEqual([
        ['2.review', 'review', 1, 'waiting'],
        ['2.review/2.ask', 'review/ask', 1, 'waiting'],
      ]);
      expect(tasks.map(({ interrupts }) => interrupts.map(({ id }) => id))).toEqual([[], [ASK]]);
      expect([next, values]).toEqual([['review'], { log: ['before'] }]);
    },
    'what it writes arrives when it has ended, and what only it has stays inside': async (stage) => {
      await stage.invoke();
      expect(await stage.approve()).toEqual({
        log: ['before', 'step', 'ask inside', 'after true'],
        verdict: 'true',
      });
    },
    'its node is named by path, not by the subgraph': async (stage) => {
      await stage.invoke();
      const error = await refusal(() => stage.thread().approve({ node: 'review' }));
      expect(error).toMatchObject({ code: 'QUESTION_UNKNOWN', message: expect.stringContaining('review/') });
      expect((await stage.resume('by path', { node: 'review/ask' })).verdict).toBe('by path');
    },
    'its node is not known outside under its bare name': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.thread().approve({ node: 'ask' }))).code).toBe('QUESTION_UNKNOWN');
      expect(await stage.open()).toEqual([ASK]);
    },
    'it is answered by id in a map': async (stage) => {
      await stage.invoke();
      expect((await stage.resume({ [ASK]: 'mapped' })).verdict).toBe('mapped');
    },
    'a digest that is not the question’s is refused inside too': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.thread().approve({ question: ASK, digest: 'x' }))).code).toBe(
        'QUESTION_CHANGED',
      );
    },
    'a second answer is told who gave the first': async (stage) => {
      await stage.invoke();
      await stage.thread().approve({ question: ASK, by: 'ana' });
      const error = await refusal(() => stage.thread().deny({ question: ASK }));
      expect(['QUESTION_SETTLED', 'THREAD_FINISHED']).toContain(error.code);
      expect(await stage.stop()).toMatchObject({ verdict: 'true' });
    },
  }),
  ...cases('L14', between, {
    'after a pause only the node that asked runs again, none before it in the subgraph': async (stage) => {
      await stage.invoke();
      await stage.approve();
      expect(stage.notes()).toEqual(['before', 'step', 'ask', 'ask']);
    },
  }),
  ...cases('L28', between, {
    'a list that both graphs fold is not doubled': async (stage) => {
      await stage.invoke({ log: 'in' });
      expect((await stage.approve()).log).toEqual(['in', 'before', 'step', 'ask inside', 'after true']);
    },
  }),
  ...casesOf(
    'law 10',
    between,
    [
      ['by path', { node: 'review/ask' }],
      ['by id', { question: ASK }],
    ].map(([how, target]) => [
      `a decision ahead of a question in a subgraph is kept for it, ${how as string}`,
      target as any,
    ]),
    async (stage, target) => {
      stage.latches.close('before');
      await stage.start();
      await stage.latches.reached('before');
      expect((await stage.thread().approve(target)).kind).toBe('kept');
      stage.latches.open('before');
      expect((await stage.stop()).verdict).toBe('true');
      expect(await stage.verdicts()).toEqual(['approve accepted']);
    },
  ),
  ...casesOf(
    'law 10',
    between,
    [
      '2.review/9.nobody:0',
      '2.review/2.ask/1.deeper:0',
      '2.review:0',
      '1.before/1.ask:0',
      '0.review/1.ask:0',
      '2.review/ask:0',
    ].map((id) => [`a decision for ${id}, which nothing can ask, is refused`, id]),
    async (stage, question) => {
      stage.latches.close('before');
      await stage.start();
      await stage.latches.reached('before');
      const { code } = await refusal(() => stage.thread().approve({ question }));
      stage.latches.open('before');
      expect(code).toBe('QUESTION_UNKNOWN');
      expect((await stage.stop()).__interrupt__).toHaveLength(1);
    },
  ),
  ...cases('law 10', between, {
    'one that is kept for a question that never came in a subgraph is refused when the task ends': async (stage) => {
      stage.latches.close('before');
      await stage.start();
      await stage.latches.reached('before');
      await stage.thread().approve({ question: '2.review/1.step:0' });
      stage.latches.open('before');
      await stage.stop();
      expect(await stage.verdicts()).toEqual(['approve refused QUESTION_UNKNOWN']);
    },
  }),
];

const wrap = (name: string, node: string, within: typeof review) =>
  inner(name, () => ({ state: { log: Log, verdict }, nodes: { [node]: within.graph() } }));
const middle = wrap('subgraphs_inner_middle', 'b', review);
const deep = scene('subgraphs_deep', () => ({ state: { log: Log, verdict }, nodes: { a: middle.graph() } }), {
  subgraphs: [review],
});
const three = cases('subgraphs', deep, {
  'three graphs deep a question has the whole path': async (stage) => {
    await stage.invoke();
    const { interrupts, tasks, next } = await stage.state();
    expect(interrupts).toMatchObject([{ id: '1.a/1.b/2.ask:0', node: 'a/b/ask' }]);
    expect(tasks.map(({ name }) => name)).toEqual(['a', 'a/b', 'a/b/ask']);
    expect(next).toEqual(['a']);
  },
  'three graphs deep it is answered by path, and nothing on the way runs again': async (stage) => {
    await stage.invoke();
    expect(await stage.resume('deep', { node: 'a/b/ask' })).toMatchObject({
      log: ['step', 'ask inside'],
      verdict: 'deep',
    });
    expect(stage.notes()).toEqual(['step', 'ask', 'ask']);
  },
  'three graphs deep half a path names nothing': async (stage) => {
    await stage.invoke();
    for (const node of ['a/b', 'b/ask', 'a/ask', 'a/b/nobody'])
      expect((await refusal(() => stage.thread().approve({ node }))).code).toBe('QUESTION_UNKNOWN');
  },
});

const pair = scene(
  'subgraphs_pair',
  () => ({
    nodes: {
      left: subgraph(review.graph(), { output: ({ verdict }) => ({ log: `left ${verdict}` }) }),
      right: subgraph(review.graph(), { output: ({ verdict }) => ({ log: `right ${verdict}` }) }),
      slow: undefined,
    },
    edges: [
      [START, 'left'],
      [START, 'right'],
      [START, 'slow'],
    ],
  }),
  {
    bodies: {
      slow: async () => {
        note('slow');
        await latch('slow');
        return { log: 'slow' };
      },
    },
    subgraphs: [review],
  },
);
const parallel = cases('law 4', pair, {
  'two subgraphs of one graph ask each its own question': async (stage) => {
    const { __interrupt__ } = await stage.invoke();
    expect(__interrupt__.map(({ id }: any) => id)).toEqual(['1.left/2.ask:0', '1.right/2.ask:0']);
    expect((await refusal(() => stage.thread().approve())).code).toBe('ANSWER_AMBIGUOUS');
  },
  'answered in the other order, their writes still come by name': async (stage) => {
    await stage.invoke();
    await stage.resume('r', { node: 'right/ask' });
    expect((await stage.resume('l', { node: 'left/ask' })).log).toEqual(['left l', 'right r', 'slow']);
  },
  'the one that was answered goes on while the other waits, and is not run again': async (stage) => {
    await stage.invoke();
    const { __interrupt__ } = await stage.resume('r', { question: '1.right/2.ask:0' });
    expect(__interrupt__).toMatchObject([{ id: '1.left/2.ask:0' }]);
    expect((await stage.state()).next).toEqual(['left']);
    await stage.resume('l');
    expect(stage.notes().filter((one) => one === 'step')).toHaveLength(2);
    expect(stage.notes().filter((one) => one === 'ask')).toHaveLength(4);
  },
  'a subgraph asks and is answered while a node beside it still runs': async (stage) => {
    stage.latches.close('slow');
    await stage.start();
    await stage.latches.reached('slow');
    await stage.thread().resume('early', { node: 'left/ask' });
    await stage.thread().resume('early', { node: 'right/ask' });
    stage.latches.open('slow');
    expect((await stage.stop()).log).toEqual(['left early', 'right early', 'slow']);
  },
  'a map answers both at once': async (stage) => {
    await stage.invoke();
    expect((await stage.resume({ '1.right/2.ask:0': 'r', '1.left/2.ask:0': 'l' })).log).toEqual([
      'left l',
      'right r',
      'slow',
    ]);
  },
  'a map with an id of neither changes nothing': async (stage) => {
    await stage.invoke();
    const answers = { '1.right/2.ask:0': 'r', '1.middle/2.ask:0': 'm' };
    expect((await refusal(() => stage.thread().resume(answers))).code).toBe('QUESTION_UNKNOWN');
    expect(await stage.open()).toHaveLength(2);
  },
});

const each = scene(
  'subgraphs_each',
  () => ({
    state: { log: Log, verdict: z.string().optional(), how: z.string().default('two') },
    nodes: { review: subgraph(review.graph(), { output: ({ log, verdict }) => ({ log: [...log, verdict ?? ''] }) }) },
    routers: [
      [
        START,
        ({ how }) =>
          how === 'two'
            ? [new Send('review', { log: 'one' }), new Send('review', { log: 'two' })]
            : new Send('review', how === 'wrong' ? { nope: 1 } : how),
        ['review'],
      ],
    ],
  }),
  { subgraphs: [review] },
);
const sends = [
  ...cases('subgraphs', each, {
    'a subgraph runs once for each Send, on its input': async (stage) => {
      await stage.invoke();
      expect(await stage.open()).toEqual(['1.review.0/2.ask:0', '1.review.1/2.ask:0']);
      await stage.resume('b', { question: '1.review.1/2.ask:0' });
      const { log } = await stage.resume('a', { question: '1.review.0/2.ask:0' });
      expect(log).toEqual(['one', 'step', 'ask inside', 'a', 'two', 'step', 'ask inside', 'b']);
    },
    'by path a decision for one of several Sends is ambiguous': async (stage) => {
      await stage.invoke();
      expect((await refusal(() => stage.thread().approve({ node: 'review/ask' }))).code).toBe('ANSWER_AMBIGUOUS');
    },
  }),
  ...casesOf(
    'subgraphs',
    each,
    [
      ['a key that it does not have', 'wrong', 'STATE_UNKNOWN_KEY'],
      ['what is no state at all', 'a text', 'INVALID_NODE_RETURN'],
    ].map(([what, ...rest]) => [`a Send to a subgraph that carries ${what} fails the run`, ...rest] as any),
    async (stage, how, code) => {
      expect(await refusal(() => stage.invoke({ how }))).toMatchObject({ code, node: 'review' });
      expect((await stage.state()).status).toBe('failed');
    },
  ),
];

/** Text in, its length out; what the state says breaks the way in or out. */
const counter = inner('subgraphs_inner_counter', () => ({
  state: { text: z.string(), length: z.number().default(0) },
  nodes: { count: inWorkflow(({ text }: { text: string }) => ({ length: text.length })) },
}));
const mapped = scene('subgraphs_mapped', () => ({
  state: { draft: z.any(), verdict: z.any() },
  nodes: {
    count: subgraph(counter.graph(), {
      input: ({ draft }: any): any => {
        if (draft === 'throw') throw new TypeError('cannot read it');
        return draft === 'stranger' ? { words: 1 } : { text: draft };
      },
      output: ({ length, text }): any => {
        if (text === 'burst') throw new TypeError('cannot tell');
        if (text === 'stray') return { letters: length };
        return text === 'command'
          ? new Command({ update: { verdict: 'by command' }, goto: 'last' })
          : { verdict: length };
      },
      ends: ['last'],
    }),
    last: inWorkflow(() => ({ draft: 'last' })),
  },
  edges: [[START, 'count']],
}));
const mapping = [
  ...cases('subgraphs', mapped, {
    'input and output stand between two states that share no key': async (stage) => {
      expect(await stage.invoke({ draft: 'hello' })).toEqual({ draft: 'hello', verdict: 5 });
    },
    'an output may be a command': async (stage) => {
      expect(await stage.invoke({ draft: 'command' })).toEqual({ draft: 'last', verdict: 'by command' });
    },
  }),
  ...casesOf(
    'law 13',
    mapped,
    [
      ['an input that throws', 'throw', 'NODE_FAILED', /input of subgraph "count".*cannot read it/],
      ['an output that throws', 'burst', 'NODE_FAILED', /output of subgraph "count".*cannot tell/],
      ['an input with a key that the subgraph does not have', 'stranger', 'STATE_UNKNOWN_KEY', /words/],
      ['an input that does not fit it', 7, 'STATE_INVALID', /text/],
      ['an output with a key that the graph around does not have', 'stray', 'STATE_UNKNOWN_KEY', /letters/],
    ].map(
      ([what, ...rest]) => [`${what as string} fails the run, and is no task that is retried for ever`, ...rest] as any,
    ),
    async (stage, draft, code, message) => {
      expect(await refusal(() => stage.invoke({ draft }))).toMatchObject({
        code,
        message: expect.stringMatching(message),
        node: 'count',
      });
      expect((await stage.state()).status).toBe('failed');
    },
  ),
];

const clearing = inner('subgraphs_inner_clearing', () => ({
  nodes: { clear: inWorkflow(() => [{ log: new Overwrite(['fresh']) }]), more: inWorkflow(() => ({ log: 'more' })) },
}));
const cleared = scene('subgraphs_cleared', () => ({
  nodes: { clear: clearing.graph(), end: inWorkflow(() => ({ log: 'end' })) },
}));
const seen = z.array(z.string()).default([]);
const talk = inner('subgraphs_inner_talk', () => ({
  state: { messages: MessagesValue, seen },
  nodes: {
    say: inWorkflow(() => ({ messages: [{ role: 'ai' as const, content: 'hi' }] })),
    look: inWorkflow(({ messages }: any) => ({ seen: messages.map(({ id }: Message) => id) })),
  },
}));
const talking = scene('subgraphs_talking', () => ({
  state: { messages: MessagesValue, seen },
  nodes: { talk: talk.graph() },
}));
const hiding = inner('subgraphs_inner_hiding', () => ({
  state: { log: Log, notes: new PrivateValue(Log) },
  nodes: {
    write: inWorkflow(() => ({ notes: 'a note' })),
    read: inWorkflow(({ notes }: any) => ({ log: `read ${notes}` })),
  },
}));
const hidden = scene('subgraphs_hidden', () => ({ nodes: { inside: hiding.graph() } }));
const reading = scene('subgraphs_reading', () => ({
  state: { log: Log, verdict, draft: z.string().default('') },
  nodes: { inside: subgraph(echo.graph(), { reads: ['draft'] }) },
}));
const echo = inner('subgraphs_inner_echo', () => ({
  state: { log: Log, verdict, draft: z.string().default('none') },
  nodes: { tell: inWorkflow(({ draft, verdict }: any) => ({ log: `${draft} ${verdict}` })) },
}));
const values = [
  ...cases('subgraphs', cleared, {
    'a value that is replaced inside is replaced outside': async (stage) => {
      expect((await stage.invoke({ log: ['old', 'older'] })).log).toEqual(['fresh', 'more', 'end']);
    },
  }),
  ...cases('L28', talking, {
    'messages have the same ids outside as inside, and none comes twice': async (stage) => {
      const { messages, seen } = await stage.invoke({ messages: [{ id: 'h', role: 'human', content: 'hello' }] });
      expect(messages.map(({ id }: Message) => id)).toEqual(seen);
      expect(messages).toHaveLength(2);
    },
  }),
  ...cases('hidden values', hidden, {
    'what a subgraph keeps private its nodes see, and nobody outside': async (stage) => {
      expect(await stage.invoke()).toEqual({ log: ['read a note'] });
    },
  }),
  ...cases('subgraphs', reading, {
    'a subgraph that reads some keys begins without the others': async (stage) => {
      expect((await stage.invoke({ draft: 'd', verdict: 'v' })).log).toEqual(['d undefined']);
    },
  }),
];

const leaving = inner(
  'subgraphs_inner_leaving',
  () => ({
    state: { log: Log, how: z.string().optional(), secret: z.string().default('') },
    nodes: { leave: undefined, beside: undefined, never: inWorkflow(() => ({ log: 'never' })) },
    edges: [
      [START, 'leave'],
      [START, 'beside'],
      ['leave', 'never'],
    ],
  }),
  {
    leave: async ({ how }) => {
      const to = (goto: any, update?: any): any => new Command({ graph: Command.PARENT, goto, update });
      switch (how) {
        case 'nowhere':
          return to('nowhere');
        case 'secret':
          return to(END, { secret: 'x' });
        case 'send':
          return to([new Send('each', { log: 'a' }), new Send('each', { log: 'b' })]);
        case 'asked':
          return to('elsewhere', { log: `was told ${interrupt('leave?')}` });
        case 'own too':
          return [{ log: 'own' }, to('elsewhere', { log: 'for the parent' })];
        default:
          return to('elsewhere');
      }
    },
    beside: async ({ how }) => (how === 'wait' ? { log: `beside ${interrupt('beside?')}` } : {}),
  },
);
const around = scene(
  'subgraphs_leaving',
  () => ({
    state: { log: Log, how: z.string().optional() },
    nodes: {
      inside: subgraph(leaving.graph(), { ends: ['elsewhere', 'each'] }),
      elsewhere: inWorkflow(() => ({ log: 'elsewhere' })),
      each: inWorkflow(({ log }: any) => ({ log: `each ${log}` })),
    },
    edges: [[START, 'inside']],
  }),
  { subgraphs: [leaving] },
);
const alone = scene('subgraphs_alone', () => ({
  nodes: { leave: inWorkflow(() => new Command({ graph: Command.PARENT, goto: 'elsewhere' })) },
}));
const toParent = [
  ...cases('commands', around, {
    'a command to the parent ends the subgraph and goes where it says': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['elsewhere']);
    },
    'what was written inside beside it is kept, and comes first': async (stage) => {
      expect((await stage.invoke({ how: 'own too' })).log).toEqual(['own', 'for the parent', 'elsewhere']);
    },
    'it may send': async (stage) => {
      expect((await stage.invoke({ how: 'send' })).log).toEqual(['each a', 'each b']);
    },
    'it may come after an answer': async (stage) => {
      await stage.invoke({ how: 'asked' });
      expect((await stage.resume('go')).log).toEqual(['was told go', 'elsewhere']);
    },
    'a sibling that waits is waited for, and keeps what it writes': async (stage) => {
      const { __interrupt__ } = await stage.invoke({ how: 'wait' });
      expect(__interrupt__).toMatchObject([{ id: '1.inside/1.beside:0' }]);
      expect((await stage.resume('done')).log).toEqual(['beside done', 'elsewhere']);
    },
  }),
  ...casesOf(
    'commands',
    around,
    [
      ['to a node the parent does not have', 'nowhere', 'UNKNOWN_GOTO'],
      ['with a key the parent does not have', 'secret', 'STATE_UNKNOWN_KEY'],
    ].map(([what, ...rest]) => [`a command to the parent ${what} fails the run, naming the subgraph`, ...rest] as any),
    async (stage, how, code) => {
      expect(await refusal(() => stage.invoke({ how }))).toMatchObject({ code, node: 'inside' });
    },
  ),
  ...cases('commands', alone, {
    'a command to the parent where there is none fails the run': async (stage) => {
      expect(await refusal(() => stage.invoke())).toMatchObject({ code: 'NO_PARENT_GRAPH', node: 'leave' });
    },
  }),
];

const again = inner(
  'subgraphs_inner_again',
  () => ({
    state: { log: Log, mode: z.string().default('') },
    nodes: ['act'],
    recursionLimit: 3,
    routers: [['act', ({ mode }) => (mode === 'loop' ? 'act' : END), ['act', END]]],
    edges: [[START, 'act']],
  }),
  {
    act: async ({ mode }) => {
      note('act');
      const { threadId, graph, node, task, step, visit, attempt, idempotencyKey } = nodeContext();
      switch (mode) {
        case 'retry':
          if (timesNoted('act') < 3) throw new Error('not yet');
          return { log: `attempt ${attempt}` };
        case 'fail':
          throw new Error('for good');
        case 'schema':
          return { log: `fits ${interrupt('how many?', { schema: z.int() })}` };
        case 'reject': {
          const answer: number = interrupt('how many?');
          return answer > 3 ? rejectAnswer('only 3 left') : { log: `took ${answer}` };
        }
        case 'once': {
          const ticket: number = await once('ticket', () => (note('ticket'), 7));
          return { log: `${ticket} ${interrupt('go?')}` };
        }
        case 'where':
          return {
            log: JSON.stringify([
              graph,
              node,
              task,
              step,
              visit,
              idempotencyKey.startsWith(threadId),
              idempotencyKey.endsWith(`/${task}`),
            ]),
          };
        case 'bad':
          return { nope: 1 };
        default:
          return { log: 'acted' };
      }
    },
  },
);
const within = scene(
  'subgraphs_within',
  () => ({
    state: { log: Log, mode: z.string().default('') },
    nodes: { inside: again.graph(), twice: inWorkflow(({ log }: any) => ({ log: `saw ${log.length}` })) },
  }),
  { subgraphs: [again] },
);
const insideRules = [
  ...cases('subgraphs', within, {
    'a node inside is retried as its graph says': async (stage) => {
      expect((await stage.invoke({ mode: 'retry' })).log[0]).toBe('attempt 3');
    },
    'a node inside that fails for good fails the run, and is named': async (stage) => {
      const error = await refusal(() => stage.invoke({ mode: 'fail' }));
      expect(error).toMatchObject({ code: 'NODE_FAILED', node: 'act', message: expect.stringContaining('for good') });
      const { status, next, tasks } = await stage.state();
      expect([status, next, tasks.map(({ name }) => name)]).toEqual(['failed', ['inside'], ['inside', 'inside/act']]);
    },
    'a node inside that writes what its state does not have fails the run': async (stage) => {
      expect(await refusal(() => stage.invoke({ mode: 'bad' }))).toMatchObject({
        code: 'STATE_UNKNOWN_KEY',
        node: 'act',
      });
    },
    'a subgraph has its own recursion limit': async (stage) => {
      const error = await refusal(() => stage.invoke({ mode: 'loop' }));
      expect(error).toMatchObject({ code: 'GRAPH_RECURSION_LIMIT', message: expect.stringContaining('inner_again') });
      expect(stage.notes()).toHaveLength(3);
    },
    'a node inside knows where it runs, and has a key of its own': async (stage) => {
      const { log } = await stage.invoke({ mode: 'where' });
      expect(JSON.parse(log[0])).toEqual(['subgraphs_inner_again', 'act', '1.inside/1.act', 1, 1, true, true]);
    },
    'what comes after it sees what it wrote': async (stage) => {
      expect((await stage.invoke({ log: 'in' })).log).toEqual(['in', 'acted', 'saw 2']);
    },
  }),
  ...cases('law 7', within, {
    'an answer that does not fit is refused inside a subgraph': async (stage) => {
      await stage.invoke({ mode: 'schema' });
      expect(await refusal(() => stage.thread().resume('many'))).toMatchObject({
        code: 'ANSWER_INVALID',
        open: [{ id: '1.inside/1.act:0' }],
      });
      expect((await stage.resume(4)).log[0]).toBe('fits 4');
    },
    'rejectAnswer asks again inside a subgraph, and the record says so': async (stage) => {
      await stage.invoke({ mode: 'reject' });
      expect((await stage.resume(9)).__interrupt__).toMatchObject([{ rejected: 'only 3 left' }]);
      expect((await stage.resume(2)).log[0]).toBe('took 2');
      expect((await stage.thread().decisions())[0]).toMatchObject({
        sentBack: { question: '1.inside/1.act:0', reason: 'only 3 left' },
      });
    },
  }),
  ...cases('law 2', within, {
    'what is in once() inside a subgraph does not run again': async (stage) => {
      await stage.invoke({ mode: 'once' });
      expect((await stage.resume('yes')).log[0]).toBe('7 yes');
      expect(stage.notes()).toEqual(['act', 'ticket', 'act']);
    },
  }),
];

const rounds = scene(
  'subgraphs_rounds',
  () => ({
    state: { log: Log, verdict },
    nodes: { review: review.graph() },
    edges: [[START, 'review']],
    routers: [['review', ({ verdict }) => (verdict === 'again' ? 'review' : END), ['review', END]]],
  }),
  { subgraphs: [review] },
);
const nothing = inner('subgraphs_inner_nothing', () => ({
  nodes: { never: inWorkflow(() => ({ log: 'never' })) },
  routers: [[START, () => END, ['never', END]]],
}));
const empty = scene('subgraphs_empty', () => ({
  nodes: { inside: nothing.graph(), after: inWorkflow(() => ({ log: 'after' })) },
}));
const setter = inner('subgraphs_inner_setter', () => ({
  state: { chosen: z.string().optional() },
  nodes: { set: inWorkflow(() => ({ chosen: 'x' })) },
}));
const clash = scene('subgraphs_clash', () => ({
  state: { chosen: z.string().optional() },
  nodes: { one: setter.graph(), two: setter.graph() },
  edges: [
    [START, 'one'],
    [START, 'two'],
  ],
}));
const shapes = [
  ...cases('subgraphs', rounds, {
    'in a loop a subgraph begins anew each time, and no question id comes twice': async (stage) => {
      await stage.invoke();
      expect((await stage.resume('again')).__interrupt__).toMatchObject([{ id: '2.review/2.ask:0' }]);
      const { log } = await stage.resume('done');
      expect(log).toEqual(['step', 'ask inside', 'step', 'ask inside']);
    },
    'an edge behind a subgraph sees what it wrote': async (stage) => {
      await stage.invoke();
      expect((await stage.resume('done')).verdict).toBe('done');
      expect((await stage.state()).status).toBe('done');
    },
  }),
  ...cases('subgraphs', empty, {
    'a subgraph with nothing to run ends at once': async (stage) => {
      expect((await stage.invoke()).log).toEqual(['after']);
    },
  }),
  ...cases('law 1', clash, {
    'two subgraphs that set one value in a superstep are a conflict': async (stage) => {
      expect(await refusal(() => stage.invoke())).toMatchObject({ code: 'STATE_CONCURRENT_UPDATE' });
    },
  }),
];

const samePlan = () => ({ nodes: ['ask'] });
const same = async (): Promise<object> => ({ log: `told ${interrupt('same?')}` });
const sameInner = inner('subgraphs_inner_same', samePlan, { ask: same });
const next = scene(
  'subgraphs_next',
  () => ({ nodes: { first: sameInner.graph(), second: undefined, third: sameInner.graph() } }),
  { bodies: { second: same }, subgraphs: [sameInner] },
);
const gates = cases('L13', next, {
  'an answer for a subgraph’s question does not pass the next one, though it asks the same': async (stage) => {
    await stage.invoke();
    expect(await stage.open()).toEqual(['1.first/1.ask:0']);
    await stage.command('one');
    expect(await stage.open()).toEqual(['2.second:0']);
    await stage.command('two');
    expect(await stage.open()).toEqual(['3.third/1.ask:0']);
    expect((await stage.command('three')).log).toEqual(['told one', 'told two', 'told three']);
  },
  'two answers for the first question answer it once, and no other': async (stage) => {
    await stage.invoke();
    const answers = [1, 2].map((n) => stage.thread().resume(n, { question: '1.first/1.ask:0' }));
    const settled = await Promise.allSettled(answers);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await stage.stop();
    expect(await stage.open()).toEqual(['2.second:0']);
  },
});

const Order = z.object({ item: z.string(), count: z.int() });
const order = tool({ name: 'subgraph_order', description: 'Orders.', schema: Order });
const ask = tool({ name: 'subgraph_ask', description: 'Asks.', schema: z.object({}) });
const tools: ToolImplementation[] = [
  {
    tool: order,
    body: ({ item, count }: z.output<typeof Order>) => {
      note(`ordered ${count} ${item}`);
      return `ordered ${count} ${item}`;
    },
  },
  { tool: ask, body: () => `was told ${interrupt('which?')}` },
];
const clerk = inner('subgraphs_inner_clerk', () => ({
  state: { messages: MessagesValue },
  nodes: {
    model: modelNode({ model: 'subgraphs_agency', tools: [order, ask] }),
    gate: approvalGate({
      approved: 'tools',
      denied: 'model',
      policy: { subgraph_order: { allow: ['approve', 'deny', 'edit', 'respond'] }, subgraph_ask: false },
    }),
    tools: toolNode({ tools: [order, ask] }),
  },
  edges: [
    [START, 'model'],
    ['tools', 'model'],
  ],
  routers: [['model', ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? 'gate' : END), ['gate', END]]],
}));
const agency = scene(
  'subgraphs_agency',
  () => ({ state: { messages: MessagesValue }, nodes: { clerk: clerk.graph() } }),
  {
    tools,
    subgraphs: [clerk],
    model: [
      {
        toolCalls: [
          { name: 'subgraph_order', args: { item: 'pens', count: 500 } },
          { name: 'subgraph_ask', args: {} },
        ],
      },
      ({ messages }) => ({
        content: messages
          .slice(-2)
          .map(({ content }) => content)
          .join(' | '),
      }),
    ],
  },
);
const CALL = '1.clerk/2.gate:call:call_1_0';
const WHICH = '1.clerk/3.tools.0.c1:0';
const asked = (stage: Stage) => stage.invoke({ messages: ['Order pens.'] });
const agents = [
  ...cases('agents', agency, {
    'a model, a gate and tools work inside a subgraph': async (stage) => {
      expect((await asked(stage)).__interrupt__).toMatchObject([
        { id: CALL, value: { tool: 'subgraph_order', args: { item: 'pens', count: 500 } } },
      ]);
      await stage.approve({ by: 'ana' });
      const [question] = await stage.open();
      expect(question).toBe(WHICH);
      expect((await stage.resume('blue')).messages.at(-1).content).toBe('ordered 500 pens | was told blue');
      expect(stage.notes()).toEqual(['ordered 500 pens']);
    },
    'a tool inside a subgraph asks by path, and its sibling does not run again': async (stage) => {
      await asked(stage);
      await stage.approve();
      expect((await stage.state()).interrupts).toMatchObject([{ node: 'clerk/tools' }]);
      await stage.resume('blue', { node: 'clerk/tools' });
      expect(stage.notes()).toEqual(['ordered 500 pens']);
    },
    'a call is edited inside a subgraph, and its new arguments are checked': async (stage) => {
      await asked(stage);
      const error = await refusal(() => stage.thread().edit({ item: 'pens', count: 'few' }));
      expect(error).toMatchObject({ code: 'ANSWER_INVALID', message: expect.stringContaining('count') });
      await stage.edit({ item: 'pens', count: 5 }, { node: 'clerk/gate' });
      await stage.resume('blue');
      expect(stage.notes()).toEqual(['ordered 5 pens']);
    },
    'a call is denied inside a subgraph, and the model there is told': async (stage) => {
      await asked(stage);
      await stage.deny({ note: 'too many' });
      const { messages } = await stage.resume('blue');
      expect(messages.at(-1).content).toContain('denied by approver: too many');
      expect(stage.notes()).toEqual([]);
    },
    'a call is responded to inside a subgraph': async (stage) => {
      await asked(stage);
      await stage.respond('we have some');
      expect((await stage.resume('blue')).messages.at(-1).content).toBe('we have some | was told blue');
      expect(stage.notes()).toEqual([]);
    },
  }),
];

export const subgraphs = [
  ...asNode,
  ...three,
  ...parallel,
  ...sends,
  ...mapping,
  ...values,
  ...toParent,
  ...insideRules,
  ...shapes,
  ...gates,
  ...agents,
];
