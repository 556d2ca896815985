import type { Checkpoints } from '../graph/checkpoints';
import type { AnyGraph } from '../graph/compiled-graph';
import type { Verdict } from '../graph/decision';
import { AbeyanceError, messageOf } from '../graph/errors';
import type { Json } from '../graph/json';
import type { Outcome } from '../graph/outcome';
import type { Answer } from '../graph/question';
import type { RunView } from '../graph/run-view';
import { Folding } from './folding';
import type { Moment } from './moment';
import type { RunEvents } from './run-events';
import { startEngine } from './start-engine';

/** A node that ran in workflow code, which leaves no event. */
export interface FoldedVisit {
  readonly task: string;
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
