import type { ChildReport } from '../graph/child-report';
import type { AnyGraph } from '../graph/compiled-graph';
import { OMITTED } from '../graph/run-view';
import { plainValues } from '../graph/subgraph-result';
import { closesActivity, type ActivityEvents } from './activity-events';
import { activityItemOf, answersOf } from './activity-item';
import { otherEntriesOf, type OtherEntries } from './other-entries';
import { checkpointAt } from './checkpoint-at';
import { beganChild, closesChild, reportIn } from './child-events';
import { DecisionEntry, type Entry } from './decision-entry';
import { decides, decisionsReported, messageIn, verdictOf } from './decisions-of';
import { foldRun, type Fold } from './fold-run';
import { visitItemOf } from './folded-item';
import { eventIdOf, type HistoryEvent } from './history-event';
import { isLocal } from './local-activities';
import { memoIn, placeOf, type Standing } from './memo-of';
import { spanOf, type Clock, type Moment } from './moment';
import { outcomeOf, questionsIn } from './node-outcome';
import { firstPayload, jsonOf, payloadsOf } from './payload';
import type { Json } from '../graph/json';
import type { Recorded } from './recorded';
import type { RunEvents } from './run-events';
import { StopBuilder } from './stop-builder';
import type { Stop } from './trace';
import { objectOf } from './untrusted';
import { WaitDesk } from './wait-desk';

/** How a run ended, by the event that says so. */
const ENDS: Readonly<Record<string, Stop['ended']>> = {
  workflowExecutionCompleted: 'done',
  workflowExecutionFailed: 'failed',
  workflowExecutionCanceled: 'cancelled',
  workflowExecutionTerminated: 'terminated',
  workflowExecutionTimedOut: 'timed-out',
  workflowExecutionContinuedAsNew: 'continued',
};

/** The event that ended a run, and how. */
export function endOf({
  events,
}: RunEvents): { readonly event: HistoryEvent; readonly how: Stop['ended'] } | undefined {
  const event = events.findLast(({ kind }) => kind in ENDS);
  return event && { event, how: ENDS[event.kind] as Stop['ended'] };
}

function plainResult(given: Recorded | undefined): Recorded | undefined {
  return given?.kind === 'json' ? { kind: 'json', value: plainValues(objectOf(given.value)) as Json } : given;
}

/** Reads a run event by event, and cuts it where it stopped. */
export class RunReader {
  readonly fold: Fold | undefined;
  readonly unknown = new Map<string, number>();
  standing: Standing | undefined;
  private readonly stops: StopBuilder[];
  private readonly desk: WaitDesk;
  private readonly others: OtherEntries;
  private readonly running = new Set<string>();
  /** The workflow task whose commands are being read, where nothing has followed it yet. */
  private task: HistoryEvent | undefined;
  private lastTask = '';
  private visitsDue: string | undefined;
  private index = 0;

  constructor(
    readonly run: RunEvents,
    graph: AnyGraph | undefined,
  ) {
    const { first } = run;
    this.fold = graph && foldRun(graph, run);
    this.stops = [new StopBuilder(first.attributes.continuedExecutionRunId ? 'continued' : 'start', first.at)];
    this.desk = new WaitDesk(first.at);
    this.others = otherEntriesOf(run.events);
  }

  /** Reads it all; gives the stops, ready to be built when the thread's clock is known. */
  read(): readonly StopBuilder[] {
    for (const [index, event] of this.run.events.entries()) {
      this.index = index;
      this.take(event);
    }
    this.pauseIfStill();
    return this.stops;
  }

  private get current(): StopBuilder {
    return this.stops.at(-1) as StopBuilder;
  }

  private take(event: HistoryEvent): void {
    const other = this.others.entries.get(event.id);
    if (closesChild(event)) this.childEnded(event);
    else if (event.kind === 'startChildWorkflowExecutionInitiated') this.running.add(event.id);
    if (other) this.happened(event, other);
    else if (event.kind === 'timerFired') this.desk.fired(event);
    else if (event.kind === 'activityTaskScheduled') this.scheduled(event);
    else if (closesActivity(event)) this.closed(event);
    else if (messageIn(event)) this.message(event);
    else if (event.kind === 'workflowPropertiesModified') this.published(event);
    else if (event.kind === 'workflowExecutionStarted') this.tookOver(event);
    else if (event.kind === 'workflowTaskScheduled') this.pauseIfStill();
    else if (event.kind === 'workflowTaskCompleted') this.completedTask(event);
    else if (event.kind in ENDS) this.end(event);
    else if (!this.others.known.has(event.kind)) this.unknown.set(event.kind, (this.unknown.get(event.kind) ?? 0) + 1);
  }

  /** A run that goes on from another begins where that one stood. */
  private tookOver(event: HistoryEvent): void {
    const standing = event.attributes.continuedExecutionRunId ? memoIn(event) : undefined;
    if (standing === undefined || standing === 'unreadable') return;
    this.standing = standing;
    this.current.add(...this.desk.publish(standing.questions, event.at, ''));
    if (standing.isWaiting) this.pause(event.at, standing);
  }

  private completedTask(event: HistoryEvent): void {
    this.task = event;
    this.lastTask = event.id;
    this.visitsDue = event.id;
  }

  private scheduled(event: HistoryEvent): void {
    const activity = this.run.activities.get(event.id) as ActivityEvents;
    const call = objectOf(jsonOf(payloadsOf(event.attributes.input)[1]));
    this.desk.hand(answersOf(call.answers), event.at);
    const { task } = this;
    const stop = this.work(event.at, event);
    // It ran within the workflow task.
    if (isLocal(event)) this.task = task;
    this.addVisits();
    this.running.add(event.id);
    stop.add({ build: (clock: Clock) => activityItemOf(this.run.graph, activity, clock) });
  }

  private closed(event: HistoryEvent): void {
    const scheduledId = eventIdOf(event.attributes.scheduledEventId);
    this.running.delete(scheduledId);
    // The run has yet to see it.
    if (!isLocal(event)) this.task = undefined;
    const result = firstPayload(event.attributes.result);
    if (!result) return;
    const outcome = outcomeOf(result);
    if (outcome.kind === 'rejected') this.desk.sendBack(outcome.question, outcome.reason, event.at);
    if (outcome.kind === 'interrupted') this.ask(objectOf(jsonOf(result)).questions, event.at);
  }

  private happened(event: HistoryEvent, entry: Entry): void {
    const stop = this.work(event.at, event);
    this.addVisits();
    stop.add(entry);
  }

  private childEnded(event: HistoryEvent): void {
    this.running.delete(beganChild(event));
    this.task = undefined;
  }

  /** A subgraph that waits for an answer does not run; what was decided on its own thread is decided here too. */
  private hear(report: ChildReport, event: HistoryEvent): void {
    const child = [...this.run.children].find(([, { task, visit }]) => task === report.task && visit === report.visit);
    if (child && report.status === 'waiting') this.running.delete(child[0]);
    else if (child) this.running.add(child[0]);
    for (const { made, verdict } of decisionsReported(report, event)) {
      const entry = new DecisionEntry({ event, made }, verdict, 'history');
      this.current.add(entry);
      if (this.desk.decide(entry) && this.current.isPaused) this.begin('decision', event.at);
    }
  }

  private ask(questions: unknown, at: Moment): void {
    const placed = questionsIn(questions).map((question) => ({ ...question, ...placeOf(question.id) }));
    this.current.add(...this.desk.ask(placed, at));
  }

  private message(event: HistoryEvent): void {
    const message = messageIn(event);
    if (!message || (message.via === 'update' && message.name === 'untilStopped')) return;
    const report = reportIn(event);
    if (report) return this.hear(report, event);
    if (message.via === 'signal') this.pauseIfStill();
    const arrived = this.run.decisions.get(event.id);
    if (!decides(message) || !arrived) {
      const { via, name, args, identity } = message;
      const item = { kind: 'message' as const, via, name, args, ...(identity !== undefined && { identity }) };
      this.current.add({ build: (clock) => ({ ...item, span: spanOf(clock, event.at, event.at) }) });
      return;
    }
    const folded = verdictOf(this.fold?.verdicts.get(event.id));
    const recorded = arrived.verdict;
    const isRecorded = recorded !== undefined && !(recorded.kind === 'kept' && folded);
    const entry = new DecisionEntry(
      arrived,
      isRecorded ? recorded : folded,
      isRecorded ? (arrived.verdictFrom ?? 'history') : 'graph',
    );
    this.current.add(entry);
    if (this.desk.decide(entry) && this.current.isPaused) this.begin('decision', event.at);
  }

  private published(event: HistoryEvent): void {
    const standing = memoIn(event);
    if (standing === undefined || standing === 'unreadable') return;
    this.standing = { ...this.standing, ...standing };
    const waits = standing.isWaiting && standing.questions.length > 0;
    const begun = this.desk.publish(standing.questions, event.at, this.lastTask);
    if (!waits && this.decidedSincePause()) this.work(event.at, event);
    this.addVisits();
    this.current.add(...begun);
    if (waits && !this.current.isPaused) this.pause(event.at, standing);
  }

  /** A run that shows nothing new pauses all the same once nothing of it runs any more. */
  private pauseIfStill(): void {
    const { task } = this;
    this.task = undefined;
    if (task && this.visitsDue !== undefined && !this.current.isPaused) this.addVisits();
    const still = this.running.size === 0 && this.desk.open.length > 0 && this.current.ended === 'running';
    if (task && still) this.pause(task.at, undefined);
  }

  private pause(at: Moment, shown: Standing | undefined): void {
    const view = this.fold?.views.get(this.lastTask);
    const open = this.desk.open.map(({ question }) => question);
    this.current.checkpoint = checkpointAt({ run: this.run, index: this.index, at, shown, view, open });
    this.current.end('paused', at);
  }

  /** Something happens: if the run stood still, it does no more. */
  private work(at: Moment, { kind }: HistoryEvent): StopBuilder {
    if (kind !== 'workflowPropertiesModified') this.task = undefined;
    const decided = this.decidedSincePause();
    if (this.current.isPaused) this.begin(decided ? 'decision' : 'other', decided ?? at);
    return this.current;
  }

  private decidedSincePause(): Moment | undefined {
    const { isPaused, pausedAt } = this.current;
    const { latest } = this.desk;
    return isPaused && latest && pausedAt && latest.ms >= pausedAt.ms ? latest : undefined;
  }

  private begin(how: Stop['began'], at: Moment): void {
    this.current.goOn(at);
    this.stops.push(new StopBuilder(how, at));
  }

  private addVisits(): void {
    const visits = this.fold?.visits.get(this.visitsDue ?? '') ?? [];
    this.visitsDue = undefined;
    for (const visit of visits) {
      // An update is on record only at the end of the workflow task that it set off.
      const at = visit.at.ms < this.current.from.ms ? this.current.from : visit.at;
      this.desk.hand(answersOf(visit.answers), at);
      this.current.add({ build: (clock) => visitItemOf(visit, at, clock) });
      if (visit.outcome.kind === 'interrupted') this.ask(visit.outcome.questions, visit.at);
    }
  }

  private end(event: HistoryEvent): void {
    const how = ENDS[event.kind] as Stop['ended'];
    const task = eventIdOf(event.attributes.workflowTaskCompletedEventId);
    const rolls = how === 'continued' && this.current.isPaused;
    if (rolls) this.current.goOn(event.at);
    else if (this.current.isPaused) this.begin('other', event.at);
    this.addVisits();
    this.desk.end(how === 'continued' ? 'carried' : 'dropped', event.at, task);
    if (rolls) return;
    const view = this.fold?.views.get(this.lastTask);
    if (how === 'done' || view) {
      const given = how === 'done' ? firstPayload(event.attributes.result) : undefined;
      const result = given && OMITTED in objectOf(jsonOf(given)) ? undefined : plainResult(given);
      this.current.checkpoint = checkpointAt({
        run: this.run,
        index: this.index,
        at: event.at,
        result,
        view,
        open: [],
      });
    }
    this.current.end(how, event.at);
  }
}
