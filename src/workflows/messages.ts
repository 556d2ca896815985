import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ChildReport } from '../graph/child-report';
import type { GraphDescription } from '../graph/compiled-graph';
import type { DecisionDetails, DecisionRecord, DecisionRequest, Verdict } from '../graph/decision';
import type { StateEdit } from '../graph/edit-state';
import type { EngineSnapshot } from '../graph/engine-snapshot';
import type { Json } from '../graph/json';
import type { Question } from '../graph/question';
import type { RolledOver, RunView, Stop } from '../graph/run-view';

/** What a decision's sender is told. */
export interface DecisionReply {
  readonly verdict: Exclude<Verdict, { readonly kind: 'refused' }>;
  /** Where the run stopped next, for a sender that waited for it; `rolled`: ask the next run with `untilStopped`. */
  readonly stop?: Stop | RolledOver;
}

/** How long a decision's sender waits: for the verdict, or for the run to stop again; and whose run it takes it for. */
export interface Waiting extends Partial<Expected> {
  readonly waitFor?: 'verdict' | 'stop';
}

/** What the caller takes the run for: a run of another graph refuses. */
export interface Expected {
  readonly graph: string;
}

/** `approve`: answers `true`, or approves at a gate. Payload optional: `{ question?, node?, by?, note?, decisionId? }`. */
export const approveSignal = defineSignal<[payload?: DecisionDetails | string | null]>('approve');

/** `deny`: answers `false`, or denies at a gate. Payload optional, as with `approve`. */
export const denySignal = defineSignal<[payload?: DecisionDetails | string | null]>('deny');

/** What the signal `edit` takes. */
export interface EditPayload extends DecisionDetails {
  /** The new arguments of the call, whole. */
  readonly args: Json;
}

/** What the signal `respond` takes: the response, or its text. */
export type RespondPayload = DecisionDetails & ({ readonly response: Json } | { readonly text: string });

/** `edit`: approves at a gate with other arguments, `{ args, question?, node?, by?, note?, decisionId? }`. */
export const editSignal = defineSignal<[payload: EditPayload]>('edit');

/** `respond`: answers in a call's place, with `{ response | text, question?, … }` or the text alone. */
export const respondSignal = defineSignal<[payload: RespondPayload | string]>('respond');

/** `resume`: answers with the first argument, `null` without one; the second may say for which question and by whom. */
export const resumeSignal = defineSignal<[value?: Json, details?: DecisionDetails]>('resume');

/** A decision that the run around a subgraph's own run passes on to it. */
export interface PassedOnPayload {
  /** By which the verdict is told. */
  readonly token: string;
  /** The door it came through first. */
  readonly via: string;
  readonly request: DecisionRequest;
}

/** `passedOn`: internal. Sent by the run around a subgraph's own run: a decision for one of its questions. */
export const passedOnSignal = defineSignal<[payload: PassedOnPayload]>('passedOn');

/** `childReport`: internal. Sent by a subgraph's own run to the one around it: where it stands. */
export const childReportSignal = defineSignal<[report: ChildReport]>('childReport');

/** `decide`: as the signals, but it can be refused, and replies what became of the decision. */
export const decideUpdate = defineUpdate<DecisionReply, [request: DecisionRequest, waiting: Waiting | undefined]>(
  'decide',
);

/** `resume`: answers with a value, or a map of question ids to values, and replies where the run stops next. */
export const resumeUpdate = defineUpdate<DecisionReply, [value: Json, details: DecisionDetails | undefined]>('resume');

/** `untilStopped`: replies when the run waits or has ended, or that it rolled over: then ask again. */
export const untilStoppedUpdate = defineUpdate<Stop | RolledOver, [expected: Expected | undefined]>('untilStopped');

/** `updateState`: writes to the state while the run waits; refused while it runs. */
export const updateStateUpdate = defineUpdate<void, [edit: StateEdit, expected: Expected | undefined]>('updateState');

/** A run as another can take it up, or that it is too large to be sent. */
export type SnapshotReply =
  | { readonly snapshot: EngineSnapshot; readonly idempotencyRun: string }
  | { readonly omitted: { readonly bytes: number } };

/** `snapshot`: the whole run, for one that takes it up; null where it has not begun. */
export const snapshotQuery = defineQuery<SnapshotReply | null>('snapshot');

/** `state`: where the run stands. */
export const stateQuery = defineQuery<RunView>('state');

/** `pending`: the open questions. */
export const pendingQuery = defineQuery<readonly Question[]>('pending');

/** `decisions`: every decision and what became of it. */
export const decisionsQuery = defineQuery<readonly DecisionRecord[]>('decisions');

/** `graph`: the graph's nodes and edges. */
export const graphQuery = defineQuery<GraphDescription>('graph');
