import fc from 'fast-check';
import { z } from 'zod';
import { Send, START } from 'abeyance';
import { readDecision } from '../../src/graph/decision';
import { GraphEngine } from '../../src/graph/engine';
import type { EngineSnapshot, StartOptions } from '../../src/graph/engine-snapshot';
import { AbeyanceError } from '../../src/graph/errors';
import type { Outcome } from '../../src/graph/outcome';
import type { Task } from '../../src/graph/task';
import { buildGraph, Log, type TestGraph } from './support/build-graph';
import { AT } from './support/waiting-engine';

// Each run of a property prints its seed and path when it fails: fc.assert(…, { seed, path }) plays it again.
// On a slow machine a property ends early rather than late.
const RUNS = { numRuns: 100, interruptAfterTimeLimit: 5_000 };

/** What one node of a random graph does. */
interface NodePlan {
  readonly defer: boolean;
  /** Where its edges lead, as distances ahead. */
  readonly edges: readonly number[];
  /** Where its router leads, as distances ahead; back to the first node with `loop`. */
  readonly route: { readonly kind: 'none' | 'nodes' | 'sends' | 'loop'; readonly to: readonly number[] };
  /** Where its command goes, as a distance ahead. */
  readonly goto?: number;
  /** How many questions it asks, and whether all at once. */
  readonly asks: number;
  readonly atOnce: boolean;
  /** Whether it writes the key that keeps one value. */
  readonly claims: boolean;
}

interface Plan {
  readonly nodes: readonly NodePlan[];
  readonly first: readonly number[];
  readonly joins: readonly (readonly number[])[];
}

const ahead = fc.integer({ min: 1, max: 3 });
const nodePlan: fc.Arbitrary<NodePlan> = fc.record({
  defer: fc.boolean(),
  edges: fc.array(ahead, { maxLength: 2 }),
  route: fc.record({
    kind: fc.constantFrom('none', 'none', 'nodes', 'sends', 'loop'),
    to: fc.array(ahead, { minLength: 1, maxLength: 2 }),
  }),
  goto: fc.option(ahead, { nil: undefined, freq: 3 }),
  asks: fc.integer({ min: 0, max: 2 }),
  atOnce: fc.boolean(),
  claims: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
});
const plans: fc.Arbitrary<Plan> = fc.record({
  nodes: fc.array(nodePlan, { minLength: 2, maxLength: 6 }),
  first: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 }),
  joins: fc.array(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 3 }), { maxLength: 2 }),
});

const nameOf = (index: number): string => `n${index}`;

function graphOf({ nodes, first, joins }: Plan): TestGraph {
  const inside = (index: number): boolean => index < nodes.length;
  const indexes = nodes.map((_, index) => index);
  return buildGraph({
    state: { log: Log, last: z.string().optional() },
    nodes: Object.fromEntries(nodes.map(({ defer }, index) => [nameOf(index), { defer }])),
    edges: [
      ...indexes.flatMap((from) =>
        (nodes[from]?.edges ?? [])
          .map((distance) => from + distance)
          .filter(inside)
          .map((to) => [nameOf(from), nameOf(to)] as const),
      ),
      ...joins
        .map((join) => [...new Set(join.filter(inside))])
        .filter((from) => from.length > 1 && inside(Math.max(...from) + 1))
        .map((from) => [from.map(nameOf), nameOf(Math.max(...from) + 1)] as const),
    ],
    routers: [
      [START, () => first.map((index) => nameOf(index % nodes.length))],
      ...indexes
        .filter((from) => nodes[from]?.route.kind !== 'none')
        .map((from) => [nameOf(from), (state: { log: string[] }) => routed(nodes, from, state.log)] as const),
    ],
  });
}

function routed(nodes: readonly NodePlan[], from: number, log: readonly string[]): unknown[] {
  const { kind, to } = (nodes[from] as NodePlan).route;
  if (kind === 'loop') return log.length < 12 ? [nameOf(0)] : [];
  const targets = to.map((distance) => from + distance).filter((index) => index < nodes.length);
  return targets.map((index) => (kind === 'sends' ? new Send(nameOf(index), { from }) : nameOf(index)));
}

/** How a task ends, by its plan and the answers it has: the same whoever finishes first. */
function outcomeOf({ nodes }: Plan, { id, node, answers }: Task): Outcome {
  const index = Number(node.slice(1));
  const { asks, atOnce, claims, goto } = nodes[index] as NodePlan;
  const ids = Array.from({ length: asks }, (_, slot) => `${id}:${slot}`);
  const open = ids.filter((one) => !answers.some((answer) => answer.id === one));
  if (open.length > 0) {
    const questions = (atOnce ? open : open.slice(0, 1)).map((one) => ({
      id: one,
      kind: 'question' as const,
      value: `${one}?`,
      digest: `digest of ${one}`,
    }));
    return { kind: 'interrupted', questions, once: {} };
  }
  const told = ids.map((one) => JSON.stringify(answers.find((answer) => answer.id === one)?.value));
  const target = goto === undefined ? undefined : index + goto;
  return {
    kind: 'completed',
    updates: [{ log: `${id}(${told.join()})`, ...(claims && { last: id }) }],
    goto: target === undefined || target >= nodes.length ? [] : [{ kind: 'node', node: nameOf(target) }],
  };
}

/** What chance decides in a run. */
interface Chance {
  /** A whole number below the limit. */
  readonly below: (limit: number) => number;
}

/** An endless row of choices out of a finite one; afterwards the first is taken. */
function chanceOf(choices: readonly number[]): Chance {
  let at = 0;
  return { below: (limit) => (choices[at++] ?? 0) % limit };
}
const choices = fc.array(fc.nat({ max: 1000 }), { maxLength: 120 });

interface Played {
  readonly end: unknown;
  readonly asked: readonly string[];
  readonly snapshot: EngineSnapshot | undefined;
}

interface Playing {
  readonly plan: Plan;
  readonly graph: TestGraph;
  readonly chance: Chance;
  /** Called between any two moves; may hand back another engine to go on with. */
  readonly between?: (engine: GraphEngine, asked: readonly string[]) => GraphEngine;
  readonly options?: StartOptions;
}

/** Plays a run to its end: finishes tasks and answers questions in the order that chance decides. */
function play({ plan, graph, chance, between = (engine) => engine, options }: Playing): Played {
  const asked: string[] = [];
  let engine: GraphEngine | undefined;
  try {
    engine = GraphEngine.start(graph, {}, { recursionLimit: 15, ...options });
    while (engine.status !== 'done') {
      engine = between(engine, asked);
      engine.take();
      move(plan, engine, chance, asked);
    }
  } catch (error) {
    if (!(error instanceof AbeyanceError)) throw error;
    return { end: error.code, asked, snapshot: engine?.snapshot() };
  }
  const { channels, step, taken } = engine.snapshot();
  return { end: { channels, step, taken }, asked, snapshot: engine.snapshot() };
}

function move(plan: Plan, engine: GraphEngine, chance: Chance, asked: string[]): void {
  const running = engine.tasks.filter(({ phase }) => phase === 'running');
  const open = engine.questions();
  const at = chance.below(running.length + open.length);
  const task = running[at];
  if (task) {
    const outcome = outcomeOf(plan, task);
    const known = [...task.answered, ...task.open].map(({ id }) => id);
    if (outcome.kind === 'interrupted')
      asked.push(...outcome.questions.map(({ id }) => id).filter((id) => !known.includes(id)));
    engine.settle(task.id, outcome, AT);
    return;
  }
  const question = open[at - running.length] as (typeof open)[number];
  const several = chance.below(3) === 0 ? open.filter(() => chance.below(2) === 0) : [];
  const ids = [...new Set([question.id, ...several.map(({ id }) => id)])];
  const value = Object.fromEntries(ids.map((id) => [id, `to ${id}`]));
  expect(engine.decide(readDecision({ type: 'resume', value }, 'test'), AT).kind).toBe('accepted');
}

describe('whatever the graph,', () => {
  it('a run ends the same, in whatever order tasks finish and questions are answered', () => {
    const property = fc.property(plans, choices, choices, (plan, one, other) => {
      const graph = graphOf(plan);
      const first = play({ plan, graph, chance: chanceOf(one) });
      const second = play({ plan, graph, chance: chanceOf(other) });
      expect(second.end).toEqual(first.end);
      if (typeof first.end === 'object') expect([...second.asked].sort()).toEqual([...first.asked].sort());
    });
    fc.assert(property, RUNS);
  });

  it('a run that is stored as JSON and restored between any two moves ends the same', () => {
    const property = fc.property(plans, choices, choices, (plan, one, other) => {
      const graph = graphOf(plan);
      const restored = (engine: GraphEngine): GraphEngine =>
        GraphEngine.restore(graph, JSON.parse(JSON.stringify(engine.snapshot())) as EngineSnapshot);
      const straight = play({ plan, graph, chance: chanceOf(one) });
      const stored = play({ plan, graph, chance: chanceOf(other), between: restored });
      expect(stored.end).toEqual(straight.end);
    });
    fc.assert(property, RUNS);
  });

  it('a snapshot is JSON, and restores to itself but for tasks that were running', () => {
    const property = fc.property(plans, choices, (plan, one) => {
      const graph = graphOf(plan);
      play({
        plan,
        graph,
        chance: chanceOf(one),
        between: (engine) => {
          const snapshot = engine.snapshot();
          expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
          const rerun = snapshot.tasks.map((task) =>
            task.phase === 'running' ? { ...task, phase: 'ready', visit: task.visit - 1 } : task,
          );
          expect(GraphEngine.restore(graph, snapshot).snapshot()).toEqual({ ...snapshot, tasks: rerun });
          return engine;
        },
      });
    });
    fc.assert(property, RUNS);
  });

  it('no question id comes twice on a thread, over any number of runs', () => {
    const property = fc.property(plans, fc.array(choices, { minLength: 2, maxLength: 4 }), (plan, runs) => {
      const graph = graphOf(plan);
      const asked: string[] = [];
      let before: EngineSnapshot | undefined;
      for (const one of runs) {
        const options = before && { values: before.channels, step: before.step };
        const run = play({ plan, graph, chance: chanceOf(one), options });
        asked.push(...run.asked);
        before = run.snapshot ?? before;
      }
      expect(new Set(asked).size).toBe(asked.length);
    });
    fc.assert(property, RUNS);
  });

  it('a decision that is refused or kept changes nothing but the ledger', () => {
    let [refused, kept] = [0, 0];
    const property = fc.property(plans, choices, choices, (plan, one, whims) => {
      const graph = graphOf(plan);
      const whim = chanceOf(whims);
      play({
        plan,
        graph,
        chance: chanceOf(one),
        between: (engine, asked) => {
          const { ledger: before, ...rest } = engine.snapshot();
          const decision = readDecision(wrongDecision(engine, asked, whim), 'test');
          const verdict = engine.decide(decision, AT);
          if (verdict.kind === 'accepted') return GraphEngine.restore(graph, { ...rest, ledger: before });
          const { ledger: after, ...restAfter } = engine.snapshot();
          expect(restAfter).toEqual(rest);
          expect(after.slice(0, before.length)).toEqual(before);
          expect(after.length - before.length).toBe(1);
          if (verdict.kind === 'refused') refused += 1;
          // What was kept might be used later, and this property is not about that.
          else kept += 1;
          return GraphEngine.restore(graph, { ...restAfter, ledger: before });
        },
      });
    });
    fc.assert(property, RUNS);
    expect([refused > 10, kept > 0]).toEqual([true, true]);
  });
});

/** A decision that is most likely wrong: unknown, settled, ambiguous, early, changed. */
function wrongDecision(engine: GraphEngine, asked: readonly string[], whim: Chance): object {
  const some = asked[whim.below(asked.length + 1)] ?? '1.n0:7';
  const wrong: readonly object[] = [
    { type: 'approve' },
    { type: 'resume', value: 'x', question: some, digest: 'another' },
    { type: 'deny', question: '0.n0:0' },
    { type: 'resume', value: { [some]: 1, '0.n1:0': 2 } },
    { type: 'resume', value: null, question: '1.nowhere:0' },
    { type: 'approve', node: 'nowhere' },
    { type: 'approve', question: `${engine.step + 1}.n0:0` },
    { type: 'approve', question: 'no id at all' },
  ];
  return wrong[whim.below(wrong.length)] as object;
}
