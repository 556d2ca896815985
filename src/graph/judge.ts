import { valueFor } from './answer-value';
import type { AnyGraph } from './compiled-graph';
import { answersById, type Decision, type DecisionRecord, type Verdict } from './decision';
import type { ErrorCode, OpenQuestion } from './errors';
import type { Json } from './json';
import { parseQuestionId, type Answer, type Question } from './question';
import { bytesOf, MAX_PAYLOAD_BYTES } from './size-limit';
import type { Channels } from './state-schema';
import type { Task } from './task';

const ALWAYS_FITS = 10_000;

/** What a decision is judged against. */
export interface Situation {
  readonly graph: AnyGraph;
  readonly step: number;
  readonly tasks: readonly Task[];
  readonly ledger: readonly DecisionRecord[];
  /** The state that nodes of this step see. */
  readonly channels: Channels;
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

/** The verdict on a kept decision for which nothing can come any more. */
export function refuseExpired(situation: Situation, { question, node }: Decision): Judgement {
  const what = question === undefined ? `Node "${node}" ended without asking` : `Question ${question} was never asked`;
  return refuse(situation, 'QUESTION_UNKNOWN', `${what}.`);
}

function judgeOne(situation: Situation, decision: Decision, value: Json | undefined): Judgement {
  const open = openQuestions(situation.tasks);
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
  const open = openQuestions(situation.tasks).find((question) => question.id === id);
  if (open) return answer(situation, open, decision, value);
  const settled = situation.ledger.findLast(
    ({ verdict }) => verdict.kind === 'accepted' && verdict.questions.includes(id),
  );
  if (settled) return refuse(situation, 'QUESTION_SETTLED', `Question ${id} is settled: ${tellWho(settled)}.`);
  if (mayStillCome(situation, id)) return { verdict: { kind: 'kept', until: id }, answers: [] };
  return refuse(situation, 'QUESTION_UNKNOWN', `There is no question ${id} on this thread.`);
}

function judgeByNode(situation: Situation, decision: Decision, node: string, value: Json | undefined): Judgement {
  if (!situation.graph.shape.nodes.has(node)) {
    return refuse(situation, 'QUESTION_UNKNOWN', `Graph "${situation.graph.name}" has no node "${node}".`);
  }
  const open = openQuestions(situation.tasks).filter((question) => question.node === node);
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
function isTooMuch({ channels, tasks }: Situation, { task }: Question, value: Json): boolean {
  const bytes = bytesOf(value);
  if (bytes < ALWAYS_FITS) return false;
  const given = tasks.find(({ id }) => id === task);
  return bytes + bytesOf(given?.input ?? channels) + bytesOf(given?.answers) > MAX_PAYLOAD_BYTES;
}

// A question of this step may still come while its task is not done; one of a later step always may.
function mayStillCome({ graph, step, tasks }: Situation, id: string): boolean {
  const parsed = parseQuestionId(id);
  if (!parsed || !graph.shape.nodes.has(parsed.node)) return false;
  if (parsed.step !== step) return parsed.step > step;
  return tasks.some((task) => id.startsWith(`${task.id}:`) && task.phase !== 'done');
}

/** True for a question of a task that has ended, or of a run that has. */
export function canNoLongerCome({ step, tasks }: Pick<Situation, 'step' | 'tasks'>, id: string): boolean {
  const parsed = parseQuestionId(id);
  if (!parsed || parsed.step < step || tasks.length === 0) return true;
  return tasks.some((task) => id.startsWith(`${task.id}:`) && task.phase === 'done');
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
  const open: OpenQuestion[] = openQuestions(situation.tasks).map(({ id, node, value }) => ({ id, node, value }));
  const names = open.length === 0 ? 'No question is open.' : `Open: ${open.map(({ id }) => id).join(', ')}.`;
  const message = why.startsWith('No question is open') ? why : `${why} ${names}`;
  return { verdict: { kind: 'refused', code, message: `${message} Nothing changed.`, open }, answers: [] };
}

/** Every question that waits, in the order of the tasks. */
export function openQuestions(tasks: readonly Task[]): readonly Question[] {
  return tasks.flatMap(({ open }) => open);
}
