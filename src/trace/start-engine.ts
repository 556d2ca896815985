import { withoutParent } from '../graph/child-tasks';
import type { AnyGraph } from '../graph/compiled-graph';
import type { StateEdit } from '../graph/edit-state';
import { GraphEngine } from '../graph/engine';
import type { Watch } from '../graph/engine-news';
import type { EngineSnapshot } from '../graph/engine-snapshot';
import type { HistoryEvent } from './history-event';
import { isoOf } from './moment';
import { jsonOf, payloadsOf } from './payload';
import { objectOf, textOf } from './untrusted';
import { workflowTasksOf } from './workflow-tasks-of';

const CARRIED = new Set([
  'values',
  'step',
  'recursionLimit',
  'interruptBefore',
  'interruptAfter',
  'parent',
  'snapshot',
  'edit',
  'idempotencyRun',
  'unreadable',
]);

/** The engine as a run began with it. @throws what the run failed with; TypeError where the graph does not fit. */
export function startEngine(graph: AnyGraph, events: readonly HistoryEvent[], watch?: Watch): GraphEngine {
  const { workflowType, input, parentWorkflowExecution: parent } = events[0]?.attributes ?? {};
  const [began] = workflowTasksOf(events);
  const type = textOf(objectOf(workflowType).name);
  if (type !== graph.name) throw new TypeError(`the run is one of graph "${type}", not "${graph.name}"`);
  const [given, carry] = payloadsOf(input);
  if (given?.kind === 'encoded' || carry?.kind === 'encoded') throw new TypeError('the input is encoded');
  const carried = objectOf(jsonOf(carry));
  const unknown = Object.keys(carried).find((key) => !CARRIED.has(key));
  if (unknown !== undefined) throw new TypeError(`the run took over "${unknown}", which this version does not know`);
  const at = began ? isoOf(began.started.at) : '';
  const own = <T extends object>(begun: T): Omit<T, 'parent'> => (parent ? begun : withoutParent(begun));
  if (carried.snapshot !== undefined) {
    const engine = GraphEngine.retry(graph, own(carried.snapshot as EngineSnapshot), at, watch);
    if (carried.edit !== undefined) engine.mend(carried.edit as StateEdit, at);
    return engine;
  }
  return GraphEngine.start(graph, jsonOf(given) ?? {}, { ...own(carried), at }, watch);
}
