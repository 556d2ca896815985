import { z } from 'zod';
import {
  approvalGate,
  END,
  interrupt,
  MessagesValue,
  modelNode,
  nodeContext,
  once,
  START,
  tool,
  toolNode,
  type Message,
} from 'abeyance';
import type { ToolImplementation } from 'abeyance/activity';
import { latch, note, timesNoted } from '../backstage';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal, type Stage, type Values } from '../stage';

const Args = z.object({ what: z.string(), count: z.int().default(1) });
const use = tool({ name: 'use', description: 'Does what it is told.', schema: Args });
const other = tool({ name: 'other', description: 'Does nothing.', schema: z.object({}) });

class Money {
  constructor(readonly cents: number) {}
}

const TOOL: Readonly<Record<string, (args: z.output<typeof Args>, context: any) => unknown>> = {
  text: () => 'a text',
  object: () => ({ a: [1, null] }),
  number: () => 7,
  nothing: () => undefined,
  null: () => null,
  'a promise': async () => 'later',
  'an empty text': () => '',
  defaults: ({ count }) => count,
  throws: () => {
    throw new RangeError('out of paper');
  },
  rejects: async () => Promise.reject(new Error('out of ink')),
  'throws a text': () => {
    throw 'out of order';
  },
  'throws null': () => {
    throw null;
  },
  'throws undefined': () => {
    throw undefined;
  },
  'throws an object': () => {
    throw { code: 7 };
  },
  'a Date inside': () => ({ at: new Date(0) }),
  'a class instance': () => new Money(5),
  'a BigInt': () => 10n,
  slow: async () => {
    await latch('slow');
    return 'slow';
  },
  fast: () => {
    note('fast');
    return 'fast';
  },
  charge: async () => {
    note('charge');
    return 'charged';
  },
  'asks A': async () => {
    note('A');
    if (timesNoted('A') === 1) await latch('A');
    return `A was told ${interrupt('A?')}`;
  },
  'asks B': async () => {
    note('B');
    if (timesNoted('B') === 2) await latch('B');
    return `B was told ${interrupt('B?')}`;
  },
  'asks twice': async () => [interrupt('first?'), interrupt('second?')],
  'asks after once': async () => [await once('t', () => (note('effect'), 'ticket')), interrupt('q?')],
  'asks by schema': async () => interrupt('how many?', { schema: z.number() }),
  'tells where': (_, { threadId, callId, attempt, idempotencyKey }) => {
    const { task, node } = nodeContext();
    return [task, node, callId, attempt, idempotencyKey.startsWith(threadId), idempotencyKey.endsWith(task)];
  },
};
const implementations: ToolImplementation[] = [
  { tool: use, body: (args, context) => TOOL[args.what]?.(args, context) },
  { tool: other, body: () => 'other' },
];

function calling(...whats: readonly unknown[]): Message {
  const calls = whats.map((what, index) => {
    const args = typeof what === 'string' ? { what } : what;
    return { id: `c${index}`, name: 'use', args: args as never };
  });
  return { id: 'ai', role: 'ai', content: '', tool_calls: calls };
}

function results({ messages }: Values): string[] {
  return messages.filter(({ role }: Message) => role === 'tool').map(({ content }: Message) => content);
}

const lenient = scene(
  'tools_lenient',
  () => ({
    state: { messages: MessagesValue },
    nodes: { tools: toolNode({ tools: [use] }), after: undefined },
    edges: [
      [START, 'tools'],
      ['tools', 'after'],
    ],
  }),
  {
    tools: implementations,
    bodies: {
      after: async () => {
        note('after');
        return {};
      },
    },
  },
);

const ran = [
  ...casesOf(
    'messages',
    lenient,
    [
      ['a text as it is', 'text', 'a text'],
      ['an object as JSON', 'object', '{"a":[1,null]}'],
      ['a number as JSON', 'number', '7'],
      ['nothing as null', 'nothing', 'null'],
      ['null as null', 'null', 'null'],
      ['what a promise brings', 'a promise', 'later'],
      ['an empty text as it is', 'an empty text', ''],
      ['with the schema’s defaults in its arguments', 'defaults', '1'],
    ].map(([what, ...rest]) => [`a tool’s result goes to the conversation: ${what as string}`, ...rest] as any),
    async (stage, what, content) => {
      const { messages } = await stage.invoke({ messages: [calling(what)] });
      const answer = { role: 'tool', name: 'use', tool_call_id: 'c0', content, status: 'success' };
      expect(messages[1]).toEqual({ id: expect.stringMatching(/^1\.tools\.c0\/0$/), ...answer });
    },
  ),
  ...casesOf(
    'L32',
    lenient,
    [
      ['an Error', 'throws', 'Error: out of paper'],
      ['a rejection', 'rejects', 'Error: out of ink'],
      ['a text', 'throws a text', 'Error: out of order'],
      ['null', 'throws null', 'Error: null was thrown'],
      ['undefined', 'throws undefined', 'Error: undefined was thrown'],
      ['an object', 'throws an object', 'Error: [object Object] was thrown'],
      ['a result with a Date in it', 'a Date inside', 'Error: at is a Date'],
      ['a result that is a class instance', 'a class instance', 'Error: the value is a Money'],
      ['a result that is a BigInt', 'a BigInt', 'Error: the value is a bigint'],
    ].map(
      ([what, ...rest]) =>
        [`what a tool throws goes to the model, and the run goes on: ${what as string}`, ...rest] as any,
    ),
    async (stage, what, content) => {
      const { messages } = await stage.invoke({ messages: [calling(what)] });
      expect(messages[1]).toMatchObject({ content: expect.stringContaining(content), status: 'error' });
      expect(stage.notes()).toEqual(['after']);
    },
  ),
  ...casesOf(
    'L32',
    lenient,
    [
      ['a missing argument', calling({}), 'the arguments do not fit'],
      ['an argument of a wrong type', calling({ what: 7 }), 'expected string'],
      [
        'arguments that were no JSON',
        { ...calling(), tool_calls: [{ id: 'c0', name: 'use', args: '{"what": ' }] },
        'not valid JSON',
      ],
      [
        'a tool that is not there',
        { ...calling(), tool_calls: [{ id: 'c0', name: 'nope', args: {} }] },
        'no tool "nope"',
      ],
      [
        'a tool of another node',
        { ...calling(), tool_calls: [{ id: 'c0', name: 'other', args: {} }] },
        'no tool "other"',
      ],
    ].map(
      ([what, ...rest]) =>
        [`a call that cannot be served is answered with an error: ${what as string}`, ...rest] as any,
    ),
    async (stage, message, content) => {
      const { messages } = await stage.invoke({ messages: [message] });
      expect(messages[1]).toMatchObject({ content: expect.stringContaining(content), status: 'error' });
      expect(stage.notes()).toEqual(['after']);
    },
  ),
  ...cases('law 1', lenient, {
    'results come in the order of the calls, though the first finishes last': async (stage) => {
      stage.latches.close('slow');
      const thread = await stage.start({ messages: [calling('slow', 'fast')] });
      await stage.latches.reached('slow');
      stage.latches.open('slow');
      expect(results(await thread.untilStopped())).toEqual(['slow', 'fast']);
    },
    'a node behind the tools runs once for all calls': async (stage) => {
      expect(results(await stage.invoke({ messages: [calling('fast', 'fast', 'fast')] }))).toHaveLength(3);
      expect(stage.notes()).toEqual(['fast', 'fast', 'fast', 'after']);
    },
    'without a call the tool node passes': async (stage) => {
      expect(results(await stage.invoke({ messages: ['hello'] }))).toEqual([]);
      expect(stage.notes()).toEqual(['after']);
    },
    'without any message too': async (stage) => {
      await stage.invoke();
      expect(stage.notes()).toEqual(['after']);
    },
    'calls of an earlier message are not run': async (stage) => {
      await stage.invoke({ messages: [calling('fast'), { id: 'later', role: 'ai', content: 'never mind' }] });
      expect(stage.notes()).toEqual(['after']);
    },
    'a call that has its answer is not run': async (stage) => {
      const answer = { id: 't', role: 'tool', content: 'done', tool_call_id: 'c0' };
      await stage.invoke({ messages: [calling('fast', 'text'), answer] });
      expect(stage.notes()).toEqual(['after']);
    },
    'a tool is told where it runs, each call for itself': async (stage) => {
      const told = results(await stage.invoke({ messages: [calling('tells where', 'tells where')] }));
      expect(told.map((line) => JSON.parse(line))).toEqual([
        ['1.tools.c0', 'tools', 'c0', 1, true, true],
        ['1.tools.c1', 'tools', 'c1', 1, true, true],
      ]);
    },
  }),
];

const asking = [
  ...cases('L09', lenient, {
    'a tool that asks does not rerun those beside it': async (stage) => {
      await stage.invoke({ messages: [calling('charge', 'asks A')] });
      expect(await stage.open()).toEqual(['1.tools.c1:0']);
      expect(results(await stage.resume('yes'))).toEqual(['charged', 'A was told yes']);
      expect(stage.notes().filter((what) => what === 'charge')).toHaveLength(1);
    },
  }),
  ...cases('L07', lenient, {
    'two tools that ask get each its own answer, though who is slow changes between the runs': async (stage) => {
      await swapped(stage, { '1.tools.c0:0': 'a', '1.tools.c1:0': 'b' });
    },
    'they do though the answers come one by one, the second first': async (stage) => {
      stage.latches.close('A');
      await stage.start({ messages: [calling('asks A', 'asks B')] });
      await stage.latches.reached('A');
      stage.latches.open('A');
      await stage.stop();
      await stage.resume('b', { question: '1.tools.c1:0' });
      expect(results(await stage.resume('a', { question: '1.tools.c0:0' }))).toEqual(['A was told a', 'B was told b']);
    },
  }),
  ...cases('law 2', lenient, {
    'a tool may ask twice': async (stage) => {
      await stage.invoke({ messages: [calling('asks twice')] });
      await stage.resume(1);
      expect(results(await stage.resume(2))).toEqual(['[1,2]']);
    },
    'what a tool does once is not repeated by its question': async (stage) => {
      await stage.invoke({ messages: [calling('asks after once')] });
      expect(results(await stage.resume('y'))).toEqual(['["ticket","y"]']);
      expect(stage.notes().filter((what) => what === 'effect')).toHaveLength(1);
    },
    'an answer that does not fit the schema a tool asks with is refused': async (stage) => {
      await stage.invoke({ messages: [calling('asks by schema')] });
      expect(await refusal(() => stage.thread().resume('many'))).toMatchObject({
        code: 'ANSWER_INVALID',
        message: expect.stringContaining('number'),
      });
      expect(results(await stage.resume(3))).toEqual(['3']);
    },
  }),
];

/** Lets A be slow when it asks and B when it is answered. */
async function swapped(stage: Stage, answers: object): Promise<void> {
  stage.latches.close('A');
  stage.latches.close('B');
  await stage.start({ messages: [calling('asks A', 'asks B')] });
  await stage.latches.reached('A');
  stage.latches.open('A');
  await stage.stop();
  await stage.thread().resume(answers);
  await stage.latches.reached('B');
  stage.latches.open('B');
  expect(results(await stage.stop())).toEqual(['A was told a', 'B was told b']);
}

const strict = scene(
  'tools_strict',
  () => ({
    state: { messages: MessagesValue },
    nodes: { tools: toolNode({ tools: [use], onToolError: 'fail', activity: { retry: { maximumAttempts: 2 } } }) },
  }),
  { tools: implementations },
);
const failing = [
  ...casesOf(
    'L32',
    strict,
    [
      ['an Error', calling('throws'), 'out of paper'],
      ['a text', calling('throws a text'), 'out of order'],
      ['null', calling('throws null'), 'null was thrown'],
      ['arguments that do not fit', calling({}), 'do not fit'],
      [
        'a tool that is not there',
        { ...calling(), tool_calls: [{ id: 'c0', name: 'nope', args: {} }] },
        'no tool "nope"',
      ],
    ].map(
      ([what, ...rest]) =>
        [`where the node says so, what goes wrong with a tool fails the run: ${what as string}`, ...rest] as any,
    ),
    async (stage, message, mentioned) => {
      const error = await refusal(() => stage.invoke({ messages: [message] }));
      expect(error).toMatchObject({ code: 'NODE_FAILED', message: expect.stringContaining(mentioned) });
      expect((await stage.state()).status).toBe('failed');
    },
  ),
  ...cases('L32', strict, {
    'a tool that may fail the run may ask all the same': async (stage) => {
      await stage.invoke({ messages: [calling('asks by schema')] });
      expect(results(await stage.resume(3))).toEqual(['3']);
    },
  }),
];

const pay = tool({ name: 'pay', description: 'Pays.', schema: z.object({ amount: z.number() }) });
const agent = scene(
  'tools_agent',
  () => ({
    state: { messages: MessagesValue },
    nodes: {
      agent: modelNode({ model: 'tools_agent', tools: [pay], system: 'You pay.' }),
      gate: approvalGate({ approved: 'tools', denied: 'agent' }),
      tools: toolNode({ tools: [pay] }),
    },
    edges: [
      [START, 'agent'],
      ['tools', 'agent'],
    ],
    routers: [['agent', ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? 'gate' : END), ['gate', END]]],
  }),
  {
    tools: [{ tool: pay, body: ({ amount }) => (note(`paid ${amount}`), `paid ${amount}`) }],
    model: [
      { toolCalls: [{ name: 'pay', args: { amount: 5 } }] },
      ({ messages }) =>
        messages.at(-1)?.status === 'error'
          ? { toolCalls: [{ name: 'pay', args: { amount: 4 } }] }
          : { content: `done: ${messages.at(-1)?.content}` },
      ({ messages, tools }) => ({
        content: `${messages[0]?.role} ${tools.map(({ name }) => name).join()}: ${messages.at(-1)?.content}`,
      }),
    ],
  },
);
const agents = [
  ...cases('law 2', agent, {
    'an agent asks, is approved, pays and reports': async (stage) => {
      expect((await stage.invoke({ messages: 'pay 5' })).__interrupt__).toEqual([
        { id: '2.gate:call:call_1_0', value: { tool: 'pay', args: { amount: 5 } } },
      ]);
      const { messages } = await stage.approve({ by: 'ana' });
      expect(messages.map(({ role, content }: Message) => [role, content])).toEqual([
        ['human', 'pay 5'],
        ['ai', ''],
        ['tool', 'paid 5'],
        ['ai', 'done: paid 5'],
      ]);
      expect(stage.notes()).toEqual(['paid 5']);
    },
    'an agent that is denied hears of it, and may ask for something else': async (stage) => {
      await stage.invoke({ messages: 'pay 5' });
      expect((await stage.deny({ note: 'too much' })).__interrupt__).toEqual([
        { id: '4.gate:call:call_2_0', value: { tool: 'pay', args: { amount: 4 } } },
      ]);
      const { messages } = await stage.approve();
      expect(messages.at(-1).content).toBe('system pay: paid 4');
      expect(stage.notes()).toEqual(['paid 4']);
    },
    'the model is not called again by an answer': async (stage) => {
      await stage.invoke({ messages: 'pay 5' });
      const { messages } = await stage.approve();
      expect(messages.filter(({ role }: Message) => role === 'ai')).toHaveLength(2);
    },
    'the system prompt is sent, and not kept in the conversation': async (stage) => {
      const { messages } = await stage.invoke({ messages: 'pay 5' });
      expect(messages.map(({ role }: Message) => role)).toEqual(['human', 'ai']);
    },
    'a script that has ended fails the run, and is not tried again': async (stage) => {
      const spoken = [1, 2, 3].map((n) => ({ role: 'ai', content: String(n) }));
      expect(await refusal(() => stage.invoke({ messages: spoken }))).toMatchObject({
        code: 'SCRIPT_ENDED',
        message: expect.stringContaining('turn 4'),
      });
    },
  }),
];

const shaky = scene(
  'tools_shaky',
  () => ({
    state: { messages: MessagesValue },
    nodes: { agent: modelNode({ model: 'tools_shaky', activity: { retry: { maximumAttempts: 2 } } }) },
  }),
  {
    model: [
      ({ messages }) => {
        if (messages[0]?.content === 'break') throw new Error('no connection');
        return { content: 'fine' };
      },
    ],
  },
);
const models = cases('law 7', shaky, {
  'a model that throws to the last attempt fails the run': async (stage) => {
    expect(await refusal(() => stage.invoke({ messages: 'break' }))).toMatchObject({
      code: 'NODE_FAILED',
      node: 'agent',
      message: expect.stringContaining('no connection'),
    });
  },
  'a thread whose model has failed can be used again': async (stage) => {
    await refusal(() => stage.invoke({ messages: 'break' }));
    const again = { id: '0.input/0', role: 'human', content: 'mend' };
    expect((await stage.invoke({ messages: again })).messages.at(-1).content).toBe('fine');
  },
});

export const tools = [...ran, ...asking, ...failing, ...agents, ...models];
