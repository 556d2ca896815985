import { cachedAt } from './cache';
import type { AnyGraph } from './compiled-graph';
import type { EngineSnapshot } from './engine-snapshot';
import type { Watch } from './engine-news';
import type { CompletedOutcome } from './outcome';
import type { SharedKey } from './subgraph';

/** Whose supersteps these are, and what the run lends them. */
export interface Frame {
  readonly graph: AnyGraph;
  /** What ids of tasks begin with: nothing in a run, in a subgraph the id of its task and a slash. */
  readonly prefix: string;
  /** In a subgraph: the keys it shares with the graph around it. */
  readonly shared?: readonly SharedKey[];
  /** In a run that is a subgraph's: what ids of new messages begin with. */
  readonly within?: string;
  /** Subgraphs that would run elsewhere run here. */
  readonly inline: boolean;
  /** ISO 8601. */
  readonly at: string;
  /** The breakpoints of this run, by path of nodes. */
  readonly breakpoints: Breakpoints;
  readonly cached: (key: string) => CompletedOutcome | undefined;
  /** Is told of each step. */
  readonly watch?: Watch;
}

/** Before and after which nodes a run stops; `*` for every node. */
export interface Breakpoints {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const NO_BREAKPOINTS: Breakpoints = { before: [], after: [] };

/** The frame of a whole run, at a moment. */
export function frameOf(graph: AnyGraph, state: EngineSnapshot, at: string, watch?: Watch): Frame {
  const { breakpoints = NO_BREAKPOINTS, cache = {}, inline = false, parent } = state;
  return {
    graph,
    prefix: '',
    at,
    breakpoints,
    inline,
    cached: (key) => cachedAt(cache, key, at),
    ...(parent && { shared: parent.shared, within: parent.within }),
    ...(watch && { watch }),
  };
}
