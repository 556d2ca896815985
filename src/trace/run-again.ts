import type { Dispatch } from '../graph/dispatch';
import type { Json } from '../graph/json';
import type { WorkflowNode } from '../graph/node-definition';
import { NodeRun } from '../graph/node-run';
import type { Outcome } from '../graph/outcome';
import { runBody } from '../graph/run-body';
import { seenState } from '../graph/seen-state';

/** Runs a node that lives in workflow code once more, outside its run; `write` is told what it shows. */
export function runAgain(
  { graph, task, state }: Dispatch,
  definition: WorkflowNode,
  write: (chunk: Json) => void,
): Outcome | Promise<Outcome> {
  const { id, node, step, visit, answers, once } = task;
  const info = { threadId: '', graph: graph.name, node, task: id, step, visit, attempt: 1, idempotencyKey: '' };
  const ports = { signal: new AbortController().signal, saveOnce: () => undefined, write };
  const run = new NodeRun(info, answers, once, ports);
  const seen = seenState(graph, node, definition, state, task.input !== undefined);
  return runBody({ graph, body: definition.fn, state: seen, run });
}
