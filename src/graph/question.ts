import type { Json } from './json';

/** Who decided what, as an approval gate receives it. */
export interface ApprovalDecision {
  readonly type: 'approve' | 'deny';
  /** Who decided, as the door they came through says. */
  readonly by?: string;
  /** Their reason. */
  readonly note?: string;
}

/** `approval`: takes approve or deny, and hands over the whole decision. `question`: takes any answer. */
export type QuestionKind = 'question' | 'approval';

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

/** The step and node a question id speaks of, or undefined where it is no question id. */
export function parseQuestionId(id: string): { readonly step: number; readonly node: string } | undefined {
  const match = /^(\d+)\.([^.:]+)(?:\.c?\d+)*:./.exec(id);
  return match ? { step: Number(match[1]), node: match[2] as string } : undefined;
}
