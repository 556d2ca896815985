import type { ToolCall } from './messages';
import type { ToolsNode } from './node-definition';
import { givenCall, rulingsIn } from './ruled-call';
import type { Task } from './task';
import { settledOutcome } from './tool-messages';

/**
 * A tool node's task as one for each of its calls, in the order of the calls.
 *
 * What a gate has settled is done from the start, so that its message has its place among the results of the others.
 */
export function callTasks(task: Task, definition: ToolsNode, calls: readonly ToolCall[]): readonly Task[] {
  const rulings = rulingsIn(task.input);
  let running = 0;
  return calls.map((call, index): Task => {
    const ruling = rulings[index];
    const ruled = { ...task, group: task.id, call: { ...givenCall(call, ruling) } };
    if (ruling?.kind !== 'settled') return { ...ruled, id: `${task.id}.c${running++}` };
    const outcome = settledOutcome(definition, call, ruling);
    return { ...ruled, id: `${task.id}.s${index}`, phase: 'done', outcome };
  });
}
