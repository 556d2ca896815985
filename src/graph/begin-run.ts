import { breakpointsOf, checkBreakpoints, checkRecursionLimit } from './check-graph';
import type { AnyGraph } from './compiled-graph';
import type { EngineSnapshot, StartOptions } from './engine-snapshot';
import { applyWrites, initialChannels, readEncodedUpdate, refuseHidden } from './write-state';

/**
 * A run before its first superstep: the input is written, nothing is planned.
 *
 * @throws {StateError} when the input does not fit the state. @throws {GraphDefinitionError} for options that are none.
 */
export function beginRun(graph: AnyGraph, input: unknown, options: StartOptions): EngineSnapshot {
  const step = (options.step ?? -1) + 1;
  const limit = options.recursionLimit ?? graph.recursionLimit;
  checkRecursionLimit(limit);
  const breakpoints = breakpointsIn(graph, options);
  refuseHidden(graph.schema, input);
  const update = readEncodedUpdate(graph.schema, input ?? {}, 'input');
  const base = { ...initialChannels(graph.schema), ...options.values };
  const channels = applyWrites(graph.schema, base, [{ node: 'input', task: `${step}.input`, index: 0, update }]);
  return {
    version: 1,
    graph: graph.name,
    fingerprint: graph.fingerprint,
    limit,
    step,
    taken: 0,
    channels,
    tasks: [],
    pending: { joins: {}, deferred: [] },
    ledger: [],
    ...(breakpoints && { breakpoints }),
    ...(options.externalStorage && { externalStorage: true }),
    ...(options.inline && { inline: true }),
    ...(options.parent && { parent: options.parent }),
  };
}

function breakpointsIn(graph: AnyGraph, options: StartOptions): EngineSnapshot['breakpoints'] {
  const before = breakpointsOf(options.interruptBefore);
  const after = breakpointsOf(options.interruptAfter);
  if (before.length === 0 && after.length === 0) return undefined;
  checkBreakpoints(graph.shape, before, after);
  return { before, after };
}
