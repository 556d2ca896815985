import { nodePathOf } from '../graph/task';
import type { Json } from '../graph/json';
import type { HistoryEvent } from './history-event';
import { momentOf } from './moment';
import { questionsIn } from './node-outcome';
import { jsonOf, recordedOf } from './payload';
import type { Recorded } from './recorded';
import { arrayOf, numberOf, objectOf, textOf, textsOf, type Loose } from './untrusted';
import type { QuestionShown } from './wait-desk';

/** Where a run said it stands: in its memo, or in a reply to a caller. */
export interface Standing {
  readonly graph?: string;
  readonly fingerprint?: string;
  readonly isWaiting: boolean;
  readonly step?: number;
  readonly next: readonly string[];
  readonly questions: readonly QuestionShown[];
  readonly values: Recorded;
}

const MEMO_KEY = 'abeyance';

/** What a run published with this event, or took over with its first, if it is one by which it does. */
export function memoIn({ kind, attributes }: HistoryEvent): Standing | 'unreadable' | undefined {
  if (kind !== 'workflowPropertiesModified' && kind !== 'workflowExecutionStarted') return undefined;
  const { fields } = objectOf(kind === 'workflowExecutionStarted' ? attributes.memo : attributes.upsertedMemo);
  const field = objectOf(fields)[MEMO_KEY];
  if (field === undefined) return undefined;
  const memo = jsonOf(recordedOf(field));
  return memo === undefined ? 'unreadable' : standingOf(objectOf(memo));
}

/** Reads where a run says it stands. */
export function standingOf(view: Loose): Standing {
  const { graph, fingerprint, status, step, next, questions, values, valuesDigest } = view;
  const at = numberOf(step);
  const digest = textOf(valuesDigest);
  return {
    ...(textOf(graph) !== undefined && { graph: textOf(graph) }),
    ...(textOf(fingerprint) !== undefined && { fingerprint: textOf(fingerprint) }),
    isWaiting: status === 'waiting',
    ...(at !== undefined && { step: at }),
    next: textsOf(next),
    questions: placedIn(questions),
    values:
      values !== undefined
        ? { kind: 'json', value: values as Json }
        : { kind: 'missing', reason: 'The values were too large for the memo.', ...(digest && { digest }) },
  };
}

function placedIn(value: unknown): Standing['questions'] {
  const raw = arrayOf(value).map(objectOf);
  return questionsIn(raw).map((question) => {
    const { node, task, askedAt, expiresAt, rejected } = raw.find(({ id }) => id === question.id) ?? {};
    return {
      ...question,
      ...placeOf(question.id),
      ...(textOf(node) !== undefined && { node: textOf(node) as string }),
      ...(textOf(task) !== undefined && { task: textOf(task) as string }),
      ...(textOf(askedAt) !== undefined && { askedAt: momentOf(askedAt) }),
      ...(textOf(expiresAt) !== undefined && { expiresAt: textOf(expiresAt) }),
      ...(textOf(rejected) !== undefined && { rejected: textOf(rejected) }),
    };
  });
}

/** Node and task of a question, as its id tells: `<step>.<node>[.i]:<key>`. */
export function placeOf(question: string): { readonly node: string; readonly task: string } {
  const task = question.split(':')[0] ?? question;
  return { node: nodePathOf(task), task };
}
