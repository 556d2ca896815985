import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openaiModel } from 'abeyance/activity';
import { startOpenAiServer, type OpenAiServer } from 'abeyance/testing';
import { traceOf, type Item, type Trace } from 'abeyance/trace';
import { chapterDependencies } from '../../examples/interrupt-chapter/dependencies';
import { gated_agent } from '../../examples/interrupt-chapter/graphs';
import { SideEffects } from '../../examples/interrupt-chapter/side-effects';
import { LIVE_ANSWERS, LIVE_REQUEST } from '../chapter/seed-live';
import { onServer } from '../support/on-server';

const directory = mkdtempSync(join(tmpdir(), 'seed-live-'));
const effects = new SideEffects(join(directory, 'effects.jsonl'));
let provider: OpenAiServer;
let asked = 0;
beforeAll(async () => {
  provider = await startOpenAiServer(() => LIVE_ANSWERS[asked++]);
});
afterAll(async () => {
  await provider.close();
  rmSync(directory, { recursive: true, force: true });
});

const server = onServer(() =>
  chapterDependencies(effects, {
    planner: {
      provider: 'live',
      call: (request, context) =>
        openaiModel({ baseURL: provider.url, apiKey: 'sk-never-to-be-seen', model: 'deepseek-flash' }).call(
          request,
          context,
        ),
    },
  }),
);

/** Plays the scenario on one thread and reads its trace back from JSON, as a file would hold it. */
async function played(decision: 'approve' | 'deny'): Promise<Trace> {
  const threadId = server.threadId(`seed-live-${decision}`);
  const messages = [{ role: 'human' as const, content: 'Order 500 widgets.' }];
  await server.graphs.invoke(gated_agent, { messages }, { threadId });
  await server.graphs.thread(gated_agent, threadId)[decision]({ by: 'ana' });
  await server.graphs.thread(gated_agent, threadId).untilStopped();
  const history = await server.client.workflow.getHandle(threadId).fetchHistory();
  return JSON.parse(JSON.stringify(traceOf([history], { graph: gated_agent }))) as Trace;
}

function itemsOf<K extends Item['kind']>(trace: Trace, kind: K): Extract<Item, { kind: K }>[] {
  const items = trace.runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
  return items.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind);
}

let approved: Trace;
let denied: Trace;
beforeAll(async () => {
  approved = await played('approve');
  denied = await played('deny');
});

const threads = [
  ['approved', () => approved, LIVE_ANSWERS[0], '', { input: 308, output: 71, total: 379, cached: 128, reasoning: 16 }],
  [
    'denied',
    () => denied,
    LIVE_ANSWERS[1],
    "I'll place that order for you.",
    { input: 308, output: 83, total: 391, cached: 128, reasoning: 21 },
  ],
] as const;

describe.each(threads)(
  'the trace of the live scenario, thread %s, has what the original showed',
  (_, trace, said, content, tokens) => {
    const turn = () => itemsOf(trace(), 'turn')[0] as Extract<Item, { kind: 'turn' }>;
    const exchange = () => turn().exchanges[0];
    const call = { name: 'place_order', args: { item: 'widgets', quantity: 500 } };

    it('its turn: tokens in and out, what was asked for and responded, time in provider and library', () => {
      expect(trace().totals).toMatchObject({ turns: 1 });
      expect(turn()).toMatchObject({ number: 1, tokens, askedFor: ['place_order'], finishReason: 'tool_calls' });
      expect(turn().respondedWith ?? '').toBe(content);
      expect(turn().reply).toMatchObject({ content, toolCalls: [call] });
      for (const ms of [turn().span.durationMs, turn().providerMs, turn().libraryMs]) expect(ms).toBeGreaterThan(0);
    });

    it('the context it was sent, and the tool declared to it', () => {
      expect(turn().context).toMatchObject([{ role: 'human', content: 'Order 500 widgets.' }]);
      expect(turn().tools).toMatchObject([
        {
          name: 'place_order',
          description: 'Place an order for a quantity of an item.',
          schema: {
            properties: { item: { type: 'string' }, quantity: { type: 'integer' } },
            required: ['item', 'quantity'],
          },
        },
      ]);
    });

    it('the request on the wire', () => {
      expect(exchange()).toMatchObject({
        attempt: 1,
        request: {
          method: 'POST',
          url: `${provider.url}/chat/completions`,
          defaulted: ['temperature', 'max_tokens', 'top_p', 'stop', 'seed', 'tool_choice'],
          headersFrom: 'wire',
        },
      });
      expect(exchange()?.request.body).toEqual(LIVE_REQUEST);
      const headers = exchange()?.request.headers ?? {};
      for (const name of ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
        expect(headers).toHaveProperty([name]);
      for (const name of ['os', 'arch', 'lang', 'runtime', 'runtime-version', 'package-version', 'retry-count']) {
        expect(headers).toHaveProperty([`x-stainless-${name}`]);
      }
      expect(headers).toMatchObject({
        authorization: 'not recorded',
        'content-length': '355',
        'content-type': 'application/json',
      });
      expect(JSON.stringify(trace())).not.toContain('sk-never-to-be-seen');
    });

    it('the response on the wire, with the fields no library knows', () => {
      const { status, headers, body } = exchange()?.response ?? {};
      expect(status).toBe(200);
      expect(headers).toMatchObject({ ...said?.headers, 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' });
      expect(body).toEqual(said?.body);
      expect(JSON.stringify(body)).toContain('reasoning_content');
      expect(body).toMatchObject({ usage: { prompt_cache_hit_tokens: 128, prompt_cache_miss_tokens: 180 } });
    });

    it('the checkpoint after the pause', () => {
      const [pause] = trace().runs[0]?.stops ?? [];
      expect(pause).toMatchObject({ name: 'pause', checkpoint: { next: ['approval_gate'] } });
      const messages = [
        { role: 'human', content: 'Order 500 widgets.' },
        { role: 'ai', content },
      ];
      expect(pause?.checkpoint?.values).toMatchObject({ value: { messages } });
      expect(pause?.checkpoint?.questions).toMatchObject([{ value: { tool: 'place_order', args: call.args } }]);
    });
  },
);

it('shows the tool call of the approved thread, and none of the denied', () => {
  expect(itemsOf(approved, 'tool')).toMatchObject([
    { tool: 'place_order', args: { item: 'widgets', quantity: 500 }, result: 'ordered 500 x widgets' },
  ]);
  expect(itemsOf(denied, 'tool')).toEqual([]);
});

it('shows the stops after the decision, and who made it', () => {
  for (const [trace, type] of [
    [approved, 'approve'],
    [denied, 'deny'],
  ] as const) {
    expect(trace.runs[0]?.stops.map(({ name }) => name)).toEqual(['pause', 'resume']);
    expect(itemsOf(trace, 'wait')).toMatchObject([{ decision: { type, by: 'ana' } }]);
  }
});
