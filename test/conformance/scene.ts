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
  /** The graphs that run as nodes within it and have activity nodes. */
  readonly subgraphs?: readonly Inner[];
}

/** A graph that runs as a node of a scene's, with its bodies. */
export interface Inner {
  readonly graph: () => TestGraph;
  readonly bodies: Bodies;
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
  return sceneOf(name, () => buildGraph({ activity: QUICKLY, ...plan(), name }), parts);
}

/** Makes a scene of a graph that is compiled in some other way, under the scene's name. */
export function sceneOf(name: string, compile: () => TestGraph, parts: SceneParts = {}): Scene {
  return { ...parts, name, graph: once(compile) };
}

/** Makes a graph that runs as a node of a scene's. */
export function inner(name: string, plan: () => Omit<GraphPlan, 'name'>, bodies: Bodies = {}): Inner {
  return { graph: once(() => buildGraph({ activity: QUICKLY, ...plan(), name })), bodies };
}

function once(compile: () => TestGraph): () => TestGraph {
  let graph: TestGraph | undefined;
  return () => (graph ??= compile());
}
