import type { AnyGraph } from './compiled-graph';
import { digestOf } from './digest';
import { laterBy, millisecondsOf } from './duration';
import type { EngineSnapshot } from './engine-snapshot';
import type { NodeDefinition } from './node-definition';
import { keptOf, type CompletedOutcome } from './outcome';
import { GraphRunError, messageOf } from './errors';
import { bytesOf } from './size-limit';
import { seenState } from './seen-state';
import { readsOf, type Channels } from './state-schema';
import { definitionAt } from './subgraph';
import { nodePathOf, type Task } from './task';

// It travels with the run.
const MAX_BYTES = 200_000;

/** What nodes that may be cached have written, by what they saw. */
export type OutcomeCache = Readonly<Record<string, CachedOutcome>>;

/** An outcome, and how long it counts. */
export interface CachedOutcome {
  readonly outcome: CompletedOutcome;
  /** Until when it may be used, ISO 8601; for ever where there is none. */
  readonly until?: string;
}

/** Under what a task's outcome is cached: its graph, its node, and what it sees or what the node makes of that. */
export function cacheKeyOf(graph: AnyGraph, node: NodeDefinition, task: Task, channels: Channels): string {
  const { cache, reads } = node;
  const name = { graph: graph.name, node: task.node };
  if (!cache?.key) return digestOf({ ...name, seen: task.input !== undefined ? task.input : readsOf(channels, reads) });
  const given = task.input !== undefined ? task.input : channels;
  try {
    const state = seenState(graph, task.node, node, given, task.input !== undefined);
    return digestOf({ ...name, key: String(cache.key(state)) });
  } catch (error) {
    throw new GraphRunError('NODE_FAILED', `The cache key of "${task.node}" failed: ${messageOf(error)}`, task.node, {
      cause: error,
    });
  }
}

/** The outcome under a key, unless it is too old. */
export function cachedAt(cache: OutcomeCache, key: string, at: string): CompletedOutcome | undefined {
  const entry = cache[key];
  if (!entry || (entry.until !== undefined && at >= entry.until)) return undefined;
  return entry.outcome;
}

/** The cache with one outcome more; the oldest go where there are too many. */
function remember(cache: OutcomeCache, key: string, entry: CachedOutcome): OutcomeCache {
  const entries = [...Object.entries(cache).filter(([one]) => one !== key), [key, entry] as const];
  const sizes = entries.map((one) => bytesOf(one));
  let bytes = sizes.reduce((sum, size) => sum + size, 0);
  const kept = entries.filter((_, index) => {
    if (bytes <= MAX_BYTES) return true;
    bytes -= sizes[index] ?? 0;
    return false;
  });
  return Object.fromEntries(kept);
}

/** A run that remembers what a finished task wrote, where its node may be cached and nobody was asked. */
export function withRemembered(
  graph: AnyGraph,
  state: EngineSnapshot,
  { task, outcome, at }: { readonly task: Task; readonly outcome: CompletedOutcome; readonly at: string },
): EngineSnapshot {
  if (task.cacheKey === undefined || task.answers.length > 0) return state;
  const { ttl } = definitionAt(graph, nodePathOf(task.id))?.cache ?? {};
  const ms = ttl === undefined ? undefined : millisecondsOf(ttl);
  const entry = { outcome: keptOf(outcome), ...(ms !== undefined && { until: laterBy(at, ms) }) };
  return { ...state, cache: remember(state.cache ?? {}, task.cacheKey, entry) };
}
