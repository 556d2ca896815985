import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyGraph } from '../../src/graph/compiled-graph';
import { renderText, Trace, traceOf, type HistoryInput, type Item } from '../../src/trace';
import * as graphs from '../../examples/interrupt-chapter/graphs';

const DIRECTORY = join(__dirname, 'histories');

function read(name: string): HistoryInput {
  return JSON.parse(readFileSync(join(DIRECTORY, `${name}.v1.json`), 'utf8')) as HistoryInput;
}

function itemsOf<K extends Item['kind']>(trace: Trace, kind: K): Extract<Item, { kind: K }>[] {
  const items = trace.runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
  return items.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind);
}

const HISTORIES: readonly (readonly [string, AnyGraph])[] = [
  ['pausing-order', graphs.pausing_order],
  ['two-step-order', graphs.two_step_order],
  ['rerunning-order', graphs.rerunning_order],
  ['gated-agent-approved', graphs.gated_agent],
  ['gated-agent-denied', graphs.gated_agent],
];

describe.each(HISTORIES)('the recorded history %s', (name, graph) => {
  it('makes a trace that its schema accepts and gives back unchanged', () => {
    const trace = traceOf([read(name)], { graph });
    expect(Trace.parse(JSON.parse(JSON.stringify(trace)))).toEqual(trace);
    expect(trace.notes).toEqual([]);
  });

  it('says the same with and without the graph, but for what only the graph can tell', () => {
    const without = traceOf([read(name)]);
    const withGraph = traceOf([read(name)], { graph });
    expect(withGraph.runs[0]?.folded).toBe(true);
    expect(without.runs[0]?.folded).toBe(false);
    expect(stopsOf(withGraph)).toMatchObject(stopsOf(without) as object[]);
    for (const kind of ['turn', 'tool'] as const) expect(itemsOf(withGraph, kind)).toEqual(itemsOf(without, kind));
  });
});

function stopsOf({ runs }: Trace): unknown {
  return runs.flatMap(({ stops }) => stops).map(({ items: _, ...stop }) => stop);
}

describe('the approved agent', () => {
  const trace = traceOf([read('gated-agent-approved')]);
  const [turn] = itemsOf(trace, 'turn');
  const [call] = itemsOf(trace, 'tool');
  const [wait] = itemsOf(trace, 'wait');

  it('has the stops of the original, with their durations and the wait between them', () => {
    expect(trace.thread).toMatchObject({ graph: 'gated_agent', status: 'done', fingerprint: '5af9b3993916' });
    const [pause, resume] = trace.runs[0]?.stops ?? [];
    expect(pause).toMatchObject({ name: 'pause', ended: 'paused', span: { offsetMs: 0, durationMs: 61.38 } });
    expect(resume).toMatchObject({ name: 'resume', ended: 'done', span: { durationMs: 18.8 } });
    expect(pause?.pause?.durationMs).toBe(42.243);
    expect(trace.totals).toMatchObject({ turns: 1, messages: 3, toolCalls: 1, waits: 1, stops: 2 });
    expect(trace.totals.activeMs + trace.totals.waitingMs).toBeCloseTo(trace.thread.span.durationMs, 2);
  });

  it('shows the turn: context, declared tool, reply', () => {
    expect(turn).toMatchObject({
      number: 1,
      askedFor: ['place_order'],
      finishReason: 'tool_calls',
      status: 'completed',
    });
    expect(turn?.model).toEqual({ name: 'planner', provider: 'mock', model: 'mock' });
    expect(turn?.context).toEqual([{ id: '0.input/0', role: 'human', content: 'Order 500 widgets.' }]);
    expect(turn?.tools).toEqual([
      {
        name: 'place_order',
        description: 'Place an order for a quantity of an item.',
        schema: {
          type: 'object',
          properties: { item: { type: 'string' }, quantity: { type: 'integer' } },
          required: ['item', 'quantity'],
        },
      },
    ]);
    expect(turn?.reply?.toolCalls).toMatchObject([{ name: 'place_order', args: { item: 'widget', quantity: 500 } }]);
    expect(turn?.respondedWith).toBeUndefined();
  });

  it('shows what the scripted model was told and what it ignored', () => {
    expect(turn?.scripted).toEqual({
      tools: { names: ['place_order'], consulted: false },
      ignored: { messages: 1, roles: ['human'] },
    });
  });

  it('tells queue from work', () => {
    expect(turn).toMatchObject({ queueMs: 0.021, runMs: 8.011, span: { durationMs: 8.032 } });
  });

  it('shows the tool call, and by which question it was approved', () => {
    expect(call).toMatchObject({
      tool: 'place_order',
      callId: 'call_1_0',
      given: { kind: 'json', value: { item: 'widget', quantity: 500 } },
      args: { item: 'widget', quantity: 500 },
      result: 'ordered 500 x widget',
      approval: wait?.question,
    });
  });

  it('shows who decided, by which door, and how long it took', () => {
    expect(wait).toMatchObject({
      asks: 'approval',
      node: 'approval_gate',
      value: { tool: 'place_order', args: { item: 'widget', quantity: 500 } },
      status: 'answered',
      span: { durationMs: 42.243 },
      decision: { type: 'approve', by: 'demo', via: 'update', verdict: { kind: 'accepted' }, verdictFrom: 'history' },
    });
  });

  it('shows the checkpoint after each stop', () => {
    const [pause, resume] = trace.runs[0]?.stops ?? [];
    expect(pause?.checkpoint).toMatchObject({
      source: 'memo',
      next: ['approval_gate'],
      questions: [{ value: { tool: 'place_order', args: { item: 'widget', quantity: 500 } } }],
      values: {
        value: {
          messages: [
            { role: 'human', content: 'Order 500 widgets.' },
            { role: 'ai', content: '' },
          ],
        },
      },
    });
    expect(resume?.checkpoint).toMatchObject({ source: 'result', next: [], questions: [] });
  });

  it('shows the gate in workflow code when the graph is given', () => {
    const visits = itemsOf(traceOf([read('gated-agent-approved')], { graph: graphs.gated_agent }), 'node');
    expect(visits.map(({ where, node, outcome }) => [where, node, outcome?.kind])).toEqual([
      ['workflow', 'approval_gate', 'interrupted'],
      ['workflow', 'approval_gate', 'completed'],
    ]);
  });
});

it('shows the other scenarios: what waits, what ran twice, what did not', () => {
  const waiting = traceOf([read('pausing-order')]);
  expect(waiting.thread.status).toBe('waiting');
  expect(itemsOf(waiting, 'wait')).toMatchObject([
    { status: 'open', value: { question: 'approve this order?', total: 500 } },
  ]);

  const visits = itemsOf(traceOf([read('two-step-order')]), 'node');
  expect(visits.map(({ node, visit }) => [node, visit])).toEqual([
    ['step_one', 1],
    ['place_order', 1],
    ['place_order', 2],
  ]);
  expect(visits[2]?.answers).toMatchObject([{ id: '2.place_order:0', value: true }]);

  const denied = traceOf([read('gated-agent-denied')]);
  expect(itemsOf(denied, 'tool')).toEqual([]);
  expect(itemsOf(denied, 'wait')[0]?.decision).toMatchObject({ type: 'deny', by: 'demo' });
});

it('prints for the terminal what happened', () => {
  const text = renderText(traceOf([read('gated-agent-approved')]), { width: 120, depth: 4 });
  expect(text).toContain('turn 1 agent · planner (mock) · 8.03 ms · asked for place_order');
  expect(text).toContain('wait approval_gate asks for an approval · 42.2 ms · approved by demo (update)');
  expect(text).toContain('tool place_order · 7.15 ms · item=widget, quantity=500 → ordered 500 x widget');
  expect(text).toContain('pause · 61.4 ms · then waited 42.2 ms');
});
