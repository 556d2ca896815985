import { readReport, type ChildReport } from '../graph/child-report';
import type { NodeFailure } from '../graph/node-definition';
import { endOfResult } from '../graph/subgraph-result';
import type { SubgraphEnd } from '../graph/child-tasks';
import { nodePathOf } from '../graph/task';
import { eventIdOf, type HistoryEvent } from './history-event';
import { firstPayload, jsonOf, payloadsOf } from './payload';
import { failureOf } from './read-failure';
import { numberOf, objectOf, textOf } from './untrusted';

const ENDS = [
  'startChildWorkflowExecutionFailed',
  'childWorkflowExecutionCompleted',
  'childWorkflowExecutionFailed',
  'childWorkflowExecutionCanceled',
  'childWorkflowExecutionTimedOut',
  'childWorkflowExecutionTerminated',
];

// Their events tell no failure; this is how the SDK words it to the run.
const UNTOLD: Readonly<Record<string, string>> = {
  startChildWorkflowExecutionFailed: 'Workflow execution already started',
  childWorkflowExecutionTimedOut: 'Timed out',
  childWorkflowExecutionTerminated: 'Terminated',
};

/** The task of a run's graph that a child workflow stands for. */
export interface ChildTask {
  readonly task: string;
  readonly visit: number;
}

/** True for an event by which a child workflow ended, or could not start. */
export function closesChild({ kind }: HistoryEvent): boolean {
  return ENDS.includes(kind);
}

/** The child workflows of a run that are subgraphs of its graph, by the id of the event that began each. */
export function childTasksOf(events: readonly HistoryEvent[]): ReadonlyMap<string, ChildTask> {
  return new Map(
    events.flatMap(({ id, kind, attributes }) => {
      if (kind !== 'startChildWorkflowExecutionInitiated') return [];
      const { parent } = objectOf(jsonOf(payloadsOf(attributes.input)[1]));
      const { task, visit } = objectOf(parent);
      const [name, times] = [textOf(task), numberOf(visit)];
      return name === undefined || times === undefined ? [] : [[id, { task: name, visit: times }] as const];
    }),
  );
}

/** The event that began the child workflow that this one closes. */
export function beganChild({ attributes }: HistoryEvent): string {
  return eventIdOf(attributes.initiatedEventId);
}

/** What a child workflow that is a subgraph told with this event. */
export function reportIn({ kind, attributes }: HistoryEvent): ChildReport | undefined {
  if (kind !== 'workflowExecutionSignaled' || attributes.signalName !== 'childReport') return undefined;
  return readReport(jsonOf(firstPayload(attributes.input)));
}

/** What a child workflow has left to the run around it, where it completed. */
export function leftBy({ kind, attributes }: HistoryEvent): SubgraphEnd | undefined {
  if (kind !== 'childWorkflowExecutionCompleted') return undefined;
  return endOfResult(objectOf(jsonOf(firstPayload(attributes.result))));
}

/** How a child workflow failed, as the run around told it to the node's `onError`. */
export function childFailureOf(task: string, { kind, attributes }: HistoryEvent): NodeFailure {
  const path = nodePathOf(task);
  if (kind === 'childWorkflowExecutionCanceled') {
    return { node: path, code: 'RUN_CANCELLED', message: `Subgraph "${path}" was cancelled.` };
  }
  const { code, message = UNTOLD[kind] ?? 'it failed', details = [] } = failureOf(attributes.failure) ?? {};
  const { node, path: deeper } = objectOf(jsonOf(details[0]));
  const within = textOf(deeper) ?? textOf(node);
  if (code === undefined) return { node: path, code: 'NODE_FAILED', message: `Subgraph "${path}" failed: ${message}` };
  const at = within === undefined ? path : `${path}/${within}`;
  return { node: textOf(node) ?? path, code, message: `Subgraph "${path}" failed at "${at}": ${message}` };
}
