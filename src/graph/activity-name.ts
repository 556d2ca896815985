/** The activity type of a node: `order.place_order`. */
export function nodeActivityName(graph: string, node: string): string {
  return `${graph}.${node}`;
}

/** The activity type of a tool: `order.tool:place_order`; the prefix keeps a tool from hiding a node of its name. */
export function toolActivityName(graph: string, tool: string): string {
  return `${graph}.tool:${tool}`;
}
