/** Marks a workflow function with the name of the graph it runs, so that a worker can check its exports. */
export const GRAPH_OF_WORKFLOW: unique symbol = Symbol.for('abeyance.graphOfWorkflow') as never;

/** The graph a workflow function runs, or undefined where it is some other workflow. */
export function graphOfWorkflow(workflow: unknown): string | undefined {
  return typeof workflow === 'function' ? (workflow as { [GRAPH_OF_WORKFLOW]?: string })[GRAPH_OF_WORKFLOW] : undefined;
}
