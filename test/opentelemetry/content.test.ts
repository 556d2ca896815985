import { SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { implementTool, openaiModel } from 'abeyance/activity';
import { AbeyanceTelemetryPlugin } from 'abeyance/opentelemetry';
import type { OpenAiServer } from 'abeyance/testing';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { advised, chat, errands, placeOrder } from '../support/model-graphs';
import { onServer } from '../support/on-server';
import { RecordedSpans } from '../support/recorded-spans';
import { startScriptedService } from '../support/scripted-service';

const KEY = 'sk-never-to-be-seen-1234';
const CALL = { name: 'place_order', args: { item: 'widget', quantity: 500 }, id: 'call_1' };

const spans = new RecordedSpans();
let service: OpenAiServer;
beforeAll(async () => {
  service = await startScriptedService({
    'Order 500 widgets.': [{ content: 'At once.', toolCalls: [CALL] }],
    'You may not.': [{ status: 401, error: { message: `no such key: ${KEY}` } }],
  });
});
afterAll(() => service.close());

const temporal = onServer(
  () => ({
    graphs: [advised, chat, errands],
    models: { planner: openaiModel({ baseURL: service.url, apiKey: KEY, model: 'small' }) },
    tools: [
      implementTool(placeOrder, ({ quantity }, { threadId }) => {
        if (threadId.startsWith('sold-out')) throw new Error(`only 3 of ${quantity} left`);
        return { ordered: quantity };
      }),
    ],
  }),
  { silent: true, plugins: [new AbeyanceTelemetryPlugin({ captureContent: true })] },
);

async function spansOf(graph: AnyGraph, input: object, name = 'content'): Promise<readonly ReadableSpan[]> {
  const threadId = temporal.threadId(name);
  await temporal.graphs.invoke(graph, input, { threadId }).catch(() => undefined);
  return spans.of(threadId);
}

/** An attribute that is JSON, parsed. */
function json(span: ReadableSpan | undefined, name: string): unknown {
  const value = span?.attributes[name];
  return typeof value === 'string' ? JSON.parse(value) : value;
}

test('a model call holds the conversation, the instructions and the tools', async () => {
  const messages = [
    { role: 'system', content: 'Be polite.' },
    { role: 'human', content: 'Order 500 widgets.', name: 'ana' },
    { role: 'ai', content: '', tool_calls: [{ id: 'c0', name: 'place_order', args: { item: 'w' } }] },
    { role: 'tool', content: 'Error: no', tool_call_id: 'c0', name: 'place_order', status: 'error' },
    { role: 'ai', content: 'Sorry.' },
  ];
  const [span] = await spansOf(advised, { messages });
  const text = (content: string): object => ({ type: 'text', content });
  expect(json(span, 'gen_ai.system_instructions')).toEqual([text('Be brief.')]);
  expect(json(span, 'gen_ai.input.messages')).toEqual([
    { role: 'system', parts: [text('Be polite.')] },
    { role: 'user', parts: [text('Order 500 widgets.')], name: 'ana' },
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'c0', name: 'place_order', arguments: { item: 'w' } }] },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c0', response: 'Error: no' }], name: 'place_order' },
    { role: 'assistant', parts: [text('Sorry.')] },
  ]);
  expect(json(span, 'gen_ai.output.messages')).toEqual([
    {
      role: 'assistant',
      parts: [
        text('At once.'),
        { type: 'tool_call', id: 'call_1', name: 'place_order', arguments: { item: 'widget', quantity: 500 } },
      ],
    },
  ]);
  expect(json(span, 'gen_ai.tool.definitions')).toEqual([
    {
      type: 'function',
      name: 'place_order',
      description: 'Place an order for a quantity of an item.',
      parameters: expect.objectContaining({ type: 'object', required: ['item', 'quantity'] }),
    },
  ]);
});

test('a tool call holds its arguments and its result', async () => {
  const [, span] = await spansOf(errands, { messages: 'Order 500 widgets.' });
  expect(json(span, 'gen_ai.tool.call.arguments')).toEqual({ item: 'widget', quantity: 500 });
  expect(json(span, 'gen_ai.tool.call.result')).toEqual({ ordered: 500 });
});

test('a tool call that failed holds its arguments and what went wrong', async () => {
  const [, span] = await spansOf(errands, { messages: 'Order 500 widgets.' }, 'sold-out');
  expect(json(span, 'gen_ai.tool.call.arguments')).toEqual({ item: 'widget', quantity: 500 });
  expect(span?.attributes).not.toHaveProperty(['gen_ai.tool.call.result']);
  expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'only 3 of 500 left' });
});

test('a key stays out, also where the service repeats it', async () => {
  const [span] = await spansOf(chat, { messages: 'You may not.' });
  expect(json(span, 'gen_ai.input.messages')).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'You may not.' }] },
  ]);
  expect(span?.status.message).toContain('no such key: not recorded');
  const said = JSON.stringify(spans.all().map(({ attributes, status, events }) => [attributes, status, events]));
  expect(said).not.toContain(KEY);
});
