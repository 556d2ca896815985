import type { AnyGraph } from '../graph/compiled-graph';
import { buildRun } from './build-run';
import { finished } from './finish-items';
import { HistoryError } from './history-error';
import type { HistoryInput } from './history-event';
import { momentOf, spanOf, type Clock } from './moment';
import { notesOf } from './notes-of';
import { endOf, RunReader } from './read-run';
import { runEventsOf, type RunEvents } from './run-events';
import { totalsOf } from './totals-of';
import type { Run, Trace } from './trace';
import { defined } from './untrusted';

/** What may help to read a history. */
export interface TraceOptions {
  /** The graph, for exact verdicts, values and workflow-side nodes; it must be the version that ran. */
  readonly graph?: AnyGraph;
  /** Up to when what is still open is measured; default the last event. */
  readonly now?: Date;
}

/**
 * Reads a thread’s trace from its histories: one for each of its runs, in any order.
 *
 * Needs no server and no worker, and changes nothing it is given. What only the graph can tell is told when it is given,
 * and said to be missing when not. Events and payloads it does not know are counted or shown as what they are: a strange
 * history gives a poorer trace, never an error. Payloads that a codec has encoded are shown as such; undo it before with
 * `decodeHistory`.
 *
 * @throws {HistoryError} `NO_HISTORY` when no run is in them, `SEVERAL_THREADS` when they are of several threads.
 * @example
 * const history = JSON.parse(readFileSync('order-42.json', 'utf8')) as HistoryInput;
 * const trace = traceOf([history], { graph: order });
 */
export function traceOf(histories: readonly HistoryInput[], { graph, now }: TraceOptions = {}): Trace {
  const runs = runsIn(histories);
  const newest = runs.at(-1) as RunEvents;
  const clock = clockOf(runs, now);
  const readers = runs.map((run) => new RunReader(run, graph));
  const built = finished(readers.map((reader) => buildRun(reader, reader.read(), clock)));
  const { status } = built.at(-1) as Run;
  // A run that rolled over goes on, whether its successor was given or not.
  const goesOn = status === 'continued';
  const { fingerprint } = readers.findLast(({ standing }) => standing?.fingerprint)?.standing ?? {};
  return {
    format: 'abeyance.trace',
    version: 1,
    thread: defined({
      id: newest.workflowId ?? 'unknown',
      graph: newest.graph,
      fingerprint,
      status: goesOn ? 'running' : status,
      span: spanOf(clock, clock.start, goesOn ? undefined : endOf(newest)?.event.at),
    }),
    totals: totalsOf(built),
    runs: built,
    notes: notesOf(readers, built),
  };
}

/** The runs of the histories, oldest first, each once. */
function runsIn(histories: readonly HistoryInput[]): readonly RunEvents[] {
  const byId = new Map<string, RunEvents>();
  for (const run of histories.map(runEventsOf)) {
    if (run && (byId.get(run.runId)?.events.length ?? 0) < run.events.length) byId.set(run.runId, run);
  }
  const runs = [...byId.values()].sort((a, b) => a.first.at.ms - b.first.at.ms);
  const threads = new Set(runs.map(({ workflowId }) => workflowId));
  if (threads.size > 1) {
    const message = `The histories are of several threads: ${[...threads].join(', ')}. Make a trace of each by itself.`;
    throw new HistoryError('SEVERAL_THREADS', message);
  }
  if (runs.length > 0) return runs;
  const message =
    'No history begins with the start of a workflow. Give whole histories, as the Temporal UI or `temporal workflow show -o json` export them.';
  throw new HistoryError('NO_HISTORY', message);
}

function clockOf(runs: readonly RunEvents[], now: Date | undefined): Clock {
  const [first] = runs as readonly [RunEvents];
  const times = runs.map(({ events, first: start }) => (events.at(-1) ?? start).at);
  const last = times.reduce((latest, at) => (at.ms > latest.ms ? at : latest));
  return { start: first.first.at, now: now ? momentOf(now) : last };
}
