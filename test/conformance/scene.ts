import type { ToolImplementation } from 'abeyance/activity';
import type { ScriptedTurn } from 'abeyance/testing';
import { buildGraph, type Bodies, type GraphPlan, type TestGraph } from '../graph/support/build-graph';

/** What a scene has beside its graph. */
export interface SceneParts {
  /** The bodies of its activity nodes. */
  readonly bodies?: Bodies;
  /** The tools its tool nodes run. */
  readonly tools?: readonly ToolImplementation[];
  /** What the model says; model nodes call it by the scene's name. */
  readonly model?: readonly ScriptedTurn[];
}

/** A small graph with all it needs to run: what cases are played on. */
export interface Scene extends SceneParts {
  /** The graph's name, and the workflow's. */
  readonly name: string;
  readonly graph: () => TestGraph;
}

const QUICKLY = { retry: { initialInterval: 1, backoffCoefficient: 1 } } as const;

/** Makes a scene. Its graph is built when it is first asked for: a workflow loads all scenes and runs one. */
export function scene(name: string, plan: () => Omit<GraphPlan, 'name'>, parts: SceneParts = {}): Scene {
  let graph: TestGraph | undefined;
  return { ...parts, name, graph: () => (graph ??= buildGraph({ activity: QUICKLY, ...plan(), name })) };
}
