import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphRunner } from 'abeyance';
import { openaiModel, type Exchange, type ModelRecord } from 'abeyance/activity';
import { InMemoryGraphs, startOpenAiServer, type OpenAiServer } from 'abeyance/testing';
import { chapterDependencies } from '../../examples/interrupt-chapter/dependencies';
import { runChapter } from '../../examples/interrupt-chapter/run-chapter';
import { SideEffects } from '../../examples/interrupt-chapter/side-effects';
import type { ScenarioReport } from '../../examples/interrupt-chapter/stage';
import { recordsOf } from '../support/history-text';
import type { ModelOfThread } from '../support/model-of-thread';
import { onServer } from '../support/on-server';
import { LIVE_ANSWERS, LIVE_REQUEST } from './seed-live';
import { SEED } from './seed';

const directory = mkdtempSync(join(tmpdir(), 'chapter-live-test-'));
const effects = new SideEffects(join(directory, 'effects.jsonl'));
let provider: OpenAiServer;
let asked = 0;
beforeAll(async () => {
  // The approved thread asks first, then the denied one; both drivers play both.
  provider = await startOpenAiServer(() => LIVE_ANSWERS[asked++ % LIVE_ANSWERS.length]);
});
afterAll(async () => {
  await provider.close();
  rmSync(directory, { recursive: true, force: true });
});

const planner: ModelOfThread['call'] = (request, context) =>
  openaiModel({ baseURL: provider.url, apiKey: 'sk-never-to-be-seen', model: 'deepseek-flash' }).call(request, context);
const live = { planner: { provider: 'live', call: planner } };
const server = onServer(() => chapterDependencies(effects, live));

const DRIVERS: readonly (readonly [ScenarioReport['driver'], () => GraphRunner])[] = [
  ['memory', () => new InMemoryGraphs(chapterDependencies(effects, live))],
  ['server', () => server.graphs],
];

describe.each(DRIVERS)('the chapter, live variant, driver %s', (driver, graphs) => {
  let reports: readonly ScenarioReport[];
  beforeAll(async () => {
    reports = await runChapter(graphs(), effects, driver, 'live');
  });

  it('plays the scenarios of the original, in its order', () => {
    expect(reports.map(({ scenario }) => scenario)).toEqual(Object.keys(SEED));
    expect(reports.every(({ mode }) => mode === 'live')).toBe(true);
  });

  it('observes what the original observed with a live model', () => {
    const { observations } = reports.at(-1) ?? {};
    const ask = { tool: 'place_order', args: { item: 'widgets', quantity: 500 } };
    const checkpoint = (content: string): object => ({
      values: {
        messages: [
          { role: 'human', content: 'Order 500 widgets.' },
          { role: 'ai', content },
        ],
      },
      pending_node: ['approval_gate'],
      pending_interrupt_value: ask,
    });
    expect(observations).toMatchObject({
      checkpoint_after_pause: [checkpoint(''), checkpoint("I'll place that order for you.")],
      orders_placed_so_far: [{ orders: ['ordered 500 x widgets'] }, { orders: ['ordered 500 x widgets'] }],
      the_gate_actually_gated_the_order: {
        orders_placed: ['ordered 500 x widgets'],
        approved_thread_final: 'ordered 500 x widgets',
        denied_thread_final: 'denied by approver',
      },
    });
  });
});

describe('the record of the live model calls', () => {
  let records: readonly ModelRecord[];
  beforeAll(async () => {
    const handles = server.client.workflow.list({
      query: `TaskQueue = "${server.taskQueue}" AND WorkflowType = "gated_agent"`,
    });
    const threads: string[] = [];
    for await (const { workflowId } of handles) threads.push(workflowId);
    const all = await Promise.all(threads.sort().map((thread) => recordsOf(server.client, thread)));
    records = all.flat().filter((record): record is ModelRecord => record.kind === 'model');
  });

  it.each([
    ['approved', 0],
    ['denied', 1],
  ])('is that of the original, thread %s', (_, index) => {
    const answer = LIVE_ANSWERS[index];
    const { usage, finishReason, exchanges, model, attempt, durationMs } = records[index] as ModelRecord;
    const [exchange] = exchanges as [Exchange];
    expect(exchange.request).toMatchObject({
      method: 'POST',
      url: `${provider.url}/chat/completions`,
      defaulted: ['temperature', 'max_tokens', 'top_p', 'stop', 'seed', 'tool_choice'],
      headersFrom: 'wire',
      headers: {
        accept: 'application/json',
        authorization: 'not recorded',
        connection: 'keep-alive',
        'content-length': '355',
        'content-type': 'application/json',
        'x-stainless-retry-count': '0',
      },
    });
    expect(JSON.stringify(exchange.request.body)).toBe(JSON.stringify(LIVE_REQUEST));
    expect(exchange.response).toMatchObject({ status: 200, headers: answer?.headers, body: answer?.body });
    const received = { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked', connection: 'keep-alive' };
    expect(exchange.response?.headers).toMatchObject(received);
    const total = index === 0 ? { output: 71, total: 379, reasoning: 16 } : { output: 83, total: 391, reasoning: 21 };
    expect(usage).toEqual({ input: 308, cached: 128, ...total });
    expect({ finishReason, model, attempt }).toEqual({
      finishReason: 'tool_calls',
      model: 'deepseek-flash',
      attempt: 1,
    });
    const { provider: there, library: here } = exchange.ms;
    expect(there).toBeGreaterThan(0);
    expect(there + here).toBeLessThanOrEqual(durationMs);
    expect(JSON.stringify(records)).not.toContain('sk-never-to-be-seen');
  });
});
