import { implement } from 'abeyance';
import type { GraphDependencies } from 'abeyance/activity';
import { scriptedModel } from 'abeyance/testing';
import type { Scene } from './scene';

/** All that one worker needs to serve these scenes. */
export function dependenciesOf(scenes: readonly Scene[]): GraphDependencies {
  const inner = new Set(scenes.flatMap(({ subgraphs = [] }) => subgraphs));
  return {
    nodes: [...scenes, ...inner].map(({ graph, bodies = {} }) => implement(graph(), bodies as never)),
    tools: [...new Set(scenes.flatMap(({ tools = [] }) => tools))],
    models: Object.fromEntries(scenes.flatMap(({ name, model }) => (model ? [[name, scriptedModel(model)]] : []))),
  };
}
