import type { HistoryEvent } from './history-event';
import { jsonOf } from './payload';
import type { RunReader } from './read-run';
import type { Item } from './item';
import type { Note, Run } from './trace';
import { objectOf } from './untrusted';

/** What the trace of these runs does not know, and why. */
export function notesOf(readers: readonly RunReader[], runs: readonly Run[]): readonly Note[] {
  return [...missingRuns(runs), ...readers.flatMap(notesOfReader), ...runs.flatMap(encodedIn)];
}

function missingRuns(runs: readonly Run[]): readonly Note[] {
  const given = new Set(runs.map(({ runId }) => runId));
  const absent = (id: string | undefined): boolean => id !== undefined && !given.has(id);
  const before = runs.find(({ previousRunId }) => absent(previousRunId));
  const after = runs.find(({ nextRunId }) => absent(nextRunId));
  // A later run of a thread takes over values and step; a first one may be started with no more than a limit.
  const [first] = runs;
  const isLater = first && first.previousRunId === undefined && 'step' in objectOf(jsonOf(first.carry));
  return [
    ...(before ? [missing(`Run ${before.previousRunId}, which this thread continues, was not given.`)] : []),
    ...(isLater ? [missing('The thread had earlier runs, whose histories were not given.')] : []),
    ...(after ? [missing(`Run ${after.nextRunId}, with which this thread goes on, was not given.`)] : []),
  ];
}

function missing(message: string): Note {
  return { kind: 'runs-missing', message };
}

function notesOfReader({ run: { runId, events }, fold, unknown }: RunReader): readonly Note[] {
  const kinds = [...unknown].map(([kind, count]) => `${kind} (${count})`).join(', ');
  const failed = events.filter((event) => event.kind === 'workflowTaskFailed' && !isHousekeeping(event)).length;
  const notes: readonly [Note['kind'], string | false][] = [
    ['unknown-events', kinds !== '' && `Events that this version does not know: ${kinds}.`],
    ['task-failed', failed > 0 && `Workflow tasks that failed and ran again: ${failed}. The worker’s log says why.`],
    ['not-folded', fold?.broken !== undefined && `The graph could not follow this run: ${fold.broken}.`],
  ];
  return notes.flatMap(([kind, message]) => (message === false ? [] : [{ kind, message, runId }]));
}

// The server's own: a message came in just as the run ended or rolled over, so the task is simply done again.
function isHousekeeping({ attributes: { cause } }: HistoryEvent): boolean {
  return cause === 1 || cause === 'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND';
}

function encodedIn({ runId, input, stops }: Run): readonly Note[] {
  const isEncoded = input.kind === 'encoded' || stops.some(({ items }) => items.some(hasEncoded));
  const message =
    'Payloads of this run are encoded. Undo their codec with decodeHistory to see them; what an external storage holds is not read.';
  return isEncoded ? [{ kind: 'encoded', message, runId }] : [];
}

function hasEncoded(item: Item): boolean {
  if (item.kind === 'tool') return item.given.kind === 'encoded';
  return item.kind === 'node' && item.input.kind === 'encoded';
}
