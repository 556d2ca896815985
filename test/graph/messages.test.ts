import { MessagesValue, Overwrite, REMOVE_ALL_MESSAGES, removeMessage, START, type MessageUpdate } from 'abeyance';
import { buildGraph } from './support/build-graph';
import { inMemory } from './support/run-in-memory';

const STATE = { messages: MessagesValue };
const hello = { id: '1', role: 'human', content: 'hello' } as const;
const reply = { id: '2', role: 'ai', content: 'hi' } as const;

/** What a conversation of hello and reply becomes by one update. */
async function after(update: unknown): Promise<unknown> {
  const run = inMemory(buildGraph({ state: STATE, nodes: ['a'] }), { a: () => ({ messages: update }) });
  return (await run.invoke({ messages: [hello, reply] })).messages;
}

describe('an update of a conversation', () => {
  test.each<[string, MessageUpdate, unknown]>([
    ['appends a message', { id: '3', role: 'ai', content: 'x' }, [hello, reply, { id: '3', role: 'ai', content: 'x' }]],
    ['appends a list', [{ id: '3', role: 'ai', content: 'x' }], [hello, reply, { id: '3', role: 'ai', content: 'x' }]],
    [
      'replaces the message of a known id in place',
      { ...hello, content: 'bye' },
      [{ ...hello, content: 'bye' }, reply],
    ],
    ['removes a message', removeMessage('1'), [reply]],
    ['removes several', [removeMessage('1'), removeMessage('2')], []],
    [
      'removes all that came before',
      [removeMessage(REMOVE_ALL_MESSAGES), { ...hello, id: '9' }],
      [{ ...hello, id: '9' }],
    ],
    [
      'removes and adds anew at the end',
      [removeMessage('1'), { ...hello, content: 'again' }],
      [reply, { ...hello, content: 'again' }],
    ],
    ['adds and then removes', [{ ...hello, id: '9' }, removeMessage('9')], [hello, reply]],
    [
      'takes the last of two with one id',
      [
        { ...hello, id: '9' },
        { ...reply, id: '9' },
      ],
      [hello, reply, { ...reply, id: '9' }],
    ],
    [
      'reads a string as a human’s',
      'how are you?',
      [hello, reply, { id: '1.a/0', role: 'human', content: 'how are you?' }],
    ],
    ['understands user', { role: 'user', content: 'x' }, [hello, reply, { id: '1.a/0', role: 'human', content: 'x' }]],
    [
      'understands assistant',
      { role: 'assistant', content: 'x' },
      [hello, reply, { id: '1.a/0', role: 'ai', content: 'x' }],
    ],
    ['with nothing in it changes nothing', [], [hello, reply]],
  ])('%s', async (_, update, expected) => {
    expect(await after(update)).toEqual(expected);
  });

  test('keeps the tool calls and their answers', async () => {
    const call = { id: 'c1', name: 'look', args: { at: [1, null] } };
    const more = [
      { id: '3', role: 'ai', content: '', tool_calls: [call] },
      { id: '4', role: 'tool', content: 'seen', tool_call_id: 'c1', name: 'look', status: 'success' },
    ];
    expect(await after(more)).toEqual([hello, reply, ...more]);
  });

  test('may overwrite the whole conversation', async () => {
    expect(await after(new Overwrite([reply]))).toEqual([reply]);
  });

  test('that removes an unknown message fails the run, naming node and id', async () => {
    await expect(after(removeMessage('nope'))).rejects.toMatchObject({
      code: 'REDUCER_FAILED',
      node: 'a',
      message: expect.stringContaining('"nope"'),
    });
  });

  test.each<[string, unknown]>([
    ['an unknown role', { role: 'robot', content: 'x' }],
    ['no content', { role: 'ai' }],
    ['a number', 7],
  ])('with %s is refused', async (_, update) => {
    await expect(after(update)).rejects.toMatchObject({ code: 'STATE_INVALID', node: 'a', key: 'messages' });
  });
});

describe('a message without an id', () => {
  const graph = buildGraph({
    state: STATE,
    nodes: ['b', 'a'],
    edges: [
      [START, 'b'],
      [START, 'a'],
    ],
  });
  const ids = async (): Promise<string[]> => {
    const run = inMemory(graph, {
      a: () => ({ messages: ['x', 'y'] }),
      b: () => [{ messages: 'z' }, { messages: 'z' }],
    });
    return (await run.invoke({ messages: 'in' })).messages.map(({ id }: { id: string }) => id);
  };

  test('gets one made of its task and its place', async () => {
    expect(await ids()).toEqual(['0.input/0', '1.a/0', '1.a/1', '1.b/0', '1.b+1/0']);
  });

  test('gets the same one in every run', async () => {
    expect(await ids()).toEqual(await ids());
  });

  test('is appended in a later run of the thread too', async () => {
    const run = inMemory(buildGraph({ state: STATE, nodes: ['a'] }), { a: () => ({}) });
    await run.invoke({ messages: 'first' });
    const { messages } = await run.invoke({ messages: 'second' });
    expect(messages.map(({ content }: { content: string }) => content)).toEqual(['first', 'second']);
  });
});

test('a removal that only fits with a sibling’s message is folded after it, and does not break the view before', async () => {
  const graph = buildGraph({
    state: STATE,
    nodes: ['a', 'b'],
    edges: [
      [START, 'a'],
      [START, 'b'],
    ],
  });
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const run = inMemory(graph, {
    a: async () => (await opened, { messages: hello }),
    b: () => ({ messages: removeMessage('1') }),
  });
  const thread = await run.graphs.start(graph, {}, { threadId: 'thread' });
  expect((await thread.getState()).values).toEqual({ messages: [] });
  open();
  expect((await thread.untilStopped()).messages).toEqual([]);
});
