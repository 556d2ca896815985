import type { Json } from './json';

/** Who decided what, as an approval gate receives it. */
export interface ApprovalDecision {
  readonly type: 'approve' | 'deny';
  /** Who decided, as the door they came through says. */
  readonly by?: string;
  /** Their reason. */
  readonly note?: string;
}

/**
 * `approval`: takes approve or deny, and hands over the whole decision. `question`: takes any answer. `breakpoint`: stands
 * before or after a node and is passed by any answer but a denial.
 */
export type QuestionKind = 'question' | 'approval' | 'breakpoint';

/** A question as a node's body asked it. */
export interface AskedQuestion {
  /** Unique in the thread and the same on every replay: `<step>.<node>:<key or index>`. */
  readonly id: string;
  readonly kind: QuestionKind;
  /** What is asked, as JSON. */
  readonly value: Json;
  /** Of kind, value and schema: an answer to another digest is an answer to another question. */
  readonly digest: string;
  /** JSON Schema of the answer, where the node declared one. */
  readonly schema?: Json;
}

/** A question that waits for its answer. */
export interface Question extends AskedQuestion {
  /** The node that asks; in a subgraph with the nodes around it, `review/ask`. */
  readonly node: string;
  readonly task: string;
  /** When it was first asked, ISO 8601. */
  readonly askedAt: string;
  /** Why the node sent the last answer back, where it did. */
  readonly rejected?: string;
  /** True where `value` was too large to be shown here. */
  readonly omitted?: true;
}

/** An answer on its way to the body that asked. */
export interface Answer {
  readonly id: string;
  readonly digest: string;
  readonly value: Json;
  readonly by?: string;
  readonly note?: string;
  readonly via: string;
  readonly decision?: string;
}

/** One task on the way to a question, from the run inwards. */
export interface TaskStep {
  readonly task: string;
  readonly step: number;
  readonly node: string;
}

/** The tasks a question id speaks of, from the run's own to the one that asks; undefined where it is no question id. */
export function parseQuestionId(id: string): readonly TaskStep[] | undefined {
  const end = id.indexOf(':');
  if (end < 0 || end === id.length - 1) return undefined;
  const parts = id.slice(0, end).split('/');
  const steps = parts.map((part, index): TaskStep | undefined => {
    const match = /^(\d+)\.([^.:/]+)(?:\.c?\d+)*$/.exec(part);
    if (!match) return undefined;
    return { task: parts.slice(0, index + 1).join('/'), step: Number(match[1]), node: match[2] as string };
  });
  return steps.every((step) => step !== undefined) ? steps : undefined;
}
