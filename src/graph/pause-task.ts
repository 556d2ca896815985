import { laterBy } from './duration';
import type { Outcome } from './outcome';
import type { AskedQuestion, Question } from './question';
import { nodePathOf, type Task } from './task';

/** A task that has asked, with its questions open. `at` is ISO 8601. */
export function paused(task: Task, { questions, once }: Extract<Outcome, { kind: 'interrupted' }>, at: string): Task {
  return { ...task, phase: 'waiting', open: asOpen(task, questions, at), once };
}

/** A task that has sent an answer back, with the question open again. */
export function sentBack(task: Task, { question, reason, once }: Extract<Outcome, { kind: 'rejected' }>): Task {
  const answers = task.answers.filter(({ id }) => id !== question);
  return { ...task, phase: 'waiting', answers, open: [reopened(task, question, reason)], once };
}

function asOpen(task: Task, asked: readonly AskedQuestion[], at: string): readonly Question[] {
  return asked.map((question) => ({
    ...question,
    node: nodePathOf(task.id),
    task: task.id,
    askedAt: at,
    ...(question.deadline !== undefined && { expiresAt: laterBy(at, question.deadline) }),
  }));
}

function reopened(task: Task, id: string, reason: string): Question {
  const question = task.answered.find((one) => one.id === id);
  if (!question) throw new RangeError(`task ${task.id} sent back an answer to ${id}, which was not asked`);
  return { ...question, rejected: reason };
}
