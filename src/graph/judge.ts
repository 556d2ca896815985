import { valueFor } from './answer-value';
import type { AnyGraph } from './compiled-graph';
import { answersById, type Decision, type DecisionRecord, type Verdict } from './decision';
import type { Withdrawal } from './dropped-tasks';
import type { ErrorCode, OpenQuestion } from './errors';
import type { Json } from './json';
import type { NodeDefinition } from './node-definition';
import { parseQuestionId, type Answer, type Question, type TaskStep } from './question';
import { leavesOf, scopeOf, type Scope } from './scope';
import { bytesOf, MAX_PAYLOAD_BYTES } from './size-limit';
import { definitionAt } from './subgraph';

const ALWAYS_FITS = 10_000;

/** What a decision is judged against. */
export interface Situation extends Scope {
  readonly graph: AnyGraph;
  readonly ledger: readonly DecisionRecord[];
  /** How many older decisions the ledger has let go of. */
  readonly forgotten?: number;
  readonly withdrawn?: readonly Withdrawal[];
  readonly externalStorage?: true;
}

/** A verdict, with the answers it lets through. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly answers: readonly Answer[];
}

/** Judges a decision. Changes nothing: a refused one leaves no trace but its record. */
export function judge(situation: Situation, decision: Decision): Judgement {
  const many = answersById(decision);
  if (!many) return judgeOne(situation, decision, decision.type === 'resume' ? decision.value : undefined);
  const each = Object.entries(many).map(([question, value]) => judgeOne(situation, { ...decision, question }, value));
  const bad = each.find(({ verdict }) => verdict.kind !== 'accepted');
  if (bad && bad.verdict.kind === 'kept') {
    return refuse(
      situation,
      'QUESTION_UNKNOWN',
      `Question ${bad.verdict.until} is not open yet; a map of answers is for open questions.`,
    );
  }
  if (bad) return bad;
  const answers = each.flatMap((one) => one.answers);
  return { verdict: { kind: 'accepted', questions: answers.map(({ id }) => id) }, answers };
}

/** Refuses a decision whose id another one has used, which said something else. */
export function refuseReused(situation: Situation, { decisionId }: Decision): Judgement {
  const why = `Decision ${decisionId} was made already, and said something else. Give this one an id of its own.`;
  return refuse(situation, 'DECISION_ID_REUSED', why);
}

/** Refuses a decision for the update of the state that comes with it. */
export function refuseUpdate(situation: Situation, code: ErrorCode, why: string): Judgement {
  return refuse(situation, code, why);
}

/** The verdict on a kept decision for which nothing can come any more. */
export function refuseExpired(situation: Situation, { question, node }: Decision): Judgement {
  const what = question === undefined ? `Node "${node}" ended without asking` : `Question ${question} was never asked`;
  return refuse(situation, 'QUESTION_UNKNOWN', `${what}.`);
}

function judgeOne(situation: Situation, decision: Decision, value: Json | undefined): Judgement {
  const open = openQuestions(situation);
  if (decision.question !== undefined) return judgeById(situation, decision, decision.question, value);
  if (decision.node !== undefined) return judgeByNode(situation, decision, decision.node, value);
  if (open.length > 1)
    return refuse(
      situation,
      'ANSWER_AMBIGUOUS',
      'Several questions are open, and the decision does not say which it is for. Name one by "question".',
    );
  if (open.length === 0)
    return refuse(situation, 'NOTHING_PENDING', 'No question is open. To decide ahead, name the question or its node.');
  return answer(situation, open[0] as Question, decision, value);
}

function judgeById(situation: Situation, decision: Decision, id: string, value: Json | undefined): Judgement {
  const open = openQuestions(situation).find((question) => question.id === id);
  if (open) return answer(situation, open, decision, value);
  const settled = situation.ledger.findLast(
    ({ verdict }) => verdict.kind === 'accepted' && verdict.questions.includes(id),
  );
  if (settled) return refuse(situation, 'QUESTION_SETTLED', `Question ${id} is settled: ${tellWho(settled)}.`);
  const withdrawn = situation.withdrawn?.findLast(({ question }) => question === id);
  if (withdrawn) return refuse(situation, 'QUESTION_SETTLED', `Question ${id} was withdrawn: ${withdrawn.why}.`);
  if (wasSettled(situation, id)) return refuse(situation, 'QUESTION_SETTLED', `Question ${id} is settled.`);
  if (mayStillCome(situation, id)) return { verdict: { kind: 'kept', until: id }, answers: [] };
  return refuse(situation, 'QUESTION_UNKNOWN', `There is no question ${id} on this thread.`);
}

function judgeByNode(situation: Situation, decision: Decision, node: string, value: Json | undefined): Judgement {
  const definition = definitionAt(situation.graph, node);
  if (!definition) {
    return refuse(situation, 'QUESTION_UNKNOWN', `Graph "${situation.graph.name}" has no node "${node}".`);
  }
  if (definition.kind === 'graph') {
    const why = `Node "${node}" is a graph of its own and asks nothing itself. Name the node in it: "${node}/…".`;
    return refuse(situation, 'QUESTION_UNKNOWN', why);
  }
  const open = openQuestions(situation).filter((question) => isAskedBy(question, node));
  if (open.length > 1)
    return refuse(situation, 'ANSWER_AMBIGUOUS', `Node "${node}" has several open questions. Name one by "question".`);
  if (open.length === 0) return { verdict: { kind: 'kept', until: node }, answers: [] };
  return answer(situation, open[0] as Question, decision, value);
}

function answer(situation: Situation, question: Question, decision: Decision, value: Json | undefined): Judgement {
  if (decision.digest !== undefined && decision.digest !== question.digest) {
    return refuse(
      situation,
      'QUESTION_CHANGED',
      `Question ${question.id} is not what it was when the decision was made. Look at it again.`,
    );
  }
  const answered = valueFor(situation.graph, question, decision, value);
  if (answered.refused !== undefined) return refuse(situation, 'ANSWER_INVALID', answered.refused);
  if (isTooMuch(situation, question, answered.value)) {
    return refuse(
      situation,
      'ANSWER_TOO_LARGE',
      `Question ${question.id} cannot take so large an answer beside its node's state. Send an id instead of the thing.`,
    );
  }
  const { id, digest } = question;
  const { by, note, via, decisionId } = decision;
  return {
    verdict: { kind: 'accepted', questions: [id] },
    answers: [
      {
        id,
        digest,
        value: answered.value,
        via,
        ...(answered.expired !== undefined && { expired: answered.expired }),
        ...(by && { by }),
        ...(note && { note }),
        ...(decisionId && { decision: decisionId }),
      },
    ],
  };
}

// The node is given state and answers together; over the limit, the run would end for an answer.
function isTooMuch(situation: Situation, { task }: Question, value: Json): boolean {
  const bytes = bytesOf(value);
  if (bytes < ALWAYS_FITS || situation.externalStorage) return false;
  const { channels, tasks } = scopeOf(situation, task);
  const given = tasks.find(({ id }) => id === task);
  // A subgraph that runs elsewhere judges for itself.
  if (!given) return false;
  return bytes + bytesOf(given.input ?? channels) + bytesOf(given.answers) > MAX_PAYLOAD_BYTES;
}

// What the ledger has let go of was settled all the same: its task remembers, or its step is past.
function wasSettled(situation: Situation, id: string): boolean {
  if (leavesOf(situation).some(({ answered }) => answered.some((question) => question.id === id))) return true;
  const [first] = parseQuestionId(id) ?? [];
  if (!situation.forgotten || !first) return false;
  return situation.graph.shape.nodes.has(first.node) && first.step < situation.step;
}

// A question may still come while its task, or one on the way to it, has not ended; one of a later step always may.
function mayStillCome({ graph, step, tasks }: Pick<Situation, 'graph' | 'step' | 'tasks'>, id: string): boolean {
  const [next, ...rest] = parseQuestionId(id) ?? [];
  return next !== undefined && mayCome(graph, { step, tasks }, next, rest, id);
}

function mayCome(
  graph: AnyGraph,
  scope: Pick<Scope, 'step' | 'tasks'>,
  { task: taskId, step, node }: TaskStep,
  [next, ...rest]: readonly TaskStep[],
  id: string,
): boolean {
  const definition = graph.shape.nodes.get(node);
  if (!definition || (next !== undefined) !== (definition.kind === 'graph')) return false;
  if (next && !isNodeOf(definition, next, rest)) return false;
  if (step !== scope.step) return step > scope.step;
  const task = scope.tasks.find((one) => (next ? one.id === taskId : id.startsWith(`${one.id}:`)));
  if (!task || task.phase === 'done') return false;
  if (!next || definition.kind !== 'graph' || !task.inner) return true;
  return mayCome(definition.graph, task.inner, next, rest, id);
}

function isNodeOf(definition: NodeDefinition, next: TaskStep, rest: readonly TaskStep[]): boolean {
  if (definition.kind !== 'graph') return false;
  return definitionAt(definition.graph, [next, ...rest].map(({ node }) => node).join('/')) !== undefined;
}

/** True for a question of a task that has ended, or of a run that has. */
export function canNoLongerCome(situation: Pick<Situation, 'graph' | 'step' | 'tasks'>, id: string): boolean {
  return situation.tasks.length === 0 || !(mayStillCome(situation, id) || isOpen(situation, id));
}

function isOpen(scope: Pick<Scope, 'tasks'>, id: string): boolean {
  return openQuestions(scope).some((question) => question.id === id);
}

const DONE = {
  approve: 'approved',
  deny: 'denied',
  edit: 'edited',
  respond: 'responded to',
  resume: 'answered',
} as const;

function tellWho({ decision, at }: DecisionRecord): string {
  if (decision.type === 'expire') return `it expired at ${decision.due}, and nobody had decided`;
  return `${DONE[decision.type]}${decision.by ? ` by ${decision.by}` : ''} at ${at}`;
}

function refuse(situation: Situation, code: ErrorCode, why: string): Judgement {
  const open: OpenQuestion[] = openQuestions(situation).map(({ id, node, value }) => ({ id, node, value }));
  const names = open.length === 0 ? 'No question is open.' : `Open: ${open.map(({ id }) => id).join(', ')}.`;
  const message = why.startsWith('No question is open') ? why : `${why} ${names}`;
  return { verdict: { kind: 'refused', code, message: `${message} Nothing changed.`, open }, answers: [] };
}

/** Every question that waits, in the order of the tasks. */
export function openQuestions(scope: Pick<Scope, 'tasks'>): readonly Question[] {
  return leavesOf(scope).flatMap(({ open }) => open);
}

/** The questions of this run itself, without those of subgraphs that run elsewhere, which it only shows. */
export function ownQuestions(scope: Pick<Scope, 'tasks'>): readonly Question[] {
  return leavesOf(scope).flatMap(({ open, child }) => (child ? [] : open));
}

/** True for a question of this node's own: a breakpoint at it is passed only by name, or where nothing else is open. */
export function isAskedBy({ node, kind }: Question, asking: string | undefined): boolean {
  return node === asking && kind !== 'breakpoint';
}
