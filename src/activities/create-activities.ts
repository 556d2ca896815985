import { nodeActivityName, toolActivityName } from '../graph/activity-name';
import type { NodeBody } from '../graph/implement';
import type { CheckedDependencies } from './check-dependencies';
import { bodyActivity, modelActivity, toolActivity, type NodeActivity } from './node-activity';

/** The activities of these graphs, by activity type: one for each node, and one for each tool of a graph. */
export function createActivities({ graphs, bodies, models, tools }: CheckedDependencies): Record<string, NodeActivity> {
  const activities: Record<string, NodeActivity> = {};
  for (const graph of graphs.values()) {
    for (const [name, node] of graph.shape.nodes) {
      switch (node.kind) {
        case 'activity':
          activities[nodeActivityName(graph.name, name)] = bodyActivity(
            graph,
            name,
            bodies.get(graph.name)?.get(name) as NodeBody,
          );
          break;
        case 'model':
          activities[nodeActivityName(graph.name, name)] = modelActivity(graph, name, models);
          break;
        case 'tools':
          for (const tool of node.tools)
            activities[toolActivityName(graph.name, tool.name)] = toolActivity(graph, tools);
          break;
        // A subgraph's nodes are activities of its own graph.
        case 'workflow':
        case 'graph':
          break;
        default:
          node satisfies never;
      }
    }
  }
  return activities;
}
