import { AsyncLocalStorage } from 'node:async_hooks';
import type { Checkpoints } from '../graph/checkpoints';
import type { AnyGraph } from '../graph/compiled-graph';
import { withoutParent } from '../graph/child-tasks';
import type { Verdict } from '../graph/decision';
import { laterOf } from '../graph/duration';
import type { StateEdit } from '../graph/edit-state';
import { GraphEngine, type Concluded, type Dispatch } from '../graph/engine';
import type { Watch } from '../graph/engine-news';
import type { EngineSnapshot } from '../graph/engine-snapshot';
import { AbeyanceError, messageOf } from '../graph/errors';
import { isJsonObject, type Json } from '../graph/json';
import { toolCallOf } from '../graph/node-call';
import type { WorkflowNode } from '../graph/node-definition';
import { placeOf, type Narrator } from '../graph/narrator';
import { NodeRun, provideNodeRunStorage } from '../graph/node-run';
import type { Outcome } from '../graph/outcome';
import type { Answer } from '../graph/question';
import { runBody } from '../graph/run-body';
import { seenState } from '../graph/seen-state';
import { viewOf, type RunView } from '../graph/run-view';
import { unknownToolOutcome } from '../graph/tool-messages';
import { beganChild, childFailureOf, closesChild, leftBy, reportIn } from './child-events';
import { editIn } from './edit-in';
import { eventIdOf, type HistoryEvent } from './history-event';
import { toldAt } from './local-activities';
import type { Moment } from './moment';
import { narrateActivity } from './narrate-activity';
import { nodeFailureOf } from './node-failure-of';
import { firstPayload, jsonOf, payloadsOf } from './payload';
import type { RunEvents } from './run-events';
import { activityIdOf, runsHere, TaskStarts } from './task-starts';
import { objectOf, textOf } from './untrusted';
import { workflowTasksOf, type WorkflowTask } from './workflow-tasks-of';

/** A node that ran in workflow code, which leaves no event. */
export interface FoldedVisit {
  readonly task: string;
  readonly node: string;
  readonly step: number;
  readonly visit: number;
  readonly at: Moment;
  /** Of the workflow task it ran in. */
  readonly eventId: string;
  readonly input: Json;
  readonly answers: readonly Answer[];
  readonly outcome: Outcome;
}

/** What the graph makes of a run's events. */
export interface Fold {
  /** By the id of the event that brought the decision. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Where the run stood after each workflow task, by the id of the event that completed it. */
  readonly views: ReadonlyMap<string, RunView>;
  readonly visits: ReadonlyMap<string, readonly FoldedVisit[]>;
  /** Why it could not go on; what came before still holds. */
  readonly broken?: string;
}

/**
 * Steps the graph through what a run recorded, as its worker did: results first, then decisions, in each workflow task.
 *
 * Runs reducers, routers and the nodes that live in workflow code, and nothing else. Stops where the history no longer
 * fits the graph, and says why; never throws.
 */
export function foldRun(graph: AnyGraph, run: RunEvents, checkpoints?: Checkpoints): Fold {
  const fold = { verdicts: new Map(), views: new Map(), visits: new Map() };
  try {
    new Folding(graph, run, fold, startEngine(graph, run.events), { checkpoints }).run();
    return fold;
  } catch (error) {
    // What fails here failed the run too, if that is how the run ended.
    const failed = run.events.some(({ kind }) => kind === 'workflowExecutionFailed');
    return failed && error instanceof AbeyanceError ? fold : { ...fold, broken: messageOf(error) };
  }
}

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
    const token = this.engine.passOn(decision, isoOf(at));
    if (token !== undefined) {
      this.passed.set(token, [...(this.passed.get(token) ?? []), event.id]);
      return;
    }
    const due = this.engine.nextExpiry();
    if (decision.via === 'update' && due !== undefined && due <= isoOf(at)) this.engine.expire(isoOf(at));
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
      const { id, node, step, visit, answers } = task;
      const outcome = this.outcomeHere(dispatch, definition, at);
      if (!outcome) return this.listeners.narrator?.look(this.engine, isoOf(at));
      this.fold.visits
        .get(completed.id)
        ?.push({ task: id, node, step, visit, at, eventId: completed.id, input: dispatch.state, answers, outcome });
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
      outcome = this.runHere(dispatch, definition, isoOf(at));
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

  private runHere({ graph, task, state }: Dispatch, definition: WorkflowNode, at: string): Outcome | Promise<Outcome> {
    const { id, node, step, visit, answers, once } = task;
    const info = { threadId: '', graph: graph.name, node, task: id, step, visit, attempt: 1, idempotencyKey: '' };
    let written = 0;
    const place = { ...placeOf(task), attempt: 1 };
    const run = new NodeRun(info, answers, once, {
      signal: new AbortController().signal,
      saveOnce: () => undefined,
      write: (chunk) => this.listeners.narrator?.wrote(place, written++, chunk, at),
    });
    const seen = seenState(graph, node, definition, state, task.input !== undefined);
    return runBody({ graph, body: definition.fn, state: seen, run });
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

function laterMoment(one: Moment, other: Moment): Moment {
  return one.ms < other.ms ? other : one;
}

// The workflow's clock has milliseconds.
function isoOf({ ms }: Moment): string {
  return new Date(Math.floor(ms)).toISOString();
}
