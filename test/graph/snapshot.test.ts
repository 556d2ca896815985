import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { Command, interrupt, once, Send, START } from 'abeyance';
import type { Dispatch } from '../../src/graph/dispatch';
import { GraphEngine } from '../../src/graph/engine';
import type { EngineSnapshot } from '../../src/graph/engine-snapshot';
import { NodeRun, provideNodeRunStorage } from '../../src/graph/node-run';
import type { Outcome } from '../../src/graph/outcome';
import { runBody } from '../../src/graph/run-body';
import type { Channels } from '../../src/graph/state-schema';
import { decodeState } from '../../src/graph/write-state';
import { buildGraph, Log, loggers, type Bodies, type GraphPlan, type TestGraph } from './support/build-graph';
import { AT, running, waiting } from './support/waiting-engine';

provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());

type Hop = (graph: TestGraph, engine: GraphEngine) => GraphEngine;

const stay: Hop = (_, engine) => engine;
const moveHouse: Hop = (graph, engine) => GraphEngine.restore(graph, JSON.parse(JSON.stringify(engine.snapshot())));

/** Drives a run to its end, answering each question with its own id; `hop` is made after every transition. */
async function drive(
  graph: TestGraph,
  bodies: Bodies,
  hop: Hop,
): Promise<{ snapshot: EngineSnapshot; effects: number }> {
  let engine = hop(graph, GraphEngine.start(graph, { effects: 0 }));
  let effects = 0;
  const play = async (dispatch: Dispatch): Promise<Outcome> => {
    const { node } = dispatch.task;
    const state = dispatch.task.input ?? decodeState(graph.schema, dispatch.state as Channels, node);
    const body = async (seen: unknown): Promise<unknown> => {
      await once('effect', () => ++effects);
      return bodies[node]?.(seen);
    };
    return runBody({ graph, body, state, run: nodeRunOf(graph, dispatch) });
  };
  while (engine.status !== 'done') {
    const [question] = engine.questions();
    if (engine.status === 'waiting' && question) {
      engine.decide({ type: 'resume', value: question.id, question: question.id, via: 'test' }, AT);
      engine = hop(graph, engine);
    }
    const here = engine;
    // Those that were taken but have not run when the engine moves are given out again.
    for (const dispatch of here.take()) {
      here.settle(dispatch.task.id, await play(dispatch), AT);
      engine = hop(graph, here);
      if (engine !== here) break;
    }
  }
  return { snapshot: engine.snapshot(), effects };
}

function nodeRunOf(graph: TestGraph, { task: { id, node, step, visit, answers, once: done } }: Dispatch): NodeRun {
  const info = { threadId: 't', graph: graph.name, node, task: id, step, visit, attempt: 1, idempotencyKey: id };
  return new NodeRun(info, answers, done, { signal: new AbortController().signal, saveOnce: () => undefined });
}

const STATE = { log: Log, effects: z.number() };
const GRAPHS: [string, GraphPlan, Bodies][] = [
  ['a chain', { nodes: ['a', 'b', 'c'] }, loggers('a', 'b', 'c')],
  [
    'questions one by one',
    { nodes: ['ask'] },
    { ask: () => ({ log: [interrupt('a?'), interrupt('b?', { key: 'k' }), interrupt('c?')] }) },
  ],
  [
    'questions at once',
    { nodes: ['ask'] },
    { ask: async () => ({ log: await Promise.all(['x', 'y'].map(async (key) => interrupt(key, { key }))) }) },
  ],
  [
    'branches that ask, and a join',
    {
      nodes: ['a', 'b', 'm'],
      edges: [
        [START, 'a'],
        [START, 'b'],
        [['a', 'b'], 'm'],
      ],
    },
    { a: () => ({ log: interrupt('a?') }), b: () => ({ log: interrupt('b?') }), ...loggers('m') },
  ],
  [
    'Sends that ask',
    { nodes: ['s'], routers: [[START, () => [1, 2, 3].map((n) => new Send('s', { n }))]] },
    { s: ({ n }) => ({ log: `${n}: ${interrupt({ n })}` }) },
  ],
  [
    'uneven branches with a deferred node',
    {
      nodes: { a: {}, b: {}, c: {}, d: { defer: true } },
      edges: [
        [START, 'a'],
        [START, 'b'],
        ['a', 'd'],
        ['b', 'c'],
        ['c', 'd'],
      ],
    },
    loggers('a', 'b', 'c', 'd'),
  ],
  [
    'a cycle by command, with a question in each round',
    { nodes: { a: { ends: ['a'] } }, edges: [[START, 'a']] },
    { a: ({ log }) => new Command({ update: { log: interrupt('?') }, goto: log.length < 3 ? 'a' : [] }) },
  ],
];

describe.each(GRAPHS)('a run of %s', (_, plan, bodies) => {
  const graph = buildGraph({ state: STATE, ...plan });

  test('ends the same when it moves to another engine at every transition', async () => {
    const [atHome, moved] = [await drive(graph, bodies, stay), await drive(graph, bodies, moveHouse)];
    expect(moved).toEqual(atHome);
    expect(moved.snapshot.channels.log).not.toEqual([]);
  });

  test('is plain JSON at every transition', async () => {
    await drive(graph, bodies, (_graph, engine) => {
      const snapshot = engine.snapshot();
      expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
      return engine;
    });
  });
});

describe('restoring a snapshot', () => {
  const graph = buildGraph({ nodes: ['a', 'b'] });

  test('gives out again what was running, as the same visit', () => {
    const engine = moveHouse(graph, running(graph));
    expect(engine.take().map(({ task }) => ({ id: task.id, visit: task.visit }))).toEqual([{ id: '1.a', visit: 1 }]);
  });

  test('leaves what waits waiting', () => {
    const engine = moveHouse(graph, waiting(graph, { '1.a': ['1.a:0'] }));
    expect(engine.take()).toEqual([]);
    expect(engine.questions().map(({ id }) => id)).toEqual(['1.a:0']);
  });

  test.each<[string, GraphPlan]>([
    ['another graph', { name: 'other', nodes: ['a', 'b'] }],
    ['a graph that has lost the node at work', { nodes: ['x', 'b'] }],
  ])('of %s is refused', (_, plan) => {
    const snapshot = running(graph).snapshot();
    expect(() => GraphEngine.restore(buildGraph(plan), snapshot)).toThrow(
      expect.objectContaining({ code: 'SNAPSHOT_MISMATCH' }),
    );
  });

  test('of another version is refused', () => {
    const snapshot = { ...running(graph).snapshot(), version: 2 } as unknown as EngineSnapshot;
    expect(() => GraphEngine.restore(graph, snapshot)).toThrow(expect.objectContaining({ code: 'SNAPSHOT_MISMATCH' }));
  });

  test('of a graph with more nodes goes on', () => {
    const grown = buildGraph({ nodes: ['a', 'b', 'c'] });
    expect(moveHouse(grown, running(graph)).next()).toEqual(['a']);
  });
});

test('a task that is not running cannot be settled', () => {
  const engine = running(buildGraph({ nodes: ['a'] }));
  expect(() => engine.settle('9.a', { kind: 'completed', updates: [], goto: [] }, AT)).toThrow(RangeError);
});

test('each task is given out once', () => {
  const engine = GraphEngine.start(buildGraph({ nodes: ['a'] }), {});
  expect([engine.take().length, engine.take().length]).toEqual([1, 0]);
});
