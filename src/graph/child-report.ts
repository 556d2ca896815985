import { z } from 'zod';
import { answersById, type Decision, type DecisionRecord, type Verdict } from './decision';
import { digestOfDecision } from './ledger';
import { APPROVAL_ACTIONS, type Question } from './question';
import type { TaskLine } from './run-view';
import { nodePathOf, type Task } from './task';

/** What the run of a subgraph tells the run around it: where it stands, and what was decided since it last told. */
export interface ChildReport {
  /** The task it stands for, and which time that was given out. */
  readonly task: string;
  readonly visit: number;
  readonly status: 'running' | 'waiting';
  readonly questions: readonly Question[];
  readonly tasks: readonly TaskLine[];
  /** Decisions that came to its own thread and were accepted. */
  readonly records: readonly DecisionRecord[];
  /** What became of decisions that were passed on to it. */
  readonly verdicts: readonly { readonly token: string; readonly verdict: Verdict }[];
}

const Accepted = z.looseObject({ kind: z.literal('accepted'), questions: z.array(z.string()) });
const Told = z.discriminatedUnion('kind', [
  Accepted,
  z.looseObject({ kind: z.literal('kept'), until: z.string() }),
  z.looseObject({ kind: z.literal('refused'), code: z.string(), message: z.string(), open: z.array(z.unknown()) }),
]);

/** Only as much as is needed so that nothing that comes by this door can break the run. */
const Report = z.looseObject({
  task: z.string(),
  visit: z.number(),
  status: z.enum(['running', 'waiting']),
  questions: z.array(
    z.looseObject({
      id: z.string(),
      kind: z.enum(['question', 'approval', 'breakpoint']),
      node: z.string(),
      task: z.string(),
      digest: z.string(),
      value: z.unknown().refine((value) => value !== undefined),
      allow: z.array(z.enum(APPROVAL_ACTIONS)).optional(),
      expiresAt: z.string().optional(),
      rejected: z.string().optional(),
    }),
  ),
  tasks: z.array(
    z.looseObject({ id: z.string(), name: z.string(), status: z.enum(['ready', 'running', 'waiting', 'done']) }),
  ),
  records: z.array(
    z.looseObject({
      decision: z
        .looseObject({ type: z.enum(['approve', 'deny', 'edit', 'respond', 'resume', 'expire']) })
        .refine((decision) => canBeRead(decision as unknown as Decision)),
      verdict: Accepted,
      at: z.string(),
    }),
  ),
  verdicts: z.array(z.looseObject({ token: z.string(), verdict: Told })),
});

function canBeRead(decision: Decision): boolean {
  try {
    answersById(decision);
    return true;
  } catch {
    return false;
  }
}

/** Reads a report; undefined where it is none. One that waits for nobody would stop the run around it for ever. */
export function readReport(value: unknown): ChildReport | undefined {
  const { data } = Report.safeParse(value);
  if (data?.status === 'waiting' && data.questions.length === 0) return undefined;
  return data as unknown as ChildReport | undefined;
}

/** The subgraph's task as its run last told of it: with questions and tasks under the path that leads to them. */
export function standing(task: Task, { status, questions, tasks }: ChildReport): Task {
  const lines = status === 'waiting' ? tasks : tasks.filter((line) => line.status === 'waiting');
  return {
    ...task,
    phase: status,
    open: questions.map((question) => ({
      ...question,
      id: outward(task.id, question.id),
      node: outward(nodePathOf(task.id), question.node),
      task: outward(task.id, question.task),
    })),
    child: {
      tasks: lines.map((line) => ({
        ...line,
        id: outward(task.id, line.id),
        name: outward(nodePathOf(task.id), line.name),
      })),
    },
  };
}

/** A decision that was made on the subgraph's own thread, as the run around writes it down. */
export function recordedAround(task: string, record: DecisionRecord): DecisionRecord {
  const decision = decisionAround(task, record.decision);
  return { ...record, decision, digest: digestOfDecision(decision), verdict: verdictAround(task, record.verdict) };
}

function decisionAround(task: string, decision: Decision): Decision {
  const { question, node } = decision;
  const many = answersById(decision);
  if (many && decision.type === 'resume') {
    const value = Object.fromEntries(Object.entries(many).map(([id, answer]) => [outward(task, id), answer]));
    return { ...decision, value: value as never };
  }
  return {
    ...decision,
    ...(question !== undefined && { question: outward(task, question) }),
    ...(node !== undefined && { node: outward(nodePathOf(task), node) }),
  };
}

/** A verdict of the subgraph's run, with the ids that its questions have around it. */
export function verdictAround(task: string, verdict: Verdict): Verdict {
  switch (verdict.kind) {
    case 'accepted':
      return { ...verdict, questions: verdict.questions.map((id) => outward(task, id)) };
    case 'kept':
      return { ...verdict, until: outward(task, verdict.until) };
    case 'refused':
      return verdict;
    default:
      return verdict satisfies never;
  }
}

/** A decision as the subgraph's run is to judge it: for these of its questions, named as it names them. */
export function decisionWithin(task: string, decision: Decision, ids: readonly string[]): Decision {
  const { node: _, update: __, ...rest } = decision;
  const local = (id: string): string => id.slice(task.length + 1);
  const many = answersById(decision);
  const [only] = ids;
  if (many && rest.type === 'resume') {
    return { ...rest, value: Object.fromEntries(ids.map((id) => [local(id), many[id] ?? null])) as never };
  }
  return { ...rest, ...(only !== undefined && { question: local(only) }) };
}

function outward(around: string, inner: string): string {
  return `${around}/${inner}`;
}
