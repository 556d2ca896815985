import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { implement, interrupt, isInterrupted } from 'abeyance';
import { implementTool, openaiModel } from 'abeyance/activity';
import { AbeyanceTelemetryPlugin } from 'abeyance/opentelemetry';
import type { OpenAiServer } from 'abeyance/testing';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { eventually } from '../support/eventually';
import { failing } from '../support/failing-graphs';
import { order } from '../support/graphs';
import { chat, errands, placeOrder, strict_errands } from '../support/model-graphs';
import { onServer } from '../support/on-server';
import { RecordedSpans } from '../support/recorded-spans';
import { startScriptedService } from '../support/scripted-service';

const KEY = 'sk-never-to-be-seen-1234';
const CALL = { name: 'place_order', args: { item: 'widget', quantity: 500 }, id: 'call_1' };
const USAGE = { prompt_tokens_details: { cached_tokens: 128 }, completion_tokens_details: { reasoning_tokens: 16 } };

const spans = new RecordedSpans();
let service: OpenAiServer;
beforeAll(async () => {
  service = await startScriptedService({
    'Order 500 widgets.': [{ toolCalls: [CALL], usage: USAGE }],
    'Order half a widget.': [{ toolCalls: [{ ...CALL, args: { item: 'widget', quantity: 0.5 } }] }],
    'Be patient.': [{ status: 429, error: { message: 'slow down' } }, { content: 'Done.' }],
    'You may not.': [{ status: 401, error: { message: `no such key: ${KEY}` } }],
    'Say it badly.': [{ content: 'so far', finishReason: 'content_filter', usage: USAGE }],
    'Never answer.': [{ after: 'never' }],
  });
});
afterAll(() => service.close());

class OutOfStock extends Error {
  override readonly name = 'OutOfStock';
}

const temporal = onServer(
  () => ({
    graphs: [chat, errands, strict_errands],
    nodes: [
      implement(order, {
        step_one: () =>
          trace.getTracer('own').startActiveSpan('own work', (span) => {
            span.end();
            return {};
          }),
        place_order: (state) => ({ approved: interrupt({ question: 'approve?', total: state.order_total }) }),
      }),
      implement(failing, {
        act: ({ how }) => {
          throw new RangeError(`no ${how}`);
        },
      }),
    ],
    models: {
      planner: openaiModel({
        baseURL: `${service.url}?api-key=${KEY}-too`,
        apiKey: KEY,
        model: 'small',
        temperature: 0.5,
        maxTokens: 99,
        topP: 0.9,
        stop: '###',
        seed: 7,
      }),
    },
    tools: [
      implementTool(placeOrder, ({ quantity }, { threadId }) => {
        if (threadId.startsWith('sold-out')) throw new OutOfStock(`only 3 of ${quantity} left`);
        return { ordered: quantity };
      }),
    ],
  }),
  { silent: true, plugins: [new AbeyanceTelemetryPlugin()] },
);

/** Runs a graph on a new thread, to its end, pause or failure, and gives the spans it left. */
async function spansOf(graph: AnyGraph, input: object, name = 'spans'): Promise<readonly ReadableSpan[]> {
  const threadId = temporal.threadId(name);
  await temporal.graphs.invoke(graph, input, { threadId }).catch(() => undefined);
  return spans.of(threadId);
}

describe('a model call', () => {
  test('is a span of the GenAI conventions', async () => {
    const [span, ...more] = await spansOf(chat, { messages: 'Order 500 widgets.' });
    expect(more).toEqual([]);
    expect(span).toMatchObject({
      name: 'chat small',
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.UNSET },
      instrumentationLibrary: { name: 'abeyance' },
    });
    const { port } = new URL(service.url);
    expect(span?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': `127.0.0.1:${port}`,
      'gen_ai.conversation.id': span?.attributes['abeyance.thread.id'],
      'gen_ai.request.model': 'small',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 99,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.stop_sequences': ['###'],
      'gen_ai.request.seed': 7,
      'gen_ai.response.id': expect.stringMatching(/^chatcmpl-/),
      'gen_ai.response.model': 'small',
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'gen_ai.usage.cache_read.input_tokens': 128,
      'gen_ai.usage.reasoning.output_tokens': 16,
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'abeyance.thread.id': expect.stringMatching(/^spans-/),
      'abeyance.graph': 'chat',
      'abeyance.node': 'agent',
      'abeyance.task': '1.agent',
      'abeyance.step': 1,
      'abeyance.visit': 1,
      'abeyance.attempt': 1,
      'abeyance.model': 'planner',
      'abeyance.outcome': 'completed',
    });
  });

  test('that fails and is tried again is two spans, of which only the first is an error', async () => {
    const [failed, succeeded, ...more] = await spansOf(chat, { messages: 'Be patient.' });
    expect(more).toEqual([]);
    expect(failed).toMatchObject({ name: 'chat small', status: { code: SpanStatusCode.ERROR } });
    expect(failed?.attributes).toMatchObject({
      'error.type': 'MODEL_UNAVAILABLE',
      'gen_ai.request.model': 'small',
      'server.address': '127.0.0.1',
      'abeyance.attempt': 1,
    });
    expect(failed?.attributes).not.toHaveProperty(['abeyance.outcome']);
    expect(succeeded).toMatchObject({ name: 'chat small', status: { code: SpanStatusCode.UNSET } });
    expect(succeeded?.attributes).toMatchObject({ 'abeyance.attempt': 2, 'abeyance.outcome': 'completed' });
    expect(succeeded?.attributes).not.toHaveProperty(['error.type']);
  });

  test('that was filtered says so, and what it cost', async () => {
    const [span, ...more] = await spansOf(chat, { messages: 'Say it badly.' });
    expect(more).toEqual([]);
    expect(span?.attributes).toMatchObject({
      'error.type': 'MODEL_CONTENT_FILTERED',
      'gen_ai.response.id': expect.stringMatching(/^chatcmpl-/),
      'gen_ai.usage.reasoning.output_tokens': 16,
    });
  });

  test('that was refused repeats none of the words of the service', async () => {
    const [span, ...more] = await spansOf(chat, { messages: 'You may not.' });
    expect(more).toEqual([]);
    expect(span?.attributes).toMatchObject({ 'error.type': 'MODEL_REFUSED' });
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.events).toEqual([]);
  });

  test('that was cancelled is an error of that type', async () => {
    const threadId = temporal.threadId('cancelled');
    const running = temporal.graphs.invoke(chat, { messages: 'Never answer.' }, { threadId });
    await eventually(() => expect(JSON.stringify(service.requests.map(({ body }) => body))).toContain('Never'));
    await temporal.client.workflow.getHandle(threadId).cancel();
    await expect(running).rejects.toThrow();
    const [span] = await eventually(() => {
      expect(spans.of(threadId)).toHaveLength(1);
      return spans.of(threadId);
    });
    expect(span).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'cancelled' } });
  });
});

describe('a tool call', () => {
  test('is a span of the GenAI conventions', async () => {
    const [model, span, ...more] = await spansOf(errands, { messages: 'Order 500 widgets.' });
    expect(more).toEqual([]);
    expect(model?.name).toBe('chat small');
    expect(span).toMatchObject({
      name: 'execute_tool place_order',
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
    });
    expect(span?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': span?.attributes['abeyance.thread.id'],
      'gen_ai.tool.name': 'place_order',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'call_1',
      'abeyance.thread.id': expect.stringMatching(/^spans-/),
      'abeyance.graph': 'errands',
      'abeyance.node': 'tools',
      'abeyance.task': '2.tools.c0',
      'abeyance.step': 2,
      'abeyance.visit': 1,
      'abeyance.attempt': 1,
      'abeyance.outcome': 'completed',
    });
  });

  test.each([
    ['that throws', 'Order 500 widgets.', 'sold-out'],
    ['with arguments that do not fit', 'Order half a widget.', 'half'],
  ])('%s is an error although the run goes on', async (_, messages, name) => {
    const [, span, ...more] = await spansOf(errands, { messages }, name);
    expect(more).toEqual([]);
    expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(span?.attributes).toMatchObject({ 'error.type': 'tool_error', 'abeyance.outcome': 'completed' });
  });

  test('that fails the run is an error for each attempt, by the name of what it threw', async () => {
    const [, ...attempts] = await spansOf(strict_errands, { messages: 'Order 500 widgets.' }, 'sold-out');
    expect(attempts.map(({ attributes }) => [attributes['error.type'], attributes['abeyance.attempt']])).toEqual([
      ['OutOfStock', 1],
      ['OutOfStock', 2],
      ['OutOfStock', 3],
    ]);
  });
});

describe('a node', () => {
  test('is a span, and what its body does is under it', async () => {
    const [span] = await spansOf(order, { order_total: 5 });
    expect(span).toMatchObject({ name: 'node step_one', kind: SpanKind.INTERNAL, attributes: { 'abeyance.step': 1 } });
    expect(span?.attributes).not.toHaveProperty(['gen_ai.operation.name']);
    const own = spans.all().find(({ parentSpanId }) => parentSpanId === span?.spanContext().spanId);
    expect(own?.name).toBe('own work');
  });

  test('that throws is an error for each attempt', async () => {
    const attempts = await spansOf(failing, { how: 'widgets' });
    expect(attempts.map(({ name, status, attributes }) => [name, status, attributes['error.type']])).toEqual(
      [1, 2, 3].map(() => ['node act', { code: SpanStatusCode.ERROR }, 'RangeError']),
    );
  });

  test('that pauses and is resumed is two spans, and neither is an error', async () => {
    const threadId = temporal.threadId('paused');
    const paused = await temporal.graphs.invoke(order, { order_total: 500 }, { threadId });
    expect(isInterrupted(paused)).toBe(true);
    await temporal.stopWorker();
    await temporal.startWorker();
    await temporal.graphs.thread(order, threadId).approve({ by: 'ana' });
    const [, asked, resumed, ...more] = await eventually(() => {
      expect(spans.of(threadId)).toHaveLength(3);
      return spans.of(threadId);
    });
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ name: 'node place_order', status: { code: SpanStatusCode.UNSET } });
    expect(asked?.attributes).toMatchObject({
      'abeyance.visit': 1,
      'abeyance.outcome': 'interrupted',
      'abeyance.questions': ['2.place_order:0'],
    });
    expect(resumed).toMatchObject({ name: 'node place_order', status: { code: SpanStatusCode.UNSET } });
    expect(resumed?.attributes).toMatchObject({
      'abeyance.visit': 2,
      'abeyance.outcome': 'completed',
      'abeyance.answered': ['2.place_order:0'],
    });
  });
});

test('no span holds content, or a key', async () => {
  await spansOf(errands, { messages: 'Order 500 widgets.' }, 'sold-out');
  const said = JSON.stringify(
    spans.all().map(({ name, attributes, status, events }) => [name, attributes, status, events]),
  );
  expect(said).toContain('sold-out-');
  for (const content of ['Order 500', 'widget', 'only 3', 'slow down', 'approve?', KEY]) {
    expect(said).not.toContain(content);
  }
});
