import { z } from 'zod';
import {
  approvalGate,
  createAgent,
  interrupt,
  MessagesValue,
  rejectAnswer,
  START,
  StateSchema,
  tool,
  toolNode,
  type ApprovalGateOptions,
  type Message,
  type ToolCall,
} from 'abeyance';
import type { ToolImplementation } from 'abeyance/activity';
import type { ScriptedTurn } from 'abeyance/testing';
import { Log } from '../../graph/support/build-graph';
import { eventually } from '../../support/eventually';
import { latch, note } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene, sceneOf, type Scene } from '../scene';
import { refusal, type Stage, type Values } from '../stage';

const mail = tool({ name: 'send_mail', description: 'Sends a mail.', schema: z.object({ to: z.string() }) });
const read = tool({ name: 'read_file', description: 'Reads.', schema: z.object({ path: z.string() }) });
const remove = tool({ name: 'delete_file', description: 'Deletes.', schema: z.object({ path: z.string() }) });
const did = (what: string): string => {
  note(what);
  return what;
};
const tools: ToolImplementation[] = [
  { tool: mail, body: ({ to }: any) => did(`mailed ${to}`) },
  { tool: read, body: ({ path }: any) => did(`read ${path}`) },
  { tool: remove, body: ({ path }: any) => did(`deleted ${path}`) },
];
const send = (id: string, to = 'ana'): ToolCall => ({ id, name: 'send_mail', args: { to } });
const look = (id: string): ToolCall => ({ id, name: 'read_file', args: { path: '/etc' } });
const del = (id: string): ToolCall => ({ id, name: 'delete_file', args: { path: '/tmp' } });

const desk = (name: string, options: Partial<ApprovalGateOptions>): Scene =>
  scene(
    `rulings_${name}`,
    () => ({
      state: { messages: MessagesValue, trusted: z.array(z.string()).default([]) },
      nodes: {
        gate: approvalGate({ approved: 'tools', ...options }),
        tools: toolNode({ tools: [mail, read, remove] }),
      },
      edges: [[START, 'gate']],
    }),
    { tools },
  );
const ask = (stage: Stage, ...calls: readonly ToolCall[]): Promise<Values> =>
  stage.invoke({ messages: [{ id: 'm', role: 'ai', content: '', tool_calls: calls }] });
const told = ({ messages }: Values): unknown[] =>
  messages
    .filter(({ role }: Message) => role === 'tool')
    .map(({ tool_call_id, content, status }: Message) => [tool_call_id, content, status]);
const at = (id: string): string => `1.gate:call:${id}`;

const ALL = ['approve', 'deny', 'edit', 'respond'] as const;
const NOT_RUN = 'A human rejected this call; it was not run.';
const open = desk('open', { policy: { send_mail: { allow: ALL }, read_file: false } });
const edits = [
  ...cases('L23', open, {
    'an edited call runs with its new arguments, and the model is told who changed what, and what ran': async (
      stage,
    ) => {
      await ask(stage, send('c1', 'everybody'));
      const ended = await stage.edit({ to: 'bo' }, { by: 'ana', note: 'not to all' });
      expect(told(ended)).toEqual([
        [
          'c1',
          'A human changed the arguments of this call before it ran. Their reason: not to all\nWhat ran: send_mail({"to":"bo"})\nmailed bo',
          'success',
        ],
      ]);
      expect(stage.notes()).toEqual(['mailed bo']);
    },
    'the model’s message keeps the call it made': async (stage) => {
      await ask(stage, send('c1', 'everybody'));
      expect((await stage.edit({ to: 'bo' })).messages[0].tool_calls).toEqual([send('c1', 'everybody')]);
    },
    'the edit is on record with its arguments': async (stage) => {
      await ask(stage, send('c1'));
      await stage.edit({ to: 'bo' }, { by: 'ana' });
      expect((await stage.thread().decisions())[0]).toMatchObject({
        decision: { type: 'edit', args: { to: 'bo' }, by: 'ana' },
        verdict: { kind: 'accepted', questions: [at('c1')] },
      });
    },
  }),
  ...casesOf(
    'L39',
    open,
    [
      [
        'a tool beside the arguments',
        (stage: Stage) => stage.thread().resume({ type: 'edit', args: { path: '/' }, tool: 'delete_file' }),
        'ANSWER_INVALID',
      ],
      [
        'a name beside the arguments',
        (stage: Stage) => stage.thread().resume({ type: 'edit', args: { path: '/' }, name: 'delete_file' }),
        'ANSWER_INVALID',
      ],
      [
        'a name in the options',
        (stage: Stage) => stage.thread().edit({ to: 'bo' }, { name: 'delete_file' } as object),
        'DECISION_MALFORMED',
      ],
      ['the other tool’s arguments', (stage: Stage) => stage.thread().edit({ path: '/' }), 'ANSWER_INVALID'],
    ].map(([what, ...rest]) => [`an edit cannot make a call one of another tool: ${what as string}`, ...rest]) as any,
    async (stage, decide, code) => {
      await ask(stage, send('c1'));
      expect((await refusal(() => decide(stage))).code).toBe(code);
      expect([await stage.open(), stage.notes()]).toEqual([[at('c1')], []]);
    },
  ),
  ...casesOf(
    'approvals',
    open,
    [
      ['do not fit the tool', { to: 7 }],
      ['are none', 'bo'],
      ['are missing', {}],
    ].map(([what, args]) => [
      `an edit whose arguments ${what as string} is refused, and the question stays open`,
      args,
    ]),
    async (stage, args) => {
      await ask(stage, send('c1'));
      expect(await refusal(() => stage.thread().edit(args))).toMatchObject({
        code: 'ANSWER_INVALID',
        message: expect.stringContaining('do not fit the tool'),
        open: [{ id: at('c1') }],
      });
      await stage.edit({ to: 'bo' });
      expect(stage.notes()).toEqual(['mailed bo']);
    },
  ),
  ...cases('approvals', open, {
    'an edit that JSON cannot carry is refused to its sender': async (stage) => {
      await ask(stage, send('c1'));
      expect((await refusal(() => stage.thread().edit({ to: new Map() }))).code).toBe('STATE_NOT_JSON');
      expect(await stage.open()).toEqual([at('c1')]);
    },
    'an edit sent twice under one id counts once, and with other arguments is refused': async (stage) => {
      await ask(stage, send('c1'), del('c2'));
      const options = { question: at('c1'), decisionId: 'e' };
      await stage.thread().edit({ to: 'bo' }, options);
      expect((await stage.thread().edit({ to: 'bo' }, options)).kind).toBe('accepted');
      expect((await refusal(() => stage.thread().edit({ to: 'cy' }, options))).code).toBe('DECISION_ID_REUSED');
      await stage.deny({ question: at('c2') });
      expect(stage.notes()).toEqual(['mailed bo']);
    },
  }),
  ...casesOf(
    'approvals',
    open,
    [
      ['a text', 'it is in the post', 'it is in the post'],
      ['an object', { sent: true }, '{"sent":true}'],
      ['false', false, 'false'],
      ['an empty text', '', ''],
    ].map(([what, ...rest]) => [
      `a response that is ${what as string} is the call’s result, and it is not run`,
      ...rest,
    ]) as any,
    async (stage, response, content) => {
      await ask(stage, send('c1'));
      expect(told(await stage.respond(response, { by: 'ana' }))).toEqual([['c1', content, 'success']]);
      expect(stage.notes()).toEqual([]);
    },
  ),
  ...cases('L20', open, {
    'of five calls each has its own outcome, in the order the model asked': async (stage) => {
      await ask(stage, del('c1'), send('c2', 'a'), look('c3'), send('c4', 'b'), send('c5', 'c'));
      const ended = await stage.resume({
        [at('c5')]: { type: 'respond', response: 'by hand' },
        [at('c1')]: { type: 'deny', note: 'no' },
        [at('c4')]: { type: 'edit', args: { to: 'z' } },
        [at('c2')]: true,
      });
      expect([...stage.notes()].sort()).toEqual(['mailed a', 'mailed z', 'read /etc']);
      expect(told(ended)).toEqual([
        ['c1', `denied by approver: no\n${NOT_RUN}`, 'error'],
        ['c2', 'mailed a', 'success'],
        ['c3', 'read /etc', 'success'],
        [
          'c4',
          expect.stringMatching(/^A human changed .*\nWhat ran: send_mail\(\{"to":"z"\}\)\nmailed z$/s),
          'success',
        ],
        ['c5', 'by hand', 'success'],
      ]);
    },
  }),
  ...cases('L24', open, {
    'three answers for two questions are refused, the gate stays open, and the right two are taken': async (stage) => {
      await ask(stage, send('c1'), look('c2'), del('c3'));
      const three = { [at('c1')]: true, [at('c2')]: true, [at('c3')]: true };
      expect(await refusal(() => stage.thread().resume(three))).toMatchObject({
        code: 'QUESTION_UNKNOWN',
        message: expect.stringContaining(at('c2')),
        open: [{ id: at('c1') }, { id: at('c3') }],
      });
      expect((await refusal(() => stage.thread().resume([true, true]))).code).toBe('ANSWER_AMBIGUOUS');
      expect(stage.notes()).toEqual([]);
      await stage.resume({ [at('c3')]: false, [at('c1')]: true });
      expect([...stage.notes()].sort()).toEqual(['mailed ana', 'read /etc']);
    },
    'one answer for two questions leaves the other open': async (stage) => {
      await ask(stage, send('c1'), del('c2'));
      await stage.resume({ [at('c2')]: false });
      expect([await stage.open(), stage.notes()]).toEqual([[at('c1')], []]);
    },
  }),
  ...cases('law 9', open, {
    'of two people who rule on one call the first wins, and the second is told': async (stage) => {
      await ask(stage, send('c1', 'a'), del('c2'));
      const question = at('c1');
      await stage.thread().edit({ to: 'z' }, { question, by: 'ana' });
      expect(await refusal(() => stage.thread().deny({ question, by: 'bo' }))).toMatchObject({
        code: 'QUESTION_SETTLED',
        message: expect.stringContaining('edited by ana'),
      });
      await stage.deny({ question: at('c2') });
      expect(stage.notes()).toEqual(['mailed z']);
    },
    'of two at the same time one wins, and what it said is what runs': async (stage) => {
      await ask(stage, send('c1', 'a'));
      const question = at('c1');
      const both = [stage.thread().edit({ to: 'z' }, { question }), stage.thread().deny({ question })];
      const [edited] = await Promise.allSettled(both);
      await stage.stop();
      expect(stage.notes()).toEqual(edited?.status === 'fulfilled' ? ['mailed z'] : []);
      expect((await stage.verdicts()).filter((one) => one.endsWith('accepted'))).toHaveLength(1);
    },
  }),
];

const plain = scene('rulings_plain', () => ({ state: { told: z.any() }, nodes: ['ask'] }), {
  bodies: { ask: async () => ({ told: interrupt('what now?') }) },
});
const narrow = desk('narrow', {
  policy: { send_mail: { allow: ['respond'] }, delete_file: { allow: ['approve', 'edit'] } },
});
const usual = desk('usual', {});
const NOT_ALLOWED: readonly (readonly [string, Scene, ToolCall, (stage: Stage) => unknown, string])[] = [
  ['an edit where nothing is said', usual, send('c1'), (stage) => stage.thread().edit({ to: 'bo' }), 'approve, deny'],
  ['a response where nothing is said', usual, send('c1'), (stage) => stage.thread().respond('x'), 'approve, deny'],
  ['an approval where only a response is taken', narrow, send('c1'), (stage) => stage.thread().approve(), 'respond'],
  ['"true" where only a response is taken', narrow, send('c1'), (stage) => stage.thread().resume(true), 'respond'],
  ['a denial where none is taken', narrow, del('c1'), (stage) => stage.thread().deny(), 'approve, edit'],
];
const allowed = [
  ...NOT_ALLOWED.flatMap(([what, on, call, decide, allows]) =>
    cases('approvals', on, {
      [`${what} is refused, naming what is allowed`]: async (stage) => {
        await ask(stage, call);
        expect(await refusal(() => decide(stage))).toMatchObject({
          code: 'ANSWER_INVALID',
          message: expect.stringContaining(`It allows: ${allows}.`),
        });
        expect(await stage.open()).toEqual([at('c1')]);
      },
    }),
  ),
  ...cases('approvals', narrow, {
    'what a question allows is shown with it': async (stage) => {
      const { __interrupt__ } = await ask(stage, send('c1'), del('c2'));
      expect(__interrupt__.map(({ allow }: any) => allow)).toEqual([['respond'], ['approve', 'edit']]);
    },
  }),
  ...casesOf(
    'approvals',
    plain,
    [
      ['an edit', (stage: Stage) => stage.thread().edit('x')],
      ['a response', (stage: Stage) => stage.thread().respond('x')],
    ].map(([what, decide]) => [`${what as string} of a plain question is refused`, decide]) as any,
    async (stage, decide) => {
      await stage.invoke();
      expect((await refusal(() => decide(stage))).code).toBe('ANSWER_INVALID');
      expect(await stage.open()).toEqual(['1.ask:0']);
    },
  ),
];

const choosy = desk('choosy', {
  policy: {
    send_mail: {
      when: ({ args }, { trusted }) => !trusted.includes((args as any).to),
      describe: ({ name }) => `may I ${name}?`,
      allow: ALL,
    },
    read_file: false,
    delete_file: true,
  },
});
const named = desk('named', { tools: [], policy: { delete_file: true } });
const throwing = desk('throwing', {
  policy: {
    send_mail: {
      when: () => {
        throw new TypeError('no such list');
      },
    },
  },
});
const own = scene('rulings_own', () => ({ state: { told: z.any() }, nodes: ['ask'] }), {
  bodies: { ask: async () => ({ told: interrupt('pay?', { approval: true, allow: ALL }) }) },
});
const policies = [
  ...cases('approvals', choosy, {
    'a policy says which calls are asked about, by what they say and by the state': async (stage) => {
      const calls = [send('c1', 'ana'), send('c2', 'bo'), look('c3'), del('c4')];
      await stage.invoke({ trusted: ['ana'], messages: [{ id: 'm', role: 'ai', content: '', tool_calls: calls }] });
      expect(await stage.open()).toEqual([at('c2'), at('c4')]);
    },
    'what is shown instead of the call is bound to the call': async (stage) => {
      await ask(stage, send('c1', 'bo'));
      expect((await stage.state()).interrupts).toMatchObject([
        { value: 'may I send_mail?', call: { tool: 'send_mail', args: { to: 'bo' } } },
      ]);
      expect((await refusal(() => stage.thread().edit({ too: 'x' }))).code).toBe('ANSWER_INVALID');
      await stage.edit({ to: 'cy' });
      expect(stage.notes()).toEqual(['mailed cy']);
    },
    'a call that was asked about stays decided, though by then nobody would ask': async (stage) => {
      await ask(stage, send('c1', 'bo'));
      await stage.thread().deny({ update: { trusted: ['bo'] } });
      expect(told(await stage.stop())).toMatchObject([['c1', expect.stringContaining('denied by approver'), 'error']]);
      expect(stage.notes()).toEqual([]);
    },
  }),
  ...cases('approvals', named, {
    'a policy goes before the list of tools': async (stage) => {
      await ask(stage, send('c1'), del('c2'));
      expect(await stage.open()).toEqual([at('c2')]);
    },
  }),
  ...cases('law 13', throwing, {
    'a "when" that throws fails the run, and lets nothing pass': async (stage) => {
      expect(await refusal(() => ask(stage, send('c1')))).toMatchObject({ code: 'NODE_FAILED', node: 'gate' });
      expect(stage.notes()).toEqual([]);
    },
  }),
  ...casesOf(
    'approvals',
    own,
    [
      [
        'an edit',
        (stage: Stage) => stage.edit({ total: 5 }, { by: 'ana', note: 'less' }),
        { type: 'edit', args: { total: 5 }, by: 'ana', note: 'less' },
      ],
      ['a response', (stage: Stage) => stage.respond(false), { type: 'respond', response: false }],
      ['an edit in a resume', (stage: Stage) => stage.resume({ type: 'edit', args: 0 }), { type: 'edit', args: 0 }],
    ].map(([what, ...rest]) => [`a node that asks for an approval is handed ${what as string} whole`, ...rest]) as any,
    async (stage, decide, expected) => {
      await stage.invoke();
      expect((await decide(stage)).told).toEqual(expected);
    },
  ),
];

/** Waits until nobody is waited for any more. */
const over = async (stage: Stage): Promise<Values> => {
  await eventually(async () => expect((await stage.state()).interrupts).toEqual([]));
  return stage.stop();
};
const hasty = desk('hasty', { policy: { send_mail: { deadline: 300, allow: ALL }, delete_file: true } });
const patient = desk('patient', { policy: { send_mail: { deadline: '1 hour' } } });
const OTHERWISE = [null, false, 0, '', 'nobody', { none: true }];
const short = scene('rulings_short', () => ({ state: { told: z.any(), how: z.number().optional() }, nodes: ['ask'] }), {
  bodies: {
    ask: async ({ how }) => ({
      told: interrupt('anybody?', { deadline: 200, ...(how !== undefined && { otherwise: OTHERWISE[how] }) }),
    }),
  },
});
const two = scene('rulings_two', () => ({ state: { log: Log }, nodes: ['ask'] }), {
  bodies: {
    ask: async () => {
      const first: unknown = interrupt('first?', { deadline: 200, otherwise: 'nobody' });
      note(`first ${JSON.stringify(first)}`);
      return { log: `${JSON.stringify(first)} ${JSON.stringify(interrupt('second?'))}` };
    },
  },
});
const picky = scene('rulings_picky', () => ({ state: { told: z.any() }, nodes: ['ask'] }), {
  bodies: {
    ask: async () => {
      const answer: unknown = interrupt('how?', { deadline: 1_500, otherwise: 'nobody' });
      return answer === 'hm' ? rejectAnswer('say yes or no') : { told: answer };
    },
  },
});
const busy = scene(
  'rulings_busy',
  () => ({
    state: { log: Log },
    nodes: { ask: undefined, work: undefined },
    edges: [
      [START, 'ask'],
      [START, 'work'],
    ],
  }),
  {
    bodies: {
      ask: async () => ({ log: `ask ${interrupt('anybody?', { deadline: 100, otherwise: 'nobody' })}` }),
      work: async () => {
        await latch('work');
        return { log: 'work' };
      },
    },
  },
);
const deadlines = [
  ...cases('L38', hasty, {
    'a call that nobody decides in time is not run, and is told so, not that a person denied it': async (stage) => {
      await ask(stage, send('c1'));
      const ended = await over(stage);
      expect(told(ended)).toEqual([['c1', 'not run: nobody decided in time', 'error']]);
      expect(stage.notes()).toEqual([]);
      expect(await stage.thread().decisions()).toMatchObject([
        { decision: { type: 'expire', question: at('c1'), via: 'deadline' }, verdict: { kind: 'accepted' } },
      ]);
    },
    'beside one that expires another is still waited for': async (stage) => {
      await ask(stage, send('c1'), del('c2'));
      await eventually(async () => expect(await stage.open()).toEqual([at('c2')]));
      expect(await refusal(() => stage.thread().approve({ question: at('c1') }))).toMatchObject({
        code: 'QUESTION_SETTLED',
        message: expect.stringMatching(/expired at \d{4}-/),
      });
      expect(told(await stage.approve({ question: at('c2') }))).toEqual([
        ['c1', 'not run: nobody decided in time', 'error'],
        ['c2', 'deleted /tmp', 'success'],
      ]);
    },
  }),
  ...cases('deadlines', patient, {
    'a question shows when it expires': async (stage) => {
      const { __interrupt__ } = await ask(stage, send('c1'));
      const [{ askedAt, expiresAt }] = (await stage.state()).interrupts as any;
      expect(__interrupt__[0].expiresAt).toBe(expiresAt);
      expect(Date.parse(expiresAt) - Date.parse(askedAt)).toBe(3_600_000);
    },
    'decided before, it does not expire': async (stage) => {
      await ask(stage, send('c1'));
      expect(told(await stage.approve())).toEqual([['c1', 'mailed ana', 'success']]);
      expect(await stage.verdicts()).toEqual(['approve accepted']);
    },
    'a fork counts its deadlines anew': async (stage) => {
      await ask(stage, send('c1'));
      const [first] = (await stage.state()).interrupts;
      const fork = await stage.fork({ update: { trusted: ['x'] } });
      await fork.stop();
      const [again] = (await fork.state()).interrupts;
      expect(Date.parse(again?.expiresAt ?? '')).toBeGreaterThan(Date.parse(first?.expiresAt ?? ''));
    },
    'whoever withdraws a question with a deadline is not disturbed by it': async (stage) => {
      await ask(stage, send('c1'));
      await stage.update({}, 'gate');
      expect((await stage.stop()).messages).toHaveLength(1);
    },
  }),
  ...casesOf(
    'deadlines',
    short,
    OTHERWISE.map((answer, how) => [
      `a question that expires is answered ${JSON.stringify(answer)} where it says so`,
      how,
      answer,
    ]),
    async (stage, how, answer) => {
      await stage.invoke({ how });
      expect((await over(stage)).told).toEqual(answer);
    },
  ),
  ...cases('deadlines', short, {
    'where it says nothing its node fails, and is not tried again': async (stage) => {
      await stage.start();
      await eventually(async () => expect((await stage.state()).status).toBe('failed'));
      expect(await refusal(() => stage.stop())).toMatchObject({
        code: 'QUESTION_EXPIRED',
        node: 'ask',
        message: expect.stringContaining('1.ask:0 expired at'),
      });
    },
    'a run that failed so asks again when it is retried': async (stage) => {
      await stage.start();
      await eventually(async () => expect((await stage.state()).status).toBe('failed'));
      const retried = stage.carryOn();
      await eventually(async () => expect((await stage.state()).interrupts).toHaveLength(1)).catch(() => undefined);
      const answered = stage.thread().resume('just in time', { question: '1.ask:0' });
      const [, taken] = await Promise.allSettled([retried, answered]);
      if (taken.status === 'fulfilled') expect((await stage.stop()).told).toBe('just in time');
      else expect(['QUESTION_SETTLED', 'THREAD_FINISHED']).toContain(taken.reason.code);
    },
  }),
  ...cases('deadlines', two, {
    'the next question of the node is open then, and a late answer is not taken for it': async (stage) => {
      await stage.invoke();
      await eventually(async () => expect(await stage.open()).toEqual(['1.ask:1']));
      const error = await refusal(() => stage.thread().resume('late', { question: '1.ask:0' }));
      expect(error).toMatchObject({ code: 'QUESTION_SETTLED', message: expect.stringContaining('expired at') });
      expect((await stage.resume('x')).log).toEqual(['"nobody" "x"']);
    },
    'an answer in time is what the node is handed': async (stage) => {
      const paused = await stage.invoke();
      const [{ id }] = paused.__interrupt__;
      const taken = await stage
        .thread()
        .resume('in time', { question: id })
        .catch((error) => error.code);
      await stage.stop();
      await eventually(async () => expect(await stage.open()).toEqual(['1.ask:1']));
      expect((await stage.resume('x')).log).toEqual([taken === 'QUESTION_SETTLED' ? '"nobody" "x"' : '"in time" "x"']);
    },
  }),
  ...cases('deadlines', picky, {
    'an answer that is sent back does not give it more time': async (stage) => {
      await stage.invoke();
      const [first] = (await stage.state()).interrupts;
      const { __interrupt__ } = await stage.resume('hm');
      expect(__interrupt__).toMatchObject([{ rejected: 'say yes or no', expiresAt: first?.expiresAt }]);
      expect((await over(stage)).told).toBe('nobody');
      expect(await stage.verdicts()).toEqual(['resume accepted', 'expire accepted']);
    },
  }),
  ...cases('deadlines', busy, {
    'it passes while a node beside it still works': async (stage) => {
      stage.latches.close('work');
      await stage.start();
      await eventually(async () => expect(await stage.verdicts()).toEqual(['expire accepted']));
      stage.latches.open('work');
      expect((await stage.stop()).log).toEqual(['ask nobody', 'work']);
    },
  }),
];

const CALLS: ScriptedTurn = {
  toolCalls: [
    { id: 'c1', name: 'send_mail', args: { to: 'all' } },
    { id: 'c2', name: 'read_file', args: { path: '/etc' } },
  ],
};
const State = new StateSchema({ messages: MessagesValue, desk: z.string().default('front') });
const agent = (name: string, options: object): Scene =>
  sceneOf(
    `rulings_${name}`,
    () =>
      createAgent({ name: `rulings_${name}`, model: `rulings_${name}`, tools: [mail, read], state: State, ...options }),
    { tools, model: [CALLS, ({ messages }) => ({ content: messages.map(({ role }) => role).join(' ') })] },
  );
const free = agent('free', { systemPrompt: 'Be brief.' });
const guarded = agent('guarded', { interruptOn: { send_mail: { allow: ALL }, read_file: true } });
const partly = agent('partly', {
  interruptOn: { send_mail: { when: (_: unknown, { desk }: any) => desk === 'front', allow: ['edit', 'deny'] } },
});
const brief = agent('brief', { recursionLimit: 2 });
const MAIL = '2.approval_gate:call:c1';
const FILE = '2.approval_gate:call:c2';
const go = (stage: Stage, input: object = {}): Promise<Values> => stage.invoke({ messages: 'go', ...input });
const agents = [
  ...cases('agents', free, {
    'an agent calls the tools that its model asks for, until it asks for none': async (stage) => {
      const { messages } = await go(stage);
      expect(messages.map(({ role }: Message) => role)).toEqual(['human', 'ai', 'tool', 'tool', 'ai']);
      expect([...stage.notes()].sort()).toEqual(['mailed all', 'read /etc']);
    },
    'its system prompt goes before the conversation, and is not kept in it': async (stage) => {
      const { messages } = await go(stage);
      expect(messages.map(({ role }: Message) => role)).not.toContain('system');
      expect(messages.at(-1).content).toBe('system human ai tool tool');
    },
    'a conversation goes on in the thread’s next run': async (stage) => {
      await go(stage);
      expect((await refusal(() => go(stage))).code).toBe('SCRIPT_ENDED');
    },
  }),
  ...cases('agents', guarded, {
    'it asks before the tools that need it': async (stage) => {
      const { __interrupt__ } = await go(stage);
      expect(__interrupt__).toMatchObject([
        { id: MAIL, value: { tool: 'send_mail', args: { to: 'all' } }, allow: ALL },
        { id: FILE, value: { tool: 'read_file', args: { path: '/etc' } } },
      ]);
      expect(stage.notes()).toEqual([]);
    },
    'what is denied goes back to the model, and the run goes on': async (stage) => {
      await go(stage);
      const { messages } = await stage.resume({ [MAIL]: { type: 'deny', note: 'no' }, [FILE]: false });
      expect(messages.map(({ content }: Message) => content)).toEqual([
        'go',
        '',
        `denied by approver: no\n${NOT_RUN}`,
        `denied by approver\n${NOT_RUN}`,
        'human ai tool tool',
      ]);
      expect(stage.notes()).toEqual([]);
    },
    'edited, approved and responded to, each call has its own outcome': async (stage) => {
      await go(stage);
      await stage.edit({ to: 'bo' }, { question: MAIL });
      expect(told(await stage.approve({ question: FILE }))).toEqual([
        ['c1', expect.stringContaining('What ran: send_mail({"to":"bo"})'), 'success'],
        ['c2', 'read /etc', 'success'],
      ]);
    },
    'forked before its gate it asks again': async (stage) => {
      await go(stage);
      await stage.resume({ [MAIL]: true, [FILE]: true });
      const before = (await stage.history()).find(({ next }) => next[0] === 'approval_gate');
      const fork = await stage.fork({ checkpoint: before?.metadata.checkpoint as string });
      await fork.stop();
      expect(await fork.open()).toEqual([MAIL, FILE]);
      expect(fork.notes()).toEqual([]);
    },
  }),
  ...cases('agents', partly, {
    'its policy sees its state': async (stage) => {
      await go(stage, { desk: 'back' });
      expect([...stage.notes()].sort()).toEqual(['mailed all', 'read /etc']);
    },
    'its policy says what may be decided': async (stage) => {
      await go(stage);
      expect((await refusal(() => stage.thread().approve())).code).toBe('ANSWER_INVALID');
      await stage.edit({ to: 'bo' });
      expect([...stage.notes()].sort()).toEqual(['mailed bo', 'read /etc']);
    },
  }),
  ...cases('agents', brief, {
    'it stops at its limit': async (stage) => {
      expect((await refusal(() => go(stage))).code).toBe('GRAPH_RECURSION_LIMIT');
    },
  }),
];

export const rulings = [...edits, ...allowed, ...policies, ...deadlines, ...agents];
