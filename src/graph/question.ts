import type { Json } from './json';

/** What a person may do at an approval, in the order it is shown. */
export const APPROVAL_ACTIONS = ['approve', 'deny', 'edit', 'respond'] as const;

/** What a person may do at an approval: let it pass, refuse it, change its arguments, or answer in its place. */
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];

/** What an approval takes where it does not say. */
export const DEFAULT_ACTIONS: readonly ApprovalAction[] = ['approve', 'deny'];

interface Decided {
  /** Who decided, as the door they came through says. */
  readonly by?: string;
  /** Their reason. */
  readonly note?: string;
}

/** Who decided what, as an approval receives it. `timeout`: nobody did before the deadline. */
export type ApprovalDecision =
  | (Decided & {
      readonly type: 'approve' | 'deny' | 'timeout';
      readonly args?: undefined;
      readonly response?: undefined;
    })
  /** Approved with other arguments. */
  | (Decided & { readonly type: 'edit'; readonly args: Json; readonly response?: undefined })
  /** Not run; a person answers in its place. */
  | (Decided & { readonly type: 'respond'; readonly response: Json; readonly args?: undefined });

/**
 * `approval`: takes what it allows, and hands over the whole decision. `question`: takes any answer. `breakpoint`: stands
 * before or after a node and is passed by any answer but a denial.
 */
export type QuestionKind = 'question' | 'approval' | 'breakpoint';

/** A tool call as it is shown to whoever decides on it. */
export interface CallShown {
  readonly tool: string;
  readonly args: Json;
}

/** A question as a node's body asked it. */
export interface AskedQuestion {
  /** Unique in the thread and the same on every replay: `<step>.<node>:<key or index>`. */
  readonly id: string;
  readonly kind: QuestionKind;
  /** What is asked, as JSON. */
  readonly value: Json;
  /** Of kind, value, schema, and what it allows: an answer to another digest is an answer to another question. */
  readonly digest: string;
  /** JSON Schema of the answer, where the node declared one. */
  readonly schema?: Json;
  /** Of an approval: what may be decided; left out where it is approve and deny. */
  readonly allow?: readonly ApprovalAction[];
  /** The call that is decided on, where `value` does not show it as it is. */
  readonly call?: CallShown;
  /** How long it waits, in ms; for ever where left out. */
  readonly deadline?: number;
  /** The answer where nobody gives one in time. */
  readonly otherwise?: Json;
}

/** A question that waits for its answer. */
export interface Question extends AskedQuestion {
  /** The node that asks; in a subgraph with the nodes around it, `review/ask`. */
  readonly node: string;
  readonly task: string;
  /** When it was first asked, ISO 8601. */
  readonly askedAt: string;
  /** When it is no longer waited for, ISO 8601; never where left out. */
  readonly expiresAt?: string;
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
  /** When its question expired with no answer to give instead, ISO 8601. */
  readonly expired?: string;
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
