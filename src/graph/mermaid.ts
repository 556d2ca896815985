import { END, START } from './commands';
import type { GraphDescription } from './compiled-graph';

/** A graph as Mermaid text. */
export function mermaidOf({ nodes, edges }: GraphDescription): string {
  // Names may be words of Mermaid's own ("end"), so nodes are numbered and their names are labels.
  const ids = new Map([START, END, ...nodes.map(({ name }) => name)].map((name, index) => [name, `n${index}`]));
  const labels = nodes.map(
    ({ name, kind }) => `  ${ids.get(name)}["${name}${kind === 'activity' ? '' : ` · ${kind}`}"]`,
  );
  const lines = edges.map(
    ({ from, to, conditional }) => `  ${ids.get(from)} ${conditional ? '-.->' : '-->'} ${ids.get(to)}`,
  );
  return ['flowchart TD', '  n0([start])', ...labels, '  n1([end])', ...lines].join('\n');
}
