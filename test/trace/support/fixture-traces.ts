import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Item, ToolRun, Turn, Wait } from '../../../src/trace/item';
import type { Span } from '../../../src/trace/recorded';
import { Trace } from '../../../src/trace/trace';
import type { Stop } from '../../../src/trace/trace';
import type { WireExchange } from '../../../src/trace/wire-exchange';
import { traceOf } from '../../../src/trace/trace-of';

const START = Date.parse('2026-09-13T21:58:21.000Z');

export function span(offsetMs: number, durationMs: number, start = START): Span {
  const at = (ms: number) => new Date(start + ms).toISOString();
  return { from: at(offsetMs), to: at(offsetMs + durationMs), offsetMs, durationMs };
}

const ACTIVITY = {
  eventId: '5',
  task: 'task',
  step: 1,
  visit: 1,
  status: 'completed',
  queueMs: 4,
  runMs: 300,
  taskQueue: 'orders',
} as const;

const SCHEMA = {
  type: 'object',
  properties: { item: { type: 'string' }, quantity: { type: 'integer' } },
  required: ['item', 'quantity'],
};

export function exchange(more: Partial<WireExchange> = {}): WireExchange {
  const tool = {
    type: 'function',
    function: { name: 'place_order', description: 'Place an order.', parameters: SCHEMA },
  };
  return {
    attempt: 1,
    request: {
      method: 'POST',
      url: 'https://api.deepseek.com/v1/chat/completions',
      defaulted: ['temperature', 'max_tokens', 'top_p', 'stop', 'seed', 'tool_choice'],
      headers: {
        accept: 'application/json',
        authorization: 'not recorded',
        'content-length': '355',
        'content-type': 'application/json',
        host: 'api.deepseek.com',
        'user-agent': "OpenAI/JS 6.49.0 (it's ours)",
      },
      headersFrom: 'wire',
      body: { model: 'deepseek-flash', messages: [{ role: 'user', content: 'Order 500 widgets.' }], tools: [tool] },
    },
    response: {
      status: 200,
      headers: { 'content-type': 'application/json', server: 'elb' },
      body: {
        id: '8e350547',
        choices: [{ index: 0, message: { role: 'assistant', content: '', reasoning_content: 'A simple task.' } }],
        usage: { prompt_tokens: 308, completion_tokens: 71, total_tokens: 379 },
      },
    },
    usage: { input: 308, output: 71, total: 379, cached: 128, reasoning: 16 },
    finishReason: 'tool_calls',
    ms: { provider: 1282.2, library: 234.5 },
    ...more,
  };
}

export function turn(more: Partial<Turn> = {}): Turn {
  return {
    kind: 'turn',
    ...ACTIVITY,
    id: '1.assistant#1',
    node: 'assistant',
    span: span(3, 1516.7),
    attempts: [{ number: 1, status: 'completed', durationMs: 1516.7 }],
    number: 1,
    model: { name: 'live', provider: 'deepseek', model: 'deepseek-flash' },
    context: [
      { role: 'system', content: 'You place orders.' },
      { id: 'm1', role: 'human', content: 'Order 500 widgets.' },
    ],
    tools: [{ name: 'place_order', description: 'Place an order for a quantity of an item.', schema: SCHEMA }],
    reply: {
      content: '',
      toolCalls: [{ id: 'call_00', name: 'place_order', args: { item: 'widgets', quantity: 500 } }],
    },
    askedFor: ['place_order'],
    finishReason: 'tool_calls',
    tokens: { input: 308, output: 71, total: 379, cached: 128, reasoning: 16 },
    modelMs: 1516.7,
    providerMs: 1282.2,
    libraryMs: 234.5,
    exchanges: [exchange()],
    ...more,
  };
}

export function toolRun(more: Partial<ToolRun> = {}): ToolRun {
  return {
    kind: 'tool',
    ...ACTIVITY,
    id: '2.tools#1',
    node: 'tools',
    span: span(1530, 40),
    attempts: [{ number: 1, status: 'completed', durationMs: 38 }],
    tool: 'place_order',
    callId: 'call_00',
    given: { kind: 'json', value: { item: 'widgets', quantity: '500' } },
    args: { item: 'widgets', quantity: 500 },
    result: { value: 'ordered 500 x widgets' },
    toolMs: 1.4,
    approval: '2.approval_gate/0',
    ...more,
  };
}

export function wait(more: Partial<Wait> = {}): Wait {
  const asked = more.span ?? span(1525, 1000);
  return {
    kind: 'wait',
    question: '2.approval_gate/0',
    asks: 'approval',
    node: 'approval_gate',
    task: '2.approval_gate',
    value: { tool: 'place_order', args: { item: 'widgets', quantity: 500 } },
    digest: 'b1946ac92492d234',
    status: 'answered',
    decision: {
      type: 'approve',
      by: 'ana@example.com',
      note: 'Within the budget of this quarter.',
      via: 'update',
      door: 'decide',
      question: '2.approval_gate/0',
      eventId: '14',
      at: asked.to ?? asked.from,
      offsetMs: asked.offsetMs + asked.durationMs,
      verdict: { kind: 'accepted', questions: ['2.approval_gate/0'] },
      verdictFrom: 'history',
    },
    answer: true,
    refused: [],
    sentBack: [],
    ...more,
    span: asked,
  };
}

function stop(number: number, name: string, time: Span, items: readonly Item[], more: Partial<Stop> = {}): Stop {
  return {
    number,
    name,
    began: number === 1 ? 'start' : 'decision',
    ended: 'paused',
    span: time,
    items,
    checkpoint: {
      at: time.to ?? time.from,
      step: number,
      values: { kind: 'json', value: { messages: [{ role: 'human', content: 'Order 500 widgets.' }], orders: [] } },
      source: 'memo',
      next: number === 1 ? ['approval_gate'] : [],
      questions:
        number === 1 ? [{ id: '2.approval_gate/0', node: 'approval_gate', value: { tool: 'place_order' } }] : [],
    },
    ...more,
  };
}

/** A thread of these stops. */
export function threadOf(id: string, stops: readonly Stop[], waitingMs = 0): Trace {
  const last = stops.at(-1)?.span ?? span(0, 1);
  const whole = { ...span(0, last.offsetMs + last.durationMs), from: stops[0]?.span.from ?? last.from };
  const items = stops.flatMap((one) => one.items);
  const turns = items.flatMap((item) => (item.kind === 'turn' ? [item] : []));
  const sum = (of: 'input' | 'output' | 'total') => turns.reduce((total, { tokens }) => total + (tokens?.[of] ?? 0), 0);
  return Trace.parse({
    format: 'abeyance.trace',
    version: 1,
    thread: { id, graph: 'gated-agent', status: 'done', span: whole },
    totals: {
      runs: 1,
      stops: stops.length,
      turns: turns.length,
      messages: 4,
      toolCalls: items.filter(({ kind }) => kind === 'tool').length,
      nodes: items.filter(({ kind }) => kind === 'node').length,
      waits: items.filter(({ kind }) => kind === 'wait').length,
      retries: items.reduce((total, item) => total + ('attempts' in item ? item.attempts.length - 1 : 0), 0),
      failures: 0,
      refusedDecisions: items.reduce((total, item) => total + (item.kind === 'wait' ? item.refused.length : 0), 0),
      tokens: { input: sum('input'), output: sum('output'), total: sum('total') },
      activeMs: whole.durationMs - waitingMs,
      waitingMs,
    },
    runs: [
      {
        runId: '7d1f0a52-0c7e-4f4b-9f0d-5a0f6f0f8a11',
        number: 1,
        graph: 'gated-agent',
        status: 'done',
        span: whole,
        input: { kind: 'json', value: { messages: [{ role: 'human', content: 'Order 500 widgets.' }] } },
        result: { kind: 'json', value: { orders: ['ordered 500 x widgets'] } },
        stops,
        taskQueue: 'orders',
        startedBy: '1@host',
        events: 34,
        folded: true,
      },
    ],
    notes: [],
  });
}

const DAYS = 3 * 86_400_000 + 4 * 3_600_000;

/** Three days of waiting for somebody, a model call that was tried twice, a refused decision. */
export function longWait(): Trace {
  const retried = turn({
    span: span(3, 4300),
    runMs: 1516,
    attempts: [
      {
        number: 1,
        status: 'failed',
        durationMs: 620,
        failure: { kind: 'application', code: 'PROVIDER_BUSY', message: '429 Too Many Requests', causes: [] },
      },
      { number: 2, status: 'completed', durationMs: 1516 },
    ],
    exchanges: [
      exchange({
        response: { status: 429, headers: { 'retry-after': '2' }, body: { error: 'slow down' } },
        error: { code: 'PROVIDER_BUSY', message: '429 Too Many Requests' },
      }),
      exchange({ attempt: 2 }),
    ],
  });
  const waited = wait({ span: span(4320, DAYS) });
  const refusal = {
    ...waited.decision,
    by: 'mallory',
    offsetMs: 4320 + DAYS / 2,
    verdict: { kind: 'refused', code: 'DIGEST_MISMATCH', message: 'It names another question.' },
  };
  const answered = 4320 + DAYS;
  const node = {
    kind: 'node',
    where: 'activity',
    ...ACTIVITY,
    id: '2.approval_gate#2',
    node: 'approval_gate',
    visit: 2,
  } as const;
  return threadOf(
    'order-42',
    [
      stop(
        1,
        'pause',
        span(0, 4320),
        [retried, wait({ ...waited, refused: [refusal as NonNullable<Wait['decision']>] })],
        { pause: span(4320, DAYS) },
      ),
      stop(
        2,
        'resume',
        span(answered, 1980),
        [
          {
            ...node,
            span: span(answered + 10, 60),
            attempts: [{ number: 1, status: 'completed' }],
            input: { kind: 'missing', reason: 'only its digest is recorded', digest: 'ab12' },
            sent: false,
            answers: [{ id: '2.approval_gate/0', value: true, by: 'ana@example.com' }],
            once: {},
            outcome: { kind: 'completed', updates: [{ approved: true }], goto: ['tools'] },
          },
          toolRun({ span: span(answered + 90, 240) }),
          turn({
            number: 2,
            id: '3.assistant#1',
            span: span(answered + 360, 1600),
            askedFor: [],
            respondedWith: 'Done: 500 widgets are on their way.',
            reply: { content: 'Done: 500 widgets are on their way.', toolCalls: [] },
            finishReason: 'stop',
            tokens: { input: 402, output: 18, total: 420 },
          }),
        ],
        { ended: 'done' },
      ),
    ],
    DAYS,
  );
}

/** A short thread that never waited. */
export function quick(id: string, model = 'mock'): Trace {
  const first = turn({
    span: span(1, 1.2),
    model: { name: model },
    exchanges: model === 'mock' ? [] : [exchange()],
    tokens: model === 'mock' ? undefined : { input: 308, output: 71, total: 379 },
    ...(model === 'mock' && {
      scripted: { tools: { names: ['place_order'], consulted: false }, ignored: { messages: 1, roles: ['human'] } },
    }),
  });
  return threadOf(id, [stop(1, 'run', span(0, 5), [first, toolRun({ span: span(3, 1) })], { ended: 'done' })]);
}

const FAILURE: NonNullable<Turn['failure']> = {
  kind: 'activity',
  message: 'activity task failed',
  retryState: 'RETRY_STATE_NON_RETRYABLE_FAILURE',
  causes: [
    {
      kind: 'application',
      code: 'NODE_FAILED',
      message: 'no stock',
      retryable: false,
      stack: 'Error: no stock\n    at order.ts:3:9',
      details: [{ kind: 'json', value: { sku: 7 } }],
    },
  ],
};

/** A run that waits, and holds one of everything else a trace can hold. */
export function everything(): Trace {
  const at = { input: [{ kind: 'encoded', encoding: 'binary/encrypted', bytes: 812 }] } as const;
  const node = { kind: 'node', ...ACTIVITY, attempts: [], sent: false, answers: [], once: { key: 1 } } as const;
  const loose = { ...wait().decision, type: 'unreadable', verdict: { kind: 'unknown', reason: 'no graph' } };
  const items: readonly Item[] = [
    turn({
      status: 'failed',
      failure: FAILURE,
      reply: undefined,
      tokens: undefined,
      exchanges: [exchange({ response: undefined })],
    }),
    toolRun({
      given: { kind: 'missing', reason: 'not in the history' },
      args: undefined,
      status: 'running',
      result: undefined,
    }),
    {
      ...node,
      id: 'a',
      node: 'local',
      where: 'workflow',
      status: 'failed',
      failure: FAILURE,
      span: span(20, 5),
      input: { kind: 'encoded', encoding: 'binary/zlib', bytes: 40_000 },
      outcome: { kind: 'interrupted', questions: ['q'] },
    },
    {
      ...node,
      id: 'b',
      node: 'refuser',
      where: 'local',
      span: span(30, 5),
      input: { kind: 'json', value: null },
      sent: true,
      outcome: { kind: 'rejected', question: 'q', reason: 'no number' },
    },
    {
      ...node,
      id: 'c',
      node: 'odd',
      where: 'activity',
      span: span(36, 0),
      input: at.input[0],
      outcome: { kind: 'unreadable', recorded: at.input[0] },
    },
    { kind: 'decision', span: span(40, 0), decision: loose as NonNullable<Wait['decision']> },
    { kind: 'timer', id: '1', summary: 'expiry of q', askedMs: 60_000, status: 'running', span: span(41, 900) },
    {
      kind: 'child',
      workflowId: 'child-1',
      runId: 'r',
      type: 'subgraph',
      status: 'failed',
      span: span(50, 100),
      ...at,
      failure: FAILURE,
    },
    {
      kind: 'activity',
      type: 'sendMail',
      id: '9',
      eventId: '9',
      status: 'timed-out',
      span: span(60, 70),
      attempts: [{ number: 1, status: 'timed-out', failure: FAILURE }],
      ...at,
      failure: FAILURE,
    },
    { kind: 'message', via: 'signal', name: 'nudge', span: span(80, 0), args: at.input, identity: 'cli@host' },
    { kind: 'message', via: 'cancel', name: 'cancel', span: span(90, 0), args: [] },
    wait({
      status: 'open',
      decision: undefined,
      answer: undefined,
      span: { ...span(1600, 400), to: undefined },
      sentBack: [{ reason: 'must be a number', at: span(1700, 0).from, decision: wait().decision }],
      schema: { type: 'number' },
    }),
    { kind: 'from-a-later-version', span: span(95, 1) } as unknown as Item,
  ];
  const { runs, ...trace } = threadOf('everything', [stop(1, 'pause', span(0, 1600), [], { checkpoint: undefined })]);
  const [run] = runs.map((one) => ({ ...one, failure: FAILURE, stops: one.stops.map((each) => ({ ...each, items })) }));
  return {
    ...trace,
    thread: { ...trace.thread, status: 'waiting' },
    notes: [{ kind: 'encoded', message: 'Some payloads are encoded.' }],
    runs: run ? [run, { ...run, number: 2, status: 'waiting' }] : [],
  };
}

const HOSTILE = [
  '</script><script>window.pwned = 1</script>',
  '<!--<script>',
  '<img src="https://evil.example/x.png" onerror="window.pwned = 1">',
  '\u001b[31mred\u001b[0m\u0007\u0000',
  '\u202egnp.exe\u202c \u2066isolated\u2069 \u200f\u2028\u2029',
  '\ud800 lone',
].join('\n');

/** Content that tries to break out, in every place that content can reach. */
export function hostile(): Trace {
  const big = `${'A line of a very long result, with words to wrap. '.repeat(40)}\n`.repeat(1050);
  const headers = { 'x-evil': HOSTILE, [`x-${HOSTILE}`]: 'name' };
  const wire = exchange();
  const evil = turn({
    node: HOSTILE,
    model: { name: HOSTILE },
    context: [
      { role: HOSTILE, content: HOSTILE },
      { role: 'human', content: big },
    ],
    tools: [{ name: HOSTILE, description: HOSTILE, schema: { [HOSTILE]: HOSTILE } }],
    askedFor: [HOSTILE],
    reply: { content: HOSTILE, toolCalls: [{ id: HOSTILE, name: HOSTILE, args: { [HOSTILE]: HOSTILE } }] },
    exchanges: [
      { ...wire, request: { ...wire.request, headers, body: HOSTILE }, response: { status: 200, headers, body: big } },
    ],
  });
  const decision = { ...wait().decision, by: HOSTILE, note: HOSTILE } as NonNullable<Wait['decision']>;
  return threadOf(HOSTILE, [
    stop(1, HOSTILE, span(0, 3000), [
      evil,
      toolRun({
        tool: HOSTILE,
        args: { text: big },
        result: { text: big, list: Array.from({ length: 20_000 }, (_, index) => index) },
      }),
      toolRun({ span: span(1600, 10), error: HOSTILE, result: undefined }),
      wait({ value: HOSTILE, decision }),
    ]),
  ]);
}

/** The traces of the recorded histories. */
export function recorded(name: string): Trace {
  const file = path.join(__dirname, '../histories', `${name}.json`);
  return traceOf([JSON.parse(readFileSync(file, 'utf8'))]);
}
