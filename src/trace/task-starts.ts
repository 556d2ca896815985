import type { Dispatch } from '../graph/dispatch';
import type { Narrator } from '../graph/narrator';
import { toolCallOf } from '../graph/node-call';
import { textOf } from './untrusted';
import type { WorkflowTask } from './workflow-tasks-of';

/**
 * Tells when tasks begin: those that run in workflow code once they are given out, others once they are scheduled.
 *
 * A task that a run has taken and not scheduled has not begun: a run that rolls over hands it on.
 */
export class TaskStarts {
  private readonly due = new Map<string, Dispatch>();

  constructor(private readonly narrator: Narrator) {}

  /** Tasks were given out. `at` is ISO 8601. */
  givenOut(dispatches: readonly Dispatch[], task: WorkflowTask, at: string): void {
    const scheduled = scheduledIn(task);
    const begun = dispatches.filter((dispatch) => runsHere(dispatch) || scheduled.has(activityIdOf(dispatch)));
    for (const dispatch of dispatches) if (!begun.includes(dispatch)) this.due.set(activityIdOf(dispatch), dispatch);
    this.narrator.started(begun, at);
  }

  /** The workflow task has scheduled all that it did. */
  scheduled(task: WorkflowTask, at: string): void {
    if (this.due.size === 0) return;
    for (const id of scheduledIn(task)) {
      const dispatch = this.due.get(id);
      if (dispatch) this.narrator.started([dispatch], at);
      this.due.delete(id);
    }
  }
}

/** True for a task that is no activity: of a node in workflow code, or a call of a tool that its node does not have. */
export function runsHere(dispatch: Dispatch): boolean {
  const { definition } = dispatch;
  if (definition.kind !== 'tools') return definition.kind === 'workflow';
  return !definition.tools.some(({ name }) => name === toolCallOf(dispatch).name);
}

/** The id that a task is scheduled under. */
export function activityIdOf({ task }: Dispatch): string {
  return `${task.id}#${task.visit}`;
}

function scheduledIn({ scheduled }: WorkflowTask): ReadonlySet<string> {
  return new Set(scheduled.map(({ attributes }) => textOf(attributes.activityId) ?? ''));
}
