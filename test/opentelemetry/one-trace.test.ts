import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { context, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { Client } from '@temporalio/client';
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry';
import { Worker } from '@temporalio/worker';
import { implement, interrupt, isInterrupted } from 'abeyance';
import { implementTool, type GraphDependencies } from 'abeyance/activity';
import { GraphClient } from 'abeyance/client';
import { AbeyanceTelemetryPlugin } from 'abeyance/opentelemetry';
import { replayHistories, scriptedModel } from 'abeyance/testing';
import { bundleWorkflows } from '../support/bundle-workflows';
import { eventually } from '../support/eventually';
import { order } from '../support/graphs';
import { errands, placeOrder } from '../support/model-graphs';
import { onServer, type OnServer } from '../support/on-server';
import { RecordedSpans } from '../support/recorded-spans';

const HISTORIES = join(__dirname, '../histories');

const spans = new RecordedSpans();
const { resource, spanProcessor } = spans;
const temporalsOwn = new OpenTelemetryPlugin({ resource, spanProcessor });
const plugins = [temporalsOwn, new AbeyanceTelemetryPlugin()];

let workflowBundle: { readonly code: string };
beforeAll(async () => {
  workflowBundle = {
    code: await bundleWorkflows(require.resolve('../support/workflows'), { plugins: [temporalsOwn] }),
  };
}, 120_000);

const dependencies = (): GraphDependencies => ({
  graphs: [errands],
  nodes: [
    implement(order, {
      step_one: () => ({}),
      place_order: (state) => ({ approved: interrupt({ question: 'approve?', total: state.order_total }) }),
    }),
  ],
  models: {
    planner: scriptedModel([{ toolCalls: [{ name: 'place_order', args: { item: 'widget', quantity: 500 } }] }]),
  },
  tools: [implementTool(placeOrder, () => 'ordered')],
});
const temporal = onServer(dependencies, { plugins, worker: () => ({ workflowBundle }) });
// Without a cache, every workflow task replays all that came before it.
const forgetful = onServer(dependencies, { plugins, worker: () => ({ workflowBundle, maxCachedWorkflows: 0 }) });

/** A client that is traced too. */
function clientOf({ client: { connection, options }, taskQueue }: OnServer): GraphClient {
  const client = new Client({ connection, namespace: options.namespace, plugins: [temporalsOwn] });
  return new GraphClient(client, { taskQueue });
}

/** Does something under a span of its own, and gives the id of that trace. */
async function underRequest(does: () => Promise<unknown>): Promise<string> {
  const request = trace.getTracer('test').startSpan('request');
  await context.with(trace.setSpan(context.active(), request), does);
  request.end();
  return request.spanContext().traceId;
}

const spansOf = (traceId: string): readonly ReadableSpan[] =>
  spans.all().filter((span) => span.spanContext().traceId === traceId);

/** The names from each span of this name up to the root. */
function pathsOf(all: readonly ReadableSpan[], name: string): string[][] {
  const parentOf = (span: ReadableSpan): ReadableSpan | undefined =>
    all.find((other) => other.spanContext().spanId === span.parentSpanId);
  const pathOf = (span: ReadableSpan | undefined): string[] => (span ? [span.name, ...pathOf(parentOf(span))] : []);
  return all.filter((span) => span.name === name).map(pathOf);
}

test('from the request to the model call and the tool call it is one trace', async () => {
  const threadId = temporal.threadId('traced');
  const graphs = clientOf(temporal);
  const traceId = await underRequest(() => graphs.invoke(errands, { messages: 'Order 500 widgets.' }, { threadId }));
  const toTheRoot = ['RunWorkflow:errands', 'UpdateWithStartWorkflow:untilStopped', 'request'];
  await eventually(() =>
    expect(pathsOf(spansOf(traceId), 'chat')).toEqual([
      ['chat', 'RunActivity:errands.agent', 'StartActivity:errands.agent', ...toTheRoot],
    ]),
  );
  const [activity, start] = ['RunActivity:errands.tool:place_order', 'StartActivity:errands.tool:place_order'];
  expect(pathsOf(spansOf(traceId), 'execute_tool place_order')).toEqual([
    ['execute_tool place_order', activity, start, ...toTheRoot],
  ]);
});

test('what runs after a pause is in the trace of the run', async () => {
  const threadId = temporal.threadId('paused');
  const graphs = clientOf(temporal);
  const traceId = await underRequest(() => graphs.invoke(order, { order_total: 500 }, { threadId }));
  await graphs.thread(order, threadId).approve({ by: 'ana' });
  const path = [
    'node place_order',
    'RunActivity:order.place_order',
    'StartActivity:order.place_order',
    'RunWorkflow:order',
    'UpdateWithStartWorkflow:untilStopped',
    'request',
  ];
  await eventually(() => expect(pathsOf(spansOf(traceId), 'node place_order')).toEqual([path, path]));
});

test('neither a lost cache nor another worker makes a span twice', async () => {
  const threadId = forgetful.threadId('forgotten');
  const graphs = clientOf(forgetful);
  let paused: unknown;
  const traceId = await underRequest(async () => {
    paused = await graphs.invoke(order, { order_total: 500 }, { threadId });
  });
  expect(isInterrupted(paused)).toBe(true);
  await forgetful.stopWorker();
  await forgetful.startWorker();
  await graphs.thread(order, threadId).approve({ by: 'ana' });
  await graphs.thread(order, threadId).untilStopped();
  await eventually(() => expect(spansOf(traceId).map(({ name }) => name)).toContain('RunWorkflow:order'));
  const ofTheRun = spansOf(traceId).filter(({ name }) => !/^(request|.*Update.*)$/.test(name));
  expect(ofTheRun.map(({ name }) => name).sort()).toEqual([
    'RunActivity:order.place_order',
    'RunActivity:order.place_order',
    'RunActivity:order.step_one',
    'RunWorkflow:order',
    'StartActivity:order.place_order',
    'StartActivity:order.place_order',
    'StartActivity:order.step_one',
    'node place_order',
    'node place_order',
    'node step_one',
  ]);
});

test('a replay makes no span', async () => {
  const threadId = temporal.threadId('replayed');
  await clientOf(temporal).invoke(errands, { messages: 'Order 500 widgets.' }, { threadId });
  await eventually(() => expect(spans.of(threadId)).toHaveLength(2));
  await temporal.stopWorker();
  const before = spans.all().length;
  const history = await temporal.client.workflow.getHandle(threadId).fetchHistory();
  await Worker.runReplayHistory({ workflowBundle, plugins }, history, threadId);
  expect(spans.all()).toHaveLength(before);
  await temporal.startWorker();
});

test('runs that began without it replay with it', async () => {
  const recorded = readdirSync(HISTORIES).map((file) => ({
    workflowId: file,
    json: readFileSync(join(HISTORIES, file), 'utf8'),
  }));
  const results = await replayHistories(recorded, { workflowBundle, plugins });
  expect(results).toHaveLength(recorded.length);
  expect(results.filter(({ error }) => error)).toEqual([]);
});
