import { z } from 'zod';
import { approvalGate, inWorkflow, interrupt, MessagesValue, START, tool, toolNode, type Message } from 'abeyance';
import type { ToolImplementation } from 'abeyance/activity';
import { cases, casesOf } from '../conformance-case';
import { note } from '../backstage';
import { scene } from '../scene';
import { refusal, type Values } from '../stage';

const Mail = z.object({ to: z.string() });
const send = tool({ name: 'send', description: 'Sends.', schema: Mail });
const erase = tool({ name: 'erase', description: 'Deletes.', schema: Mail });
const read = tool({ name: 'read', description: 'Reads.', schema: Mail });
const tools: ToolImplementation[] = [send, erase, read].map((one) => ({
  tool: one as never,
  body: ({ to }: z.output<typeof Mail>) => {
    note(`${one.name} ${to}`);
    return `${one.name} done`;
  },
}));

/** A model's message that asks for these tools. */
function calling(...calls: readonly (readonly [name: string, to: string, id?: string])[]): Message {
  return {
    id: 'ai',
    role: 'ai',
    content: '',
    tool_calls: calls.map(([name, to, id], index) => ({ id: id ?? `c${index}`, name, args: { to } })),
  };
}

/** What the tool messages say, in order: the call, its content and its status. */
function results({ messages }: Values): unknown[] {
  return messages
    .filter(({ role }: Message) => role === 'tool')
    .map(({ tool_call_id, content, status }: Message) => [tool_call_id, content, status]);
}

const all = scene(
  'approvals_all',
  () => ({
    state: { messages: MessagesValue },
    nodes: { gate: approvalGate({ approved: 'tools' }), tools: toolNode({ tools: [send, erase, read] }) },
    edges: [[START, 'gate']],
  }),
  { tools },
);
const some = scene(
  'approvals_some',
  () => ({
    state: { messages: MessagesValue },
    nodes: {
      gate: approvalGate({ approved: 'tools', tools: [send, erase], denied: 'refused' }),
      tools: toolNode({ tools: [send, erase, read] }),
      refused: inWorkflow(() => ({ messages: { id: 'refused', role: 'ai' as const, content: 'nothing was done' } })),
    },
    edges: [[START, 'gate']],
  }),
  { tools },
);

/** What the model is told beside the reason, where it goes on. */
const NOT_RUN = '\nA human rejected this call; it was not run.';

const APPROVED = ['c0', 'send done', 'success'];

const gates = [
  ...cases('law 4', all, {
    'an approval gate asks for each call, showing tool and arguments': async (stage) => {
      const { __interrupt__ } = await stage.invoke({ messages: [calling(['send', 'a'], ['erase', 'b'])] });
      expect(__interrupt__).toEqual([
        { id: '1.gate:call:c0', value: { tool: 'send', args: { to: 'a' } } },
        { id: '1.gate:call:c1', value: { tool: 'erase', args: { to: 'b' } } },
      ]);
      expect((await stage.state()).interrupts.map(({ kind }) => kind)).toEqual(['approval', 'approval']);
    },
    'an approved call runs': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a'])] });
      expect(results(await stage.approve({ by: 'ana' }))).toEqual([APPROVED]);
      expect(stage.notes()).toEqual(['send a']);
    },
    'a denied call does not run, and the conversation says so': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a'])] });
      expect(results(await stage.deny())).toEqual([['c0', 'denied by approver', 'error']]);
      expect(stage.notes()).toEqual([]);
    },
    'no call runs before all are decided': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a'], ['erase', 'b'])] });
      await stage.approve({ question: '1.gate:call:c0' });
      expect(stage.notes()).toEqual([]);
      expect(await stage.open()).toEqual(['1.gate:call:c1']);
    },
    'a map approves and denies at once': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a'], ['erase', 'b'])] });
      const decided = await stage.resume({
        '1.gate:call:c0': true,
        '1.gate:call:c1': { type: 'deny', note: 'keep it' },
      });
      expect(results(decided)).toEqual([APPROVED, ['c1', `denied by approver: keep it${NOT_RUN}`, 'error']]);
    },
    'without a call there is nothing to ask, and the gate’s other way is taken': async (stage) => {
      const { messages } = await stage.invoke({ messages: ['hello'] });
      expect(messages).toHaveLength(1);
      expect((await stage.state()).status).toBe('done');
    },
    'a call that has its answer already is not asked for': async (stage) => {
      const answer = { id: 't', role: 'tool', content: 'done', tool_call_id: 'c0' };
      const { __interrupt__ } = await stage.invoke({ messages: [calling(['send', 'a'], ['erase', 'b']), answer] });
      expect(__interrupt__).toMatchObject([{ id: '1.gate:call:c1' }]);
    },
    'two calls under one id are two questions': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a', 'same'], ['send', 'b', 'same'])] });
      expect(await stage.open()).toEqual(['1.gate:call:same', '1.gate:call:same:1']);
    },
    'a call id that no question id could hold is rewritten': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a', 'a b~c'])] });
      expect(await stage.open()).toEqual(['1.gate:call:a_b_c']);
      expect(results(await stage.approve())).toEqual([['a b~c', 'send done', 'success']]);
    },
    'the gate of a later turn asks anew': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a'])] });
      await stage.approve();
      const again = { ...calling(['send', 'a']), id: 'ai2' };
      expect((await stage.invoke({ messages: [again] })).__interrupt__).toMatchObject([{ id: '4.gate:call:c0' }]);
    },
  }),
  ...cases('L10', all, {
    'one bare approval of two calls is refused': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a'], ['erase', 'b'])] });
      expect((await refusal(() => stage.thread().approve())).code).toBe('ANSWER_AMBIGUOUS');
      expect(stage.notes()).toEqual([]);
    },
  }),
  ...casesOf(
    'law 5',
    all,
    [
      ['a text', 'yes'],
      ['a number', 1],
      ['null', null],
      ['nothing', undefined],
      ['an object without a type', { approve: true }],
      ['an unknown type', { type: 'maybe' }],
      ['a list', [true]],
      ['an edit, which a gate does not take', { type: 'edit', args: { to: 'c' } }],
    ].map(([what, value]) => [
      `an answer to an approval that is ${what as string} is refused, and it stays open`,
      value,
    ]),
    async (stage, value) => {
      await stage.invoke({ messages: [calling(['send', 'a'])] });
      expect(await refusal(() => stage.thread().resume(value))).toMatchObject({ code: 'ANSWER_INVALID' });
      expect(await stage.open()).toEqual(['1.gate:call:c0']);
      expect(results(await stage.approve())).toEqual([APPROVED]);
    },
  ),
  ...casesOf(
    'law 5',
    all,
    [
      ['true approves', true, APPROVED],
      ['false denies', false, ['c0', 'denied by approver', 'error']],
      ['{ type: "approve" } approves', { type: 'approve' }, APPROVED],
      [
        '{ type: "deny", note } denies with the reason',
        { type: 'deny', note: 'no' },
        ['c0', 'denied by approver: no', 'error'],
      ],
    ].map(([what, ...rest]) => [`at a gate ${what as string}`, ...rest] as any),
    async (stage, value, result) => {
      await stage.invoke({ messages: [calling(['send', 'a'])] });
      expect(results(await stage.resume(value))).toEqual([result]);
    },
  ),
  ...cases('L20', some, {
    'of three calls one is approved, one needs no approval and one is denied: two run, all have a result': async (
      stage,
    ) => {
      await stage.invoke({ messages: [calling(['send', 'a'], ['read', 'b'], ['erase', 'c'])] });
      expect(await stage.open()).toEqual(['1.gate:call:c0', '1.gate:call:c2']);
      await stage.approve({ question: '1.gate:call:c0' });
      const ended = await stage.deny({ question: '1.gate:call:c2', note: 'keep it' });
      expect(results(ended)).toEqual([
        ['c0', 'send done', 'success'],
        ['c1', 'read done', 'success'],
        ['c2', `denied by approver: keep it${NOT_RUN}`, 'error'],
      ]);
      expect([...stage.notes()].sort()).toEqual(['read b', 'send a']);
    },
    'the model’s message keeps every call it asked for': async (stage) => {
      const message = calling(['send', 'a'], ['read', 'b'], ['erase', 'c']);
      await stage.invoke({ messages: [message] });
      const { messages } = await stage.resume({ '1.gate:call:c0': true, '1.gate:call:c2': false });
      expect(messages[0]).toEqual(message);
    },
  }),
  ...cases('L40', some, {
    'a denial with the bare reason "no" says that the call did not run': async (stage) => {
      await stage.invoke({ messages: [calling(['erase', 'a'])] });
      const ended = await stage.deny({ note: 'no' });
      expect(results(ended)).toEqual([['c0', `denied by approver: no${NOT_RUN}`, 'error']]);
      expect(ended.messages.at(-1).content).toBe('nothing was done');
    },
  }),
  ...cases('law 4', some, {
    'a call of a tool that needs no approval passes without a question': async (stage) => {
      expect(results(await stage.invoke({ messages: [calling(['read', 'a'])] }))).toEqual([
        ['c0', 'read done', 'success'],
      ]);
      expect(await stage.verdicts()).toEqual([]);
    },
    'a call of a tool that nobody has passes the gate, and is answered with an error': async (stage) => {
      expect(results(await stage.invoke({ messages: [calling(['nope', 'a'])] }))).toEqual([
        ['c0', expect.stringContaining('no tool "nope"'), 'error'],
      ]);
    },
    'where all are denied the denied way is taken, and no tool runs': async (stage) => {
      await stage.invoke({ messages: [calling(['send', 'a'], ['erase', 'b'])] });
      const ended = await stage.resume({ '1.gate:call:c0': false, '1.gate:call:c1': false });
      expect(ended.messages.at(-1)).toMatchObject({ id: 'refused' });
      expect(stage.notes()).toEqual([]);
    },
  }),
];

const meddling = scene(
  'approvals_meddling',
  () => ({
    state: { messages: MessagesValue },
    nodes: {
      gate: approvalGate({ approved: 'tools', ask: ({ name, args }) => `may I ${name} to ${(args as any).to}?` }),
      meddle: undefined,
      tools: toolNode({ tools: [send, erase, read] }),
    },
    edges: [
      [START, 'gate'],
      [START, 'meddle'],
    ],
  }),
  {
    tools,
    bodies: { meddle: async () => ({ messages: calling(['erase', 'everything']) }) },
  },
);
const bound = cases('law 3', meddling, {
  'what was approved runs, though a node beside the gate rewrites the model’s message': async (stage) => {
    await stage.invoke({ messages: [calling(['send', 'a'])] });
    await stage.approve();
    expect(stage.notes()).toEqual(['send a']);
  },
  'the approver is shown what the gate is told to show': async (stage) => {
    const { __interrupt__ } = await stage.invoke({ messages: [calling(['send', 'a'])] });
    expect(__interrupt__).toEqual([{ id: '1.gate:call:c0', value: 'may I send to a?' }]);
  },
});

const body = scene('approvals_body', () => ({ state: { decision: z.any() }, nodes: ['ask'] }), {
  bodies: { ask: async () => ({ decision: interrupt('pay?', { approval: true }) }) },
});
const inBody = [
  ...casesOf(
    'law 5',
    body,
    [
      [
        'an approval',
        (stage: any) => stage.approve({ by: 'ana', note: 'fine' }),
        { type: 'approve', by: 'ana', note: 'fine' },
      ],
      ['a denial', (stage: any) => stage.deny({ by: 'bo' }), { type: 'deny', by: 'bo' }],
      ['a bare approval', (stage: any) => stage.approve(), { type: 'approve' }],
      ['true', (stage: any) => stage.resume(true, { by: 'cy' }), { type: 'approve', by: 'cy' }],
      ['a note in the value', (stage: any) => stage.resume({ type: 'deny', note: 'no' }), { type: 'deny', note: 'no' }],
      [
        'a note beside the value, which goes first',
        (stage: any) => stage.resume({ type: 'deny', note: 'inner' }, { note: 'outer' }),
        { type: 'deny', note: 'outer' },
      ],
      [
        'a "by" in the value, which nobody may claim',
        (stage: any) => stage.resume({ type: 'approve', by: 'somebody else' }),
        { type: 'approve' },
      ],
    ].map(([what, ...rest]) => [
      `a body that asks for an approval is given the whole decision: ${what as string}`,
      ...rest,
    ]),
    async (stage, decide, expected) => {
      await stage.invoke();
      expect((await decide(stage)).decision).toEqual(expected);
    },
  ),
];

export const approvals = [...gates, ...bound, ...inBody];
