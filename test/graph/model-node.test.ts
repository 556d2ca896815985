import { z } from 'zod';
import { MessagesValue, modelNode, START, tool, toolNode } from 'abeyance';
import { implementTool, type ChatModel, type ModelRequest } from 'abeyance/activity';
import { scriptedModel, type ScriptedTurn } from 'abeyance/testing';
import { buildGraph } from './support/build-graph';
import { inMemory, type MemoryRun } from './support/run-in-memory';

const order = tool({
  name: 'order',
  description: 'Orders an item.',
  schema: z.object({ item: z.string(), quantity: z.int().optional() }),
});

function asking(model: ChatModel, options: object = {}): MemoryRun {
  const nodes = { agent: modelNode({ model: 'planner', tools: [order], ...options }) };
  const graph = buildGraph({ state: { messages: MessagesValue }, nodes });
  return inMemory(graph, {}, { nodes: [], graphs: [graph], tools: [], models: { planner: model } });
}

/** A model that says nothing and keeps what it was asked. */
function listening(): ChatModel & { heard: ModelRequest[] } {
  const heard: ModelRequest[] = [];
  return { heard, provider: 'test', call: async (request) => (heard.push(request), { content: '', model: 'test' }) };
}

describe('a model node', () => {
  test('appends the model’s reply to the conversation', async () => {
    const { messages } = await asking(scriptedModel([{ content: 'hello' }])).invoke({ messages: 'hi' });
    expect(messages).toEqual([
      { id: '0.input/0', role: 'human', content: 'hi' },
      { id: '1.agent/0', role: 'ai', content: 'hello' },
    ]);
  });

  test('keeps the tool calls the model asks for', async () => {
    const script: ScriptedTurn[] = [{ toolCalls: [{ name: 'order', args: { item: 'x' } }] }];
    const { messages } = await asking(scriptedModel(script)).invoke({ messages: 'hi' });
    expect(messages.at(-1).tool_calls).toEqual([{ id: 'call_1_0', name: 'order', args: { item: 'x' } }]);
  });

  test('sends its system prompt first, and does not keep it', async () => {
    const model = listening();
    const { messages } = await asking(model, { system: 'Be brief.' }).invoke({ messages: 'hi' });
    expect(model.heard[0]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['human', 'hi'],
    ]);
    expect(messages.map(({ role }: any) => role)).toEqual(['human', 'ai']);
  });

  test('declares its tools: the properties as written, and no more', async () => {
    const model = listening();
    await asking(model).invoke({ messages: 'hi' });
    expect(model.heard[0]?.tools).toEqual([
      {
        name: 'order',
        description: 'Orders an item.',
        schema: {
          type: 'object',
          properties: { item: { type: 'string' }, quantity: { type: 'integer' } },
          required: ['item'],
        },
      },
    ]);
  });

  test('tries a model that fails three times, then fails the run', async () => {
    const call = jest.fn().mockRejectedValue(new Error('overloaded'));
    await expect(asking({ provider: 'test', call }).invoke({ messages: 'hi' })).rejects.toMatchObject({
      code: 'NODE_FAILED',
      node: 'agent',
      message: expect.stringContaining('overloaded'),
    });
    expect(call).toHaveBeenCalledTimes(3);
  });

  test('and a tool node behind it make an agent that ends when the model asks for nothing more', async () => {
    const graph = buildGraph({
      state: { messages: MessagesValue },
      nodes: { agent: modelNode({ model: 'planner', tools: [order] }), tools: toolNode({ tools: [order] }) },
      edges: [
        [START, 'agent'],
        ['tools', 'agent'],
      ],
      routers: [['agent', ({ messages }) => (messages.at(-1).tool_calls ? 'tools' : [])]],
    });
    const planner = scriptedModel([{ toolCalls: [{ name: 'order', args: { item: 'x' } }] }, { content: 'Done.' }]);
    const tools = [implementTool(order, ({ item }) => `ordered ${item}`)];
    const run = inMemory(graph, {}, { nodes: [], graphs: [graph], tools, models: { planner } });
    const { messages } = await run.invoke({ messages: 'order x' });
    expect(messages.map(({ role, content }: any) => [role, content])).toEqual([
      ['human', 'order x'],
      ['ai', ''],
      ['tool', 'ordered x'],
      ['ai', 'Done.'],
    ]);
  });
});
