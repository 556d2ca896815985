import { implement, inWorkflow, interrupt, Send, START, StateGraph } from 'abeyance';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Dispatch } from '../../src/graph/dispatch';
import { GraphEngine } from '../../src/graph/engine';
import { NodeRun, provideNodeRunStorage } from '../../src/graph/node-run';
import type { Outcome } from '../../src/graph/outcome';
import { runBody } from '../../src/graph/run-body';
import { seenState } from '../../src/graph/seen-state';
import { Inner, Outer } from './support/review-graphs';

provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());

const inner = new StateGraph(Inner)
  .addNode('step')
  .addNode('ask')
  .addEdge(START, 'step')
  .addEdge('step', 'ask')
  .compile({ name: 'inner', interruptAfter: ['step'] });
const graph = new StateGraph(Outer)
  .addNode('review', inner)
  .addNode('beside', { cache: {} })
  .addNode(
    'end',
    inWorkflow(({ log }: { log: readonly string[] }) => ({ verdict: log.join(' ') })),
  )
  .addConditionalEdges(START, () => [new Send('review', { log: 'one' }), 'review', 'beside'], ['review', 'beside'])
  .addEdge(['review', 'beside'], 'end')
  .compile({ name: 'outer' });
const bodies = new Map([
  ...implement(inner, {
    step: () => ({ log: 'step' }),
    ask: () => ({ log: `${interrupt('a?')} ${interrupt('b?')}` }),
  }).bodies,
  ...implement(graph, { beside: () => ({ log: 'beside' }) }).bodies,
]);

async function play({ graph: owner, task, definition, state }: Dispatch): Promise<Outcome> {
  const { id, node, step, visit, answers, once } = task;
  const info = { threadId: 't', graph: owner.name, node, task: id, step, visit, attempt: 1, idempotencyKey: id };
  const run = new NodeRun(info, answers, once, { signal: new AbortController().signal, saveOnce: () => undefined });
  const body = definition.kind === 'workflow' ? definition.fn : (bodies.get(node) as () => unknown);
  return runBody({
    graph: owner,
    body,
    state: seenState(owner, node, definition, state, task.input !== undefined),
    run,
  });
}

/** Plays the graph to its end, answering what is asked first, and hops before every move. */
async function playOut(hop: (engine: GraphEngine) => GraphEngine): Promise<{ asked: string[]; end: unknown }> {
  const asked: string[] = [];
  let engine = GraphEngine.start(graph, {});
  while (engine.status !== 'done') {
    engine = hop(engine);
    const [first] = engine.take();
    if (first) {
      // The others were taken too, and are taken again after the hop.
      const outcome = await play(first);
      engine.settle(first.task.id, outcome, '2030-01-01T00:00:00.000Z');
      engine = GraphEngine.restore(graph, engine.snapshot());
      continue;
    }
    const [question] = engine.questions();
    asked.push(question?.id ?? '');
    const decision = { type: 'resume', value: 'yes', question: question?.id, via: 'memory' } as never;
    expect(engine.decide(decision, '2030-01-01T00:00:00.000Z')).toMatchObject({ kind: 'accepted' });
  }
  const { ledger: _, ...end } = engine.snapshot();
  return { asked, end };
}

test('a run with subgraphs, Sends, breakpoints and questions ends the same however often it moves house', async () => {
  const still = await playOut((engine) => engine);
  const moving = await playOut((engine) =>
    GraphEngine.restore(graph, JSON.parse(JSON.stringify(engine.snapshot())) as never),
  );
  expect(moving).toEqual(still);
  expect(new Set(still.asked).size).toBe(still.asked.length);
  expect(still.asked).toHaveLength(6);
  expect(still.end).toMatchObject({ channels: { log: expect.arrayContaining(['beside', 'step', 'yes yes']) } });
});
