import { defineSearchAttributeKey, type SearchAttributeUpdatePair } from '@temporalio/common';
import {
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
  type ContinueAsNewOptions,
} from '@temporalio/workflow';
import { digestOf } from '../graph/digest';
import type { AnyGraph } from '../graph/compiled-graph';
import { DEFAULT_ACTIONS, type Question } from '../graph/question';
import { withoutContent, type RunView } from '../graph/run-view';
import { bytesOf, MAX_PAYLOAD_BYTES } from '../graph/size-limit';

/** `running`, `waiting` while a question is open, and at the end `done`, `failed` or `cancelled`. */
export const statusAttribute = defineSearchAttributeKey('AbeyanceStatus', 'KEYWORD');

/** The nodes whose questions are open. */
export const waitingForAttribute = defineSearchAttributeKey('AbeyanceWaitingFor', 'KEYWORD_LIST');

/** The memo key under which a run publishes where it stands. */
export const MEMO_KEY = 'abeyance';

// A memo over 2 MB would terminate the run; what is too large to show is left out, never the question's id and digest.
const MAX_VALUES = 16 * 1024;
const MAX_QUESTIONS = 64 * 1024;
const MAX_SHOWN = 4 * 1024;

/** How a run ended. */
export type RunEnd = 'done' | 'failed' | 'cancelled';

/** Where a run stands, as its memo tells anyone without a worker. */
export interface PublishedView extends Omit<RunView, 'values' | 'tasks' | 'status'> {
  readonly status: RunView['status'] | RunEnd;
  readonly graph: string;
  readonly fingerprint: string;
  /** The values, where they are small; else only their digest, and not even that where they are very large. */
  readonly values?: RunView['values'];
  readonly valuesDigest?: string;
}

/**
 * Makes a run's questions visible without a worker of ours: in the memo, in search attributes, in the Temporal UI.
 *
 * One memo event and one search-attribute event each time the open questions change, and at the end. A namespace that does not know
 * the search attributes stalls nothing: they are written only where the starter could set one.
 */
export class PendingInTheOpen {
  private published = '';

  constructor(private readonly graph: AnyGraph) {}

  /** True where other questions are open than were shown last. */
  differs(questions: readonly Question[]): boolean {
    return idsOf({ questions }) !== this.published;
  }

  /** Shows the open questions where they have changed, and in any case how the run ended. */
  publish(view: RunView, end?: RunEnd): void {
    const ids = idsOf(view);
    if (end === undefined && ids === this.published) return;
    this.published = ids;
    upsertMemo({ [MEMO_KEY]: this.publishedView(end ? { ...view, questions: [] } : view, end) });
    if (workflowInfo().typedSearchAttributes.get(statusAttribute) !== undefined)
      upsertSearchAttributes(attributesOf(end ? [] : view.questions, end));
    setCurrentDetails(end ? '' : detailsOf(view));
  }

  /** Shows the open questions again at the next stop, for the state around them has changed. */
  forget(): void {
    this.published = 'nothing';
  }

  /** The run goes on in another one: what that one must be started with so that no question is out of sight. */
  handedOver(view: RunView): Pick<ContinueAsNewOptions, 'memo' | 'typedSearchAttributes'> {
    const { memo, typedSearchAttributes: attributes } = workflowInfo();
    return {
      memo: { ...memo, [MEMO_KEY]: this.publishedView(view, undefined) },
      typedSearchAttributes:
        attributes.get(statusAttribute) === undefined
          ? attributes
          : attributes.updateCopy(attributesOf(view.questions, undefined)),
    };
  }

  /** The run goes on from another one, and was started with what that one handed over. */
  takeOver(view: RunView): void {
    this.published = idsOf(view);
    setCurrentDetails(detailsOf(view));
  }

  private publishedView({ values, tasks: _, ...view }: RunView, end: RunEnd | undefined): PublishedView {
    const { name, fingerprint } = this.graph;
    const questions = bytesOf(view.questions) <= MAX_QUESTIONS ? view.questions : view.questions.map(withoutContent);
    const bytes = bytesOf(values);
    return {
      graph: name,
      fingerprint,
      ...view,
      status: end ?? view.status,
      questions,
      ...(bytes <= MAX_VALUES && { values }),
      ...(bytes > MAX_VALUES && bytes <= MAX_PAYLOAD_BYTES && { valuesDigest: digestOf(values) }),
    };
  }
}

function attributesOf(questions: readonly Question[], end: RunEnd | undefined): SearchAttributeUpdatePair[] {
  const nodes = [...new Set(questions.map(({ node }) => node))];
  return [
    { key: statusAttribute, value: end ?? (nodes.length > 0 ? 'waiting' : 'running') },
    { key: waitingForAttribute, value: nodes.length > 0 ? nodes : null },
  ];
}

function idsOf({ questions }: Pick<RunView, 'questions'>): string {
  return questions.map(({ id, digest, rejected }) => `${id} ${digest} ${rejected ?? ''}`).join('\n');
}

function detailsOf({ questions }: RunView): string {
  return questions.map(inMarkdown).join('\n\n---\n\n');
}

function inMarkdown({ node, value, id, kind, allow, expiresAt, rejected }: Question): string {
  const asked = JSON.stringify(value, null, 2).slice(0, MAX_SHOWN);
  const fence = '`'.repeat(Math.max(3, ...[...asked.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  const [what, how] =
    kind === 'approval'
      ? ['an approval', `Send the signal ${listed(allow ?? DEFAULT_ACTIONS)}.`]
      : ['an answer', 'Send the signal `approve`, `deny`, or `resume` with an answer.'];
  const lines = [
    `**${node}** waits for ${what}. ${how}`,
    ...(expiresAt ? [`It expires at ${expiresAt}.`] : []),
    ...(rejected ? [`The last answer was sent back: ${rejected}`] : []),
    `${fence}json\n${asked}\n${fence}`,
    `Question \`${id}\``,
  ];
  return lines.join('\n\n');
}

function listed(signals: readonly string[]): string {
  const ticked = signals.map((signal) => `\`${signal}\``);
  return [ticked.slice(0, -1).join(', '), ticked.at(-1)].filter(Boolean).join(' or ');
}
