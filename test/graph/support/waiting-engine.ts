import { readDecision, type Verdict } from '../../../src/graph/decision';
import { GraphEngine } from '../../../src/graph/engine';
import type { InterruptedOutcome } from '../../../src/graph/outcome';
import type { TestGraph } from './build-graph';

/** The moment of everything that happens in a test. */
export const AT = '2026-01-01T00:00:00.000Z';

/** The outcome of a body that asked these questions. */
export function asked(...ids: readonly string[]): InterruptedOutcome {
  const questions = ids.map((id) => ({ id, kind: 'question' as const, value: `${id}?`, digest: `digest of ${id}` }));
  return { kind: 'interrupted', questions, once: {} };
}

/** The outcome of a body that returned this update. */
export function wrote(update: Record<string, any> = {}): {
  kind: 'completed';
  updates: Record<string, any>[];
  goto: [];
} {
  return { kind: 'completed', updates: [update], goto: [] };
}

/** An engine whose first tasks are running. */
export function running(graph: TestGraph): GraphEngine {
  const engine = GraphEngine.start(graph, {});
  engine.take();
  return engine;
}

/** An engine whose tasks have asked: by task id, the ids of their questions. */
export function waiting(graph: TestGraph, questions: Readonly<Record<string, readonly string[]>>): GraphEngine {
  const engine = running(graph);
  for (const [task, ids] of Object.entries(questions)) engine.settle(task, asked(...ids), AT);
  return engine;
}

/** Decides as a caller without types might. */
export function decide(engine: GraphEngine, request: object): Verdict {
  return engine.decide(readDecision(request, 'test'), AT);
}
