import type { AnyGraph } from './compiled-graph';
import type { Decision, DecisionRecord, Verdict } from './decision';
import { digestOf } from './digest';
import type { EngineSnapshot } from './engine-snapshot';
import { writeFromOutside } from './edit-state';
import { AbeyanceError, type ErrorCode } from './errors';
import {
  canNoLongerCome,
  isAskedBy,
  judge,
  ownQuestions,
  refuseExpired,
  refuseReused,
  refuseUpdate,
  type Judgement,
} from './judge';
import { toJson } from './json';
import type { Answer, Question } from './question';
import { leavesOf, withTask } from './scope';
import { nodePathOf, type Task } from './task';

/** Judges a decision, writes it down, and lets the tasks it answers run on. */
export function decide(
  graph: AnyGraph,
  state: EngineSnapshot,
  decision: Decision,
  at: string,
  /** Another decision with its id is on its way to the run of a subgraph. */
  isReused = false,
): { readonly state: EngineSnapshot; readonly verdict: Verdict } {
  const digest = digestOfDecision(decision);
  const earlier =
    decision.decisionId === undefined
      ? undefined
      : state.ledger.find((one) => one.decision.decisionId === decision.decisionId);
  if (earlier?.digest === digest) return { state, verdict: earlier.verdict };
  const situation = { ...state, graph };
  const judged = earlier || isReused ? refuseReused(situation, decision) : judge(situation, decision);
  const { next, judgement } = withUpdate(graph, state, decision, judged);
  const { verdict, answers } = judgement;
  const written = { ...next, ledger: [...state.ledger, { decision, digest, verdict: withoutContent(verdict), at }] };
  return { state: answers.reduce(accept, written), verdict };
}

// Answer and update come in together, or neither does.
function withUpdate(
  graph: AnyGraph,
  state: EngineSnapshot,
  { update }: Decision,
  judgement: Judgement,
): { readonly next: EngineSnapshot; readonly judgement: Judgement } {
  const { kind } = judgement.verdict;
  if (update === undefined || kind === 'refused') return { next: state, judgement };
  const refused = (code: ErrorCode, why: string): Judgement => refuseUpdate({ ...state, graph }, code, why);
  if (kind === 'kept') {
    const why = 'An update of the state goes with an answer to an open question, and this one is not open yet.';
    return { next: state, judgement: refused('QUESTION_UNKNOWN', why) };
  }
  const own = new Set(ownQuestions(state).map(({ id }) => id));
  if (judgement.answers.some(({ id }) => !own.has(id))) {
    const why = 'An update of the state goes with an answer to a question of this very run, not of a child workflow.';
    return { next: state, judgement: refused('STATE_UPDATE_CONFLICT', why) };
  }
  try {
    return { next: writeFromOutside(graph, state, update), judgement };
  } catch (error) {
    if (!(error instanceof AbeyanceError)) throw error;
    return { next: state, judgement: refused(error.code, error.message) };
  }
}

/**
 * Judges kept decisions again, each once, for which a question has opened.
 *
 * One for a node is then for that very question, so that a second one cannot slip through to the node's next.
 */
export function applyKept(graph: AnyGraph, state: EngineSnapshot, at: string): EngineSnapshot {
  if (!state.ledger.some(({ verdict }) => verdict.kind === 'kept')) return state;
  const open = ownQuestions(state);
  return state.ledger.reduce((before, { decision, verdict: earlier }, index) => {
    const meant = open.filter((question) => question.id === decision.question || isAskedBy(question, decision.node));
    const [only, ...more] = meant;
    if (earlier.kind !== 'kept' || !only) return before;
    const bound = more.length > 0 ? decision : { ...decision, node: undefined, question: only.id };
    const { verdict, answers } = judge({ ...before, graph }, bound);
    return answers.reduce(accept, withVerdict(before, index, verdict, at));
  }, state);
}

/** Refuses kept decisions for which nothing can come any more: their question's task, or their node's, has ended. */
export function expireKept(
  graph: AnyGraph,
  state: EngineSnapshot,
  finished: readonly Pick<Task, 'id' | 'child'>[],
  at: string,
): EngineSnapshot {
  if (!state.ledger.some(({ verdict }) => verdict.kind === 'kept')) return state;
  const over = state.tasks.length === 0;
  return state.ledger.reduce((before, { decision, verdict }, index) => {
    const { question, node } = decision;
    const expired =
      question === undefined
        ? over || finished.some((task) => isWithin(task, node))
        : canNoLongerCome({ ...before, graph }, question);
    if (verdict.kind !== 'kept' || !expired) return before;
    return withVerdict(before, index, refuseExpired({ ...before, graph }, decision).verdict, at);
  }, state);
}

// What runs elsewhere ends with all its nodes.
function isWithin({ id, child }: Pick<Task, 'id' | 'child'>, node: string | undefined): boolean {
  const path = nodePathOf(id);
  return node === path || (child !== undefined && node?.startsWith(`${path}/`) === true);
}

/** Notes on the decision that answered a question that its answer was sent back. */
export function noteSentBack(state: EngineSnapshot, question: string, reason: string): EngineSnapshot {
  const index = state.ledger.findLastIndex(
    ({ verdict }) => verdict.kind === 'accepted' && verdict.questions.includes(question),
  );
  const record = state.ledger[index];
  if (!record) return state;
  return { ...state, ledger: state.ledger.with(index, { ...record, sentBack: { question, reason } }) };
}

/** Ends the wait for every question whose time is up; each end is a decision on record. */
export function expireOpen(graph: AnyGraph, state: EngineSnapshot, at: string): EngineSnapshot {
  return ownQuestions(state).reduce((before, { id: question, expiresAt: due }) => {
    if (due === undefined || due > at) return before;
    return decide(graph, before, { type: 'expire', question, due, via: 'deadline' }, at).state;
  }, state);
}

/** What makes a decision the same as another: all but its id and its door. */
export function digestOfDecision(decision: Decision): string {
  return digestOf(toJson({ ...decision, via: undefined, decisionId: undefined }));
}

/** Writes a decision down with its verdict; in the place of an earlier verdict where it has one. */
export function withRecord(state: EngineSnapshot, record: DecisionRecord, index?: number): EngineSnapshot {
  const written = { ...record, verdict: withoutContent(record.verdict) };
  const { ledger } = state;
  return { ...state, ledger: index === undefined ? [...ledger, written] : ledger.with(index, written) };
}

// The questions' content is in the history once; the ledger travels with queries.
function withoutContent(verdict: Verdict): Verdict {
  return verdict.kind === 'refused' ? { ...verdict, open: [] } : verdict;
}

function withVerdict(state: EngineSnapshot, index: number, verdict: Verdict, at: string): EngineSnapshot {
  const record: DecisionRecord = { ...(state.ledger[index] as DecisionRecord), verdict: withoutContent(verdict), at };
  return { ...state, ledger: state.ledger.with(index, record) };
}

/** Hands an answer to the task that asked. */
export function accept(state: EngineSnapshot, answer: Answer): EngineSnapshot {
  const { id: taskId } = leavesOf(state).find(({ open }) => open.some(({ id }) => id === answer.id)) as Task;
  return withTask(state, taskId, (task) => {
    const question = task.open.find(({ id }) => id === answer.id) as Question;
    // A breakpoint is nothing that the node asked: it never learns of the answer.
    if (question.kind === 'breakpoint') return { ...task, open: [], phase: 'held' };
    const open = task.open.filter(({ id }) => id !== answer.id);
    const answered = [...task.answered.filter(({ id }) => id !== answer.id), question];
    const phase = open.length === 0 ? 'ready' : 'waiting';
    return { ...task, open, answered, answers: [...task.answers, answer], phase };
  });
}
