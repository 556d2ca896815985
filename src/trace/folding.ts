import { AsyncLocalStorage } from 'node:async_hooks';
import type { Checkpoints } from '../graph/checkpoints';
import type { AnyGraph } from '../graph/compiled-graph';
import type { Verdict } from '../graph/decision';
import type { Dispatch } from '../graph/dispatch';
import { laterOf } from '../graph/duration';
import type { StateEdit } from '../graph/edit-state';
import type { Concluded, GraphEngine } from '../graph/engine';
import { AbeyanceError, messageOf } from '../graph/errors';
import { isJsonObject, type Json } from '../graph/json';
import { placeOf, type Narrator } from '../graph/narrator';
import { toolCallOf } from '../graph/node-call';
import type { WorkflowNode } from '../graph/node-definition';
import { provideNodeRunStorage, type NodeRun } from '../graph/node-run';
import type { Outcome } from '../graph/outcome';
import { viewOf, type RunView } from '../graph/run-view';
import { unknownToolOutcome } from '../graph/tool-messages';
import { beganChild, childFailureOf, closesChild, leftBy, reportIn } from './child-events';
import { editIn } from './edit-in';
import type { Fold, FoldedVisit } from './fold-run';
import { eventIdOf, type HistoryEvent } from './history-event';
import { toldAt } from './local-activities';
import { isoOf, laterMoment, type Moment } from './moment';
import { narrateActivity } from './narrate-activity';
import { nodeFailureOf } from './node-failure-of';
import { firstPayload, jsonOf } from './payload';
import { runAgain } from './run-again';
import type { RunEvents } from './run-events';
import { activityIdOf, runsHere, TaskStarts } from './task-starts';
import { objectOf, textOf } from './untrusted';
import { workflowTasksOf, type WorkflowTask } from './workflow-tasks-of';

interface Written extends Fold {
  readonly verdicts: Map<string, Verdict>;
  readonly views: Map<string, RunView>;
  readonly visits: Map<string, FoldedVisit[]>;
}

/** Who else is told of what is folded. */
interface Listeners {
  readonly checkpoints?: Checkpoints;
  readonly narrator?: Narrator;
}

/** Steps a graph through a run's workflow tasks. */
export class Folding {
  private readonly placed = new Map<number, string>();
  private readonly given = new Set<string>();
  private readonly starts: TaskStarts | undefined;
  /** The events that brought decisions which were passed on, by token. */
  private readonly passed = new Map<string, readonly string[]>();
  private ended = false;
  /** What time the workflow takes it to be. */
  private at: Moment = { iso: '', ms: 0 };

  constructor(
    private readonly graph: AnyGraph,
    private readonly history: RunEvents,
    private readonly fold: Written,
    readonly engine: GraphEngine,
    private readonly listeners: Listeners,
  ) {
    provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());
    this.starts = listeners.narrator && new TaskStarts(listeners.narrator);
  }

  run(): void {
    for (const task of workflowTasksOf(this.history.events)) {
      this.step(task);
      if (this.ended) break;
    }
    // A kept decision gets its last verdict later than its first.
    for (const [index, event] of this.placed) {
      const record = this.engine.decisions[index];
      if (record) this.fold.verdicts.set(event, record.verdict);
    }
  }

  /** True once the run can do nothing more but end. */
  get isOver(): boolean {
    return this.ended;
  }

  /** Does what the run did in a workflow task. @throws what the run failed with; TypeError where the graph does not fit. */
  step(task: WorkflowTask): void {
    const at = (this.at = laterMoment(this.at, task.started.at));
    // What the run's timer was set for, where it has one.
    const due = this.engine.nextExpiry();
    this.fold.visits.set(task.completed.id, []);
    this.runReady(task);
    for (const event of task.signals) this.hear(event, at);
    for (const event of task.arrived) {
      if (closesChild(event)) this.settleChild(event, at);
      else this.settle(event, at);
      this.listeners.narrator?.look(this.engine, isoOf(at));
    }
    if (this.ended) return;
    this.runReady(task);
    for (const event of [...task.signals, ...task.updates]) {
      const edit = editIn(event);
      if (edit) this.edit(edit, at);
      else this.decide(event, at);
      this.listeners.checkpoints?.note(this.history.firstRunId, this.engine, isoOf(at));
      this.listeners.narrator?.look(this.engine, isoOf(at));
    }
    this.runReady(task);
    if (due !== undefined && task.timers.length > 0 && this.engine.nextExpiry() === due) {
      this.engine.expire(laterOf(due, isoOf(at)));
      this.runReady(task);
    }
    for (const event of task.locals) {
      this.at = laterMoment(this.at, toldAt(event));
      this.settle(event, this.at);
      this.listeners.narrator?.look(this.engine, isoOf(this.at));
      if (this.ended) return;
      this.runReady(task);
    }
    this.expectScheduled(task);
    this.starts?.scheduled(task, isoOf(this.at));
    this.listeners.narrator?.rest(this.engine, isoOf(this.at));
    this.fold.views.set(task.completed.id, viewOf(this.engine));
  }

  private hear(event: HistoryEvent, at: Moment): void {
    const report = reportIn(event);
    if (!report) return;
    this.conclude(this.engine.hear(report, isoOf(at)));
    this.listeners.narrator?.look(this.engine, isoOf(at));
  }

  private conclude(all: readonly Concluded[]): void {
    for (const { token, verdict } of all) {
      this.listeners.narrator?.decided(verdict);
      for (const event of this.passed.get(token) ?? []) this.fold.verdicts.set(event, verdict);
    }
  }

  private settleChild(event: HistoryEvent, at: Moment): void {
    const { task } = this.history.children.get(beganChild(event)) ?? {};
    if (task === undefined) return;
    this.conclude(this.engine.unheard(task, isoOf(at)));
    if (!this.engine.isRunning(task)) return;
    const left = leftBy(event);
    if (left) this.engine.settleSubgraph(task, left, isoOf(at));
    else this.ended = !this.engine.settleFailure(task, childFailureOf(task, event), isoOf(at));
  }

  private settle({ kind, attributes }: HistoryEvent, at: Moment): void {
    const { activities } = this.history;
    const scheduled = activities.get(eventIdOf(attributes.scheduledEventId))?.scheduled;
    const id = textOf(scheduled?.attributes.activityId);
    if (id === undefined || !this.given.has(id)) return;
    const task = id.slice(0, id.lastIndexOf('#'));
    if (!this.engine.isRunning(task)) return;
    if (kind === 'activityTaskCanceled') {
      this.ended = true;
      return;
    }
    const { narrator } = this.listeners;
    if (narrator) narrateActivity(narrator, id, activities.get(eventIdOf(attributes.scheduledEventId)), isoOf(at));
    if (kind !== 'activityTaskCompleted') return this.settleFailure(task, attributes, at);
    const outcome = jsonOf(firstPayload(attributes.result));
    if (!isJsonObject(outcome)) throw new TypeError(`the result of activity ${id} cannot be read`);
    this.engine.settle(task, outcome as unknown as Outcome, isoOf(at));
  }

  private settleFailure(task: string, attributes: HistoryEvent['attributes'], at: Moment): void {
    this.ended = !this.engine.settleFailure(task, nodeFailureOf(task, attributes.failure), isoOf(at));
  }

  private decide(event: HistoryEvent, at: Moment): void {
    const decision = this.history.decisions.get(event.id)?.decision;
    if (!decision) return;
    if (this.engine.status === 'done') {
      const message = 'The run had ended; there was nothing left to decide.';
      this.fold.verdicts.set(event.id, { kind: 'refused', code: 'THREAD_FINISHED', message, open: [] });
      return;
    }
    const due = this.engine.nextExpiry();
    if (decision.via === 'update' && due !== undefined && due <= isoOf(at)) this.engine.expire(isoOf(at));
    const token = this.engine.passOn(decision, isoOf(at));
    if (token !== undefined) {
      this.passed.set(token, [...(this.passed.get(token) ?? []), event.id]);
      return;
    }
    const before = this.engine.decisions.length;
    const verdict = this.engine.decide(decision, isoOf(at));
    this.listeners.narrator?.decided(verdict);
    this.fold.verdicts.set(event.id, verdict);
    if (this.engine.decisions.length > before) this.placed.set(before, event.id);
  }

  // One that came while the run was running was refused.
  private edit(edit: StateEdit, at: Moment): void {
    if (this.engine.status === 'running') return;
    try {
      this.engine.edit(edit, isoOf(at));
    } catch (error) {
      if (!(error instanceof AbeyanceError)) throw error;
    }
  }

  private runReady(task: WorkflowTask): void {
    for (;;) {
      this.engine.moveOn();
      this.listeners.checkpoints?.note(this.history.firstRunId, this.engine, isoOf(this.at));
      const ready = this.engine.take();
      const children = this.engine.takeChildren(isoOf(this.at));
      if (ready.length === 0 && children.length === 0) return;
      this.starts?.givenOut(ready, task, isoOf(this.at));
      for (const dispatch of ready) this.dispatch(dispatch, task);
    }
  }

  private dispatch(dispatch: Dispatch, { completed }: WorkflowTask): void {
    const { at } = this;
    const { task, definition } = dispatch;
    if (definition.kind === 'workflow') {
      const { id, step, visit, answers } = task;
      const outcome = this.outcomeHere(dispatch, definition, at);
      if (!outcome) return this.listeners.narrator?.look(this.engine, isoOf(at));
      this.fold.visits
        .get(completed.id)
        ?.push({ task: id, step, visit, at, eventId: completed.id, input: dispatch.state, answers, outcome });
      this.engine.settle(id, outcome, isoOf(at));
    } else if (definition.kind === 'tools' && runsHere(dispatch)) {
      this.engine.settle(task.id, unknownToolOutcome(definition, toolCallOf(dispatch)), isoOf(at));
    } else {
      this.given.add(activityIdOf(dispatch));
      return;
    }
    this.listeners.narrator?.look(this.engine, isoOf(at));
  }

  // As in the run: what a workflow-side node throws is its failure, which a handler may stand in for.
  private outcomeHere(dispatch: Dispatch, definition: WorkflowNode, at: Moment): Outcome | undefined {
    const { id, node } = dispatch.task;
    if (!this.engine.isRunning(id)) return undefined;
    let outcome: Outcome | Promise<Outcome>;
    try {
      let written = 0;
      const place = { ...placeOf(dispatch.task), attempt: 1 };
      const write = (chunk: Json): void => this.listeners.narrator?.wrote(place, written++, chunk, isoOf(at));
      outcome = runAgain(dispatch, definition, write);
    } catch (error) {
      const known = error instanceof AbeyanceError ? error : undefined;
      const failure = {
        node,
        code: known?.code ?? 'NODE_FAILED',
        message: known?.message ?? `Node "${node}" failed: ${messageOf(error)}`,
      };
      if (!this.engine.settleFailure(id, failure, isoOf(at))) throw error;
      return undefined;
    }
    if (!(outcome instanceof Promise)) return outcome;
    outcome.catch(() => undefined);
    throw new TypeError(`node "${node}" runs in workflow code and is asynchronous`);
  }

  private expectScheduled({ scheduled }: WorkflowTask): void {
    const stranger = scheduled
      .map(({ attributes }) => attributes)
      .filter(({ activityType }) => textOf(objectOf(activityType).name)?.startsWith(`${this.graph.name}.`))
      .map(({ activityId }) => textOf(activityId) ?? '')
      .find((id) => !this.given.has(id));
    if (stranger !== undefined) throw new TypeError(`the run scheduled ${stranger}, which this graph does not`);
  }
}
