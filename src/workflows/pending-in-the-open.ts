import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { digestOf } from '../graph/digest';
import type { AnyGraph } from '../graph/compiled-graph';
import type { Question } from '../graph/question';
import type { RunView } from '../graph/run-view';

/** `running`, or `waiting` while a question is open. */
export const statusAttribute = defineSearchAttributeKey('AbeyanceStatus', 'KEYWORD');

/** The nodes whose questions are open. */
export const waitingForAttribute = defineSearchAttributeKey('AbeyanceWaitingFor', 'KEYWORD_LIST');

/** The memo key under which a run publishes where it stands. */
export const MEMO_KEY = 'abeyance';

// A memo over 2 MB would terminate the run; what is too large to show is left out, never the question's id and digest.
const MAX_VALUES = 16 * 1024;
const MAX_QUESTIONS = 64 * 1024;
const MAX_SHOWN = 4 * 1024;

/** Stands in the memo for a question's content where that is too large for it. */
export const TOO_LARGE = 'too large to show here';

/** Where a run stands, as its memo tells anyone without a worker. */
export interface PublishedView extends Omit<RunView, 'values' | 'tasks'> {
  readonly graph: string;
  readonly fingerprint: string;
  /** The values, where they are small; else only their digest. */
  readonly values?: RunView['values'];
  readonly valuesDigest?: string;
}

/**
 * Makes a run's questions visible without a worker of ours: in the memo, in search attributes, in the Temporal UI.
 *
 * One memo event and one search-attribute event each time the open questions change. A namespace that does not know
 * the search attributes stalls nothing: they are written only where the starter could set one.
 */
export class PendingInTheOpen {
  private published = '';

  constructor(private readonly graph: AnyGraph) {}

  publish(view: RunView): void {
    const ids = view.questions.map(({ id, digest, rejected }) => `${id} ${digest} ${rejected ?? ''}`).join('\n');
    if (ids === this.published) return;
    this.published = ids;
    upsertMemo({ [MEMO_KEY]: this.publishedView(view) });
    if (workflowInfo().typedSearchAttributes.get(statusAttribute) !== undefined) this.upsertAttributes(view);
    setCurrentDetails(view.questions.map(inMarkdown).join('\n\n---\n\n'));
  }

  private publishedView({ values, tasks: _, ...view }: RunView): PublishedView {
    const { name, fingerprint } = this.graph;
    const questions = sizeOf(view.questions) <= MAX_QUESTIONS ? view.questions : view.questions.map(withoutContent);
    const small = sizeOf(values) <= MAX_VALUES;
    return {
      graph: name,
      fingerprint,
      ...view,
      questions,
      ...(small ? { values } : { valuesDigest: digestOf(values) }),
    };
  }

  private upsertAttributes({ questions }: RunView): void {
    const nodes = [...new Set(questions.map(({ node }) => node))];
    upsertSearchAttributes([
      { key: statusAttribute, value: nodes.length > 0 ? 'waiting' : 'running' },
      { key: waitingForAttribute, value: nodes.length > 0 ? nodes : null },
    ]);
  }
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

function withoutContent({ schema: _, ...question }: Question): Question {
  return { ...question, value: TOO_LARGE };
}

function inMarkdown({ node, value, id, kind, rejected }: Question): string {
  const asked = JSON.stringify(value, null, 2).slice(0, MAX_SHOWN);
  const fence = '`'.repeat(Math.max(3, ...[...asked.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  const [what, how] =
    kind === 'approval'
      ? ['an approval', 'Send the signal `approve` or `deny`.']
      : ['an answer', 'Send the signal `approve`, `deny`, or `resume` with an answer.'];
  const lines = [
    `**${node}** waits for ${what}. ${how}`,
    ...(rejected ? [`The last answer was sent back: ${rejected}`] : []),
    `${fence}json\n${asked}\n${fence}`,
    `Question \`${id}\``,
  ];
  return lines.join('\n\n');
}
