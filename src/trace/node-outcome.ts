import type { Json } from '../graph/json';
import type { NodeOutcome } from './item';
import { jsonOf } from './payload';
import type { Recorded } from './recorded';
import { arrayOf, objectOf, textOf, textsOf } from './untrusted';

/** A question as an activity’s result tells of it. */
export interface QuestionAsked {
  readonly id: string;
  readonly kind: 'question' | 'approval';
  readonly value: Json;
  readonly digest: string;
  readonly schema?: Json;
  readonly allow?: readonly string[];
  readonly call?: { readonly tool: string; readonly args: Json };
}

/** How a node ended, as its result tells. */
export function outcomeOf(recorded: Recorded): NodeOutcome {
  const { kind, updates, goto, questions, question, reason } = objectOf(jsonOf(recorded));
  switch (kind) {
    case 'completed':
      return { kind, updates: arrayOf(updates) as Json[], goto: arrayOf(goto) as Json[] };
    case 'interrupted':
      return { kind, questions: questionsIn(questions).map(({ id }) => id) };
    case 'rejected':
      return { kind, question: textOf(question) ?? '', reason: textOf(reason) ?? '' };
    default:
      return { kind: 'unreadable', recorded };
  }
}

/** The questions of a list; what has no id is none. */
export function questionsIn(value: unknown): readonly QuestionAsked[] {
  return arrayOf(value).flatMap((one) => {
    const { id, kind, value: asked, digest, schema, allow, call } = objectOf(one);
    const name = textOf(id);
    const { tool, args } = objectOf(call);
    if (name === undefined) return [];
    return [
      {
        id: name,
        kind: kind === 'approval' ? 'approval' : 'question',
        value: (asked ?? null) as Json,
        digest: textOf(digest) ?? '',
        ...(schema !== undefined && { schema: schema as Json }),
        ...(allow !== undefined && { allow: textsOf(allow) }),
        ...(call !== undefined && { call: { tool: textOf(tool) ?? '', args: (args ?? null) as Json } }),
      },
    ];
  });
}
