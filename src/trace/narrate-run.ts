import type { AnyGraph } from '../graph/compiled-graph';
import type { GraphEngine } from '../graph/engine';
import { AbeyanceError, messageOf } from '../graph/errors';
import type { Narrator } from '../graph/narrator';
import { activitiesOf, closesActivity, type ActivityEvents } from './activity-events';
import { childTasksOf, type ChildTask } from './child-events';
import { decisionsOf, type DecisionArrived } from './decisions-of';
import { Folding } from './folding';
import { eventIdOf, eventsOf, type HistoryEvent } from './history-event';
import { LocalActivities } from './local-activities';
import { endOfRun } from './run-end';
import { startEngine } from './start-engine';
import { textOf } from './untrusted';
import { workflowTasksOf, type WorkflowTask } from './workflow-tasks-of';

const FIRST_EVENT = 1;

/** Whom a run is told to, and how. */
export interface Telling {
  readonly graph: AnyGraph;
  readonly narrator: Narrator;
  /** Nothing was told before: a run that goes on from another begins with where it stands. */
  readonly opening: boolean;
  /** Called before anything is told, with the number of the event it comes with. */
  readonly onEvent: (event: number) => void;
}

/**
 * Tells what happens in a run as its history comes in, part by part.
 *
 * A part must not end among the events of one workflow task; the server hands those out together.
 */
export class RunNarration {
  /** The run that goes on with this one, once it has rolled over. */
  nextRun: string | undefined;
  private first: HistoryEvent | undefined;
  private pending: readonly HistoryEvent[] = [];
  private readonly locals = new LocalActivities();
  private readonly activities = new Map<string, ActivityEvents>();
  private readonly decisions = new Map<string, DecisionArrived>();
  private readonly children = new Map<string, ChildTask>();
  private readonly fold = { verdicts: new Map(), views: new Map(), visits: new Map() };
  private folding: Folding | undefined;
  private broken: Error | undefined;
  private told = 0;

  constructor(private readonly telling: Telling) {}

  /** Takes the events that came next. @throws {TypeError} where the graph does not fit the history. */
  take(raw: readonly unknown[]): void {
    const events = this.locals.read(eventsOf({ events: raw }));
    this.first ??= events[0];
    this.note(events);
    this.pending = [...this.pending, ...events];
    for (const task of workflowTasksOf(this.pending)) if (Number(task.completed.id) > this.told) this.step(task);
    this.refuseMismatch(events);
    for (const event of events) this.end(event);
  }

  private note(events: readonly HistoryEvent[]): void {
    for (const [id, decision] of decisionsOf(events)) this.decisions.set(id, decision);
    for (const [id, activity] of activitiesOf(events)) this.activities.set(id, activity);
    for (const [id, child] of childTasksOf(events)) this.children.set(id, child);
    for (const event of events) {
      const id = eventIdOf(event.attributes.scheduledEventId);
      const activity = this.activities.get(id);
      if (!activity) continue;
      if (event.kind === 'activityTaskStarted') this.activities.set(id, { ...activity, started: event });
      else if (closesActivity(event)) this.activities.set(id, { ...activity, closed: event });
    }
  }

  private step(task: WorkflowTask): void {
    this.told = Number(task.completed.id);
    this.telling.onEvent(this.told);
    if (this.broken === undefined && this.folding?.isOver !== true) {
      try {
        this.folding ??= this.begin(task);
        this.folding.step(task);
      } catch (error) {
        this.broken = error instanceof Error ? error : new TypeError(messageOf(error));
      }
    }
    this.forget(task);
  }

  private begin({ started }: WorkflowTask): Folding {
    const { graph, narrator } = this.telling;
    const continued = textOf(this.first?.attributes.continuedExecutionRunId) !== undefined;
    const engine = startEngine(graph, this.pending, narrator.watching(continued));
    if (continued) this.takeUp(engine, started.at.iso);
    else narrator.look(engine, started.at.iso);
    const { activities, decisions, children, fold } = this;
    const about = { first: this.first as HistoryEvent, workflowId: undefined, runId: '', firstRunId: '' };
    const run = { ...about, events: [], recorded: 0, graph: graph.name, activities, decisions, children };
    return new Folding(graph, run, fold, engine, { narrator });
  }

  // Told under the run's first event, so that the places of what follows are the same for every reader.
  private takeUp(engine: GraphEngine, at: string): void {
    const { narrator, opening, onEvent } = this.telling;
    narrator.takeUp(engine);
    if (!opening) return;
    onEvent(FIRST_EVENT);
    narrator.stands(engine, at);
    onEvent(this.told);
  }

  // What was told is not needed any more, and a run may have tens of thousands of events.
  private forget({ started, arrived, locals, signals, updates }: WorkflowTask): void {
    this.pending = this.pending.slice(this.pending.indexOf(started));
    for (const { attributes } of [...arrived, ...locals])
      this.activities.delete(eventIdOf(attributes.scheduledEventId));
    for (const { id } of [...signals, ...updates]) this.decisions.delete(id);
    for (const map of Object.values(this.fold)) map.clear();
  }

  // What the engine of a failed run throws has failed the run, and the history says so.
  private refuseMismatch(events: readonly HistoryEvent[]): void {
    if (this.broken === undefined) return;
    if (this.broken instanceof AbeyanceError && events.some(({ kind }) => kind === 'workflowExecutionFailed')) return;
    throw this.broken;
  }

  private end(event: HistoryEvent): void {
    const end = endOfRun(event);
    if (end?.kind === 'rolled') this.nextRun = end.nextRun;
    if (end?.kind !== 'ended') return;
    this.telling.onEvent(Number(event.id));
    this.telling.narrator.ended(end.told, new Date(Math.floor(event.at.ms)).toISOString());
  }
}
