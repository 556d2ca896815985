import type { Message } from 'abeyance';
import type { ModelContext, ModelReply } from 'abeyance/activity';
import { ScriptEndedError, scriptedModel, type ScriptedTurn } from 'abeyance/testing';

const CONTEXT = { attempt: 1, signal: new AbortController().signal } as ModelContext;
const TOOLS = [{ name: 'look', description: 'Looks.', schema: {} }];
const human: Message = { id: 'h', role: 'human', content: 'hi' };
const ai: Message = { id: 'a', role: 'ai', content: 'hello' };

function ask(turns: readonly ScriptedTurn[], ...messages: Message[]): Promise<ModelReply> {
  return scriptedModel(turns).call({ messages, tools: TOOLS }, CONTEXT);
}

describe('a scripted model', () => {
  test('says in the n-th reply of a conversation what its n-th turn says', async () => {
    const script = [{ content: 'one' }, { content: 'two' }];
    expect((await ask(script, human)).content).toBe('one');
    expect((await ask(script, human, ai, human)).content).toBe('two');
  });

  test('keeps no state: the same conversation gets the same reply', async () => {
    const model = scriptedModel([{ content: 'one' }, { content: 'two' }]);
    const replies = [1, 2].map(() => model.call({ messages: [human], tools: [] }, CONTEXT));
    expect((await Promise.all(replies)).map(({ content }) => content)).toEqual(['one', 'one']);
  });

  test('makes up ids for tool calls, the same in every run, and keeps those it is given', async () => {
    const toolCalls = [
      { name: 'look', args: {} },
      { name: 'look', args: {}, id: 'mine' },
    ];
    const { toolCalls: asked, finishReason } = await ask([{ toolCalls }], human);
    expect(asked?.map(({ id }) => id)).toEqual(['call_1_0', 'mine']);
    expect(finishReason).toBe('tool_calls');
  });

  test('puts on record which tools were declared to it and which messages it ignored', async () => {
    expect(await ask([{}, { content: 'x' }], human, ai)).toEqual({
      content: 'x',
      toolCalls: [],
      model: 'mock',
      finishReason: 'stop',
      record: {
        turn: 2,
        tools: { names: ['look'], consulted: false },
        ignored: { messages: 2, roles: ['human', 'ai'] },
      },
    });
  });

  test('may answer what it is asked, and then puts on record that it looked', async () => {
    const reply = await ask([({ messages, tools }) => ({ content: `${messages[0]?.content} ${tools.length}` })], human);
    expect(reply).toMatchObject({
      content: 'hi 1',
      record: { tools: { consulted: true }, ignored: { messages: 0, roles: [] } },
    });
  });

  test('refuses a turn that its script does not have', async () => {
    const refused = ask([{ content: 'only' }], human, ai);
    await expect(refused).rejects.toBeInstanceOf(ScriptEndedError);
    await expect(refused).rejects.toMatchObject({ code: 'SCRIPT_ENDED', message: expect.stringContaining('turn 2') });
  });
});
