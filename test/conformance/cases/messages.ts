import { MessagesValue, Overwrite, REMOVE_ALL_MESSAGES, removeMessage, START } from 'abeyance';
import { z } from 'zod';
import { cases, casesOf } from '../conformance-case';
import { scene } from '../scene';
import { refusal } from '../stage';

const HELLO = { id: 'h', role: 'human', content: 'hello' } as const;
const HI = { id: 'a', role: 'ai', content: 'hi' } as const;
const CALL = { id: 'c1', name: 'look', args: { at: [1, null] } };
const ASKING = { id: 'q', role: 'ai', content: '', tool_calls: [CALL] } as const;
const SEEN = { id: 's', role: 'tool', content: 'seen', tool_call_id: 'c1', name: 'look', status: 'success' } as const;

const WRITES: Readonly<Record<string, () => unknown>> = {
  'a new message': () => ({ id: 'n', role: 'ai', content: 'new' }),
  'a text': () => 'well?',
  'two texts': () => ['ai', 'y'],
  user: () => ({ role: 'user', content: 'x' }),
  assistant: () => ({ role: 'assistant', content: 'x' }),
  'a known id': () => ({ ...HELLO, content: 'changed' }),
  'a known id of another role': () => ({ ...HELLO, role: 'system' }),
  'one id twice': () => [
    { id: 'n', role: 'ai', content: 'first' },
    { id: 'n', role: 'ai', content: 'second' },
  ],
  'a removal': () => removeMessage('h'),
  'two removals': () => [removeMessage('h'), removeMessage('a')],
  'all removed': () => removeMessage(REMOVE_ALL_MESSAGES),
  'all removed, and one': () => ['lost', removeMessage(REMOVE_ALL_MESSAGES), { id: 'n', role: 'ai', content: 'kept' }],
  'added and removed': () => [{ id: 'n', role: 'ai', content: 'x' }, removeMessage('n')],
  'an unknown removal': () => removeMessage('nobody'),
  'one removal twice': () => [removeMessage('h'), removeMessage('h')],
  'calls and answers': () => [ASKING, SEEN],
  nothing: () => [],
  overwritten: () => new Overwrite([HI]),
  'overwritten by nothing': () => new Overwrite([]),
  'overwritten without ids': () => new Overwrite([{ role: 'ai', content: 'x' }]),
  'an unknown role': () => ({ role: 'robot', content: 'x' }),
  'no content': () => ({ role: 'ai' }),
  'content in parts': () => ({ role: 'ai', content: [{ type: 'text', text: 'x' }] }),
  'a number': () => 7,
  'a call without a name': () => ({ role: 'ai', content: '', tool_calls: [{ id: 'c', args: {} }] }),
};

const talk = scene('messages_talk', () => ({ state: { messages: MessagesValue, how: z.string() }, nodes: ['talk'] }), {
  bodies: { talk: async ({ how }) => ({ messages: WRITES[how]?.() }) },
});

const writing = [
  ...casesOf(
    'messages',
    talk,
    [
      ['a new message is appended', 'a new message', [HELLO, HI, { id: 'n', role: 'ai', content: 'new' }]],
      ['a bare text is a human’s', 'a text', [HELLO, HI, { id: '1.talk/0', role: 'human', content: 'well?' }]],
      [
        'a list of texts is that many human messages, whatever the first says',
        'two texts',
        [HELLO, HI, { id: '1.talk/0', role: 'human', content: 'ai' }, { id: '1.talk/1', role: 'human', content: 'y' }],
      ],
      ['user is understood', 'user', [HELLO, HI, { id: '1.talk/0', role: 'human', content: 'x' }]],
      ['assistant is understood', 'assistant', [HELLO, HI, { id: '1.talk/0', role: 'ai', content: 'x' }]],
      ['a known id replaces its message in place', 'a known id', [{ ...HELLO, content: 'changed' }, HI]],
      ['it does though the role differs', 'a known id of another role', [{ ...HELLO, role: 'system' }, HI]],
      [
        'of two with one new id the last stays',
        'one id twice',
        [HELLO, HI, { id: 'n', role: 'ai', content: 'second' }],
      ],
      ['a removal takes the message out', 'a removal', [HI]],
      ['several removals take several out', 'two removals', []],
      ['the removal of all empties the conversation', 'all removed', []],
      [
        'it drops what came before it in its own write, and keeps what comes after',
        'all removed, and one',
        [{ id: 'n', role: 'ai', content: 'kept' }],
      ],
      ['added and then removed is removed', 'added and removed', [HELLO, HI]],
      ['tool calls and their answers are kept whole', 'calls and answers', [HELLO, HI, ASKING, SEEN]],
      ['an empty list changes nothing', 'nothing', [HELLO, HI]],
      ['an Overwrite replaces the conversation', 'overwritten', [HI]],
      ['an Overwrite by nothing empties it', 'overwritten by nothing', []],
    ],
    async (stage, how, expected) => {
      expect((await stage.invoke({ how, messages: [HELLO, HI] })).messages).toEqual(expected);
    },
  ),
  ...casesOf(
    'messages',
    talk,
    [
      [
        'the removal of a message that is not there fails the run, naming it',
        'an unknown removal',
        'REDUCER_FAILED',
        'nobody',
      ],
      ['so does the second removal of one message', 'one removal twice', 'REDUCER_FAILED', '"h"'],
      ['an unknown role is refused', 'an unknown role', 'STATE_INVALID', 'messages'],
      ['a message without content is refused', 'no content', 'STATE_INVALID', 'messages'],
      ['content that is no text is refused', 'content in parts', 'STATE_INVALID', 'messages'],
      ['a number is refused', 'a number', 'STATE_INVALID', 'messages'],
      ['a tool call without a name is refused', 'a call without a name', 'STATE_INVALID', 'messages'],
      ['an Overwrite by messages without ids is refused', 'overwritten without ids', 'STATE_INVALID', 'messages'],
    ],
    async (stage, how, code, mentioned) => {
      const error = await refusal(() => stage.invoke({ how, messages: [HELLO, HI] }));
      expect(error).toMatchObject({ code, node: 'talk', message: expect.stringContaining(mentioned) });
      expect((await stage.state()).values.messages).toEqual([HELLO, HI]);
    },
  ),
  ...cases('messages', talk, {
    'input is read as a node’s write is': async (stage) => {
      const { messages } = await stage.invoke({
        how: 'nothing',
        messages: ['one', { role: 'assistant', content: 'two' }],
      });
      expect(messages).toEqual([
        { id: '0.input/0', role: 'human', content: 'one' },
        { id: '0.input/1', role: 'ai', content: 'two' },
      ]);
    },
    'in a later run of the thread messages are appended, under ids of their own': async (stage) => {
      await stage.invoke({ how: 'a text', messages: 'in' });
      const { messages } = await stage.invoke({ how: 'a text', messages: 'in' });
      expect(messages.map(({ content }: any) => content)).toEqual(['in', 'well?', 'in', 'well?']);
      expect(new Set(messages.map(({ id }: any) => id)).size).toBe(4);
    },
  }),
];

const chorus = scene(
  'messages_chorus',
  () => ({
    state: { messages: MessagesValue },
    nodes: ['b', 'a', 'last'],
    edges: [
      [START, 'b'],
      [START, 'a'],
      [['a', 'b'], 'last'],
    ],
  }),
  {
    bodies: {
      a: async () => ({ messages: ['a1', 'a2'] }),
      b: async () => [{ messages: 'b1' }, { messages: 'b2' }],
      last: async ({ messages }) => ({ messages: [removeMessage(messages[0].id), { ...messages[1], content: 'A2' }] }),
    },
  },
);

const together = cases('messages', chorus, {
  'of two nodes in one superstep are appended by node name, under ids made of task and place': async (stage) => {
    const { messages } = await stage.invoke();
    expect(messages.map(({ id, content }: any) => [id, content])).toEqual([
      ['1.a/1', 'A2'],
      ['1.b/0', 'b1'],
      ['1.b+1/0', 'b2'],
    ]);
  },
});

export const messages = [...writing, ...together];
