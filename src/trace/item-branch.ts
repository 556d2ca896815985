import {
  argumentsText,
  attemptBranches,
  jsonBranch,
  jsonText,
  statusPieces,
  statusStyle,
  valueText,
} from './branch-parts';
import type { DecisionMade } from './decision-made';
import type { Item, NodeVisit, ToolRun, Wait } from './item';
import type { Branch, Piece } from './text-tree';
import { turnBranch } from './turn-branch';
import { durationText } from './visible-text';

/** One thing that happened, as a branch of the tree. */
export function itemBranch(item: Item): Branch {
  switch (item.kind) {
    case 'turn':
      return turnBranch(item);
    case 'tool':
      return toolBranch(item);
    case 'node':
      return nodeBranch(item);
    case 'wait':
      return waitBranch(item);
    case 'decision':
      return decisionBranch(item.decision);
    case 'timer':
      return { line: [['timer ', 'strong'], [item.summary ?? item.id], ...statusPieces(item)] };
    case 'child':
      return { line: [['child ', 'strong'], [`${item.type} ${item.workflowId}`], ...statusPieces(item)] };
    case 'activity':
      return {
        line: [['activity ', 'strong'], [item.type], ...statusPieces(item)],
        below: () => [
          ...attemptBranches(item.attempts),
          ...item.input.map((one): Branch => ({ line: [[valueText(one)]] })),
        ],
      };
    case 'message':
      return { line: [[`${item.via} `, 'strong'], [`${item.name} `], [item.args.map(valueText).join(', '), 'dim']] };
    default:
      return item satisfies never;
  }
}

function toolBranch(call: ToolRun): Branch {
  const { tool, given, args, result, error, attempts, approval, edited } = call;
  return {
    line: [
      ['tool ', 'strong'],
      [tool],
      ...statusPieces(call),
      [attempts.length > 1 ? ` · ${attempts.length} attempts` : '', 'waits'],
      [edited ? ' · edited by a human' : '', 'waits'],
      [` · ${given.kind === 'json' ? argumentsText(given.value) : valueText(given)}`],
      [error === undefined ? '' : ' → error: ', 'bad'],
      [error ?? (result === undefined ? '' : ` → ${jsonText(result)}`)],
    ],
    below: () => [
      jsonBranch('given', given.kind === 'json' ? given.value : valueText(given)),
      ...(args === undefined ? [] : [jsonBranch('args', args)]),
      ...(result === undefined ? [] : [jsonBranch('result', result)]),
      ...(error === undefined ? [] : [jsonBranch('error', error)]),
      ...(approval === undefined ? [] : [jsonBranch('approved by', approval)]),
      ...attemptBranches(attempts),
    ],
  };
}

function nodeBranch(visit: NodeVisit): Branch {
  const { node, where, outcome, input, answers, attempts } = visit;
  return {
    line: [
      ['node ', 'strong'],
      [`${node}${visit.visit > 1 ? ` (visit ${visit.visit})` : ''}`],
      ...(where === 'workflow' ? [[' · in workflow code', 'dim'] as const] : statusPieces(visit)),
      [where === 'local' ? ' · local' : '', 'dim'],
      [attempts.length > 1 ? ` · ${attempts.length} attempts` : '', 'waits'],
      [outcome ? ` · ${outcomeText(outcome)}` : ''],
    ],
    below: () => [
      input.kind === 'json' ? jsonBranch('reads', input.value) : { line: [['reads ', 'name'], [valueText(input)]] },
      ...answers.map(({ id, value }) => jsonBranch(`answer ${id}`, value)),
      ...attemptBranches(attempts),
    ],
  };
}

function outcomeText(outcome: NonNullable<NodeVisit['outcome']>): string {
  switch (outcome.kind) {
    case 'completed':
      return `wrote ${outcome.updates.map(jsonText).join(', ') || 'nothing'}`;
    case 'interrupted':
      return `asked ${outcome.questions.join(', ')}`;
    case 'rejected':
      return `sent the answer to ${outcome.question} back: ${outcome.reason}`;
    case 'unreadable':
      return valueText(outcome.recorded);
    default:
      return outcome satisfies never;
  }
}

function waitBranch(wait: Wait): Branch {
  const { node, asks, status, span, decision, value, refused, sentBack, question, answer, call, expiresAt } = wait;
  const done: readonly Piece[] = decision
    ? [[' · '], ...decisionPieces(decision)]
    : [[' · '], [status, statusStyle(status)]];
  return {
    line: [
      ['wait ', 'waits'],
      [`${node} asks for ${asks === 'approval' ? 'an approval' : 'an answer'}`],
      [` · ${durationText(span.durationMs)}`],
      ...done,
    ],
    below: () => [
      jsonBranch('asked', value),
      ...(call === undefined ? [] : [jsonBranch('call', { ...call })]),
      ...(expiresAt === undefined ? [] : [jsonBranch('expires at', expiresAt)]),
      {
        line: [
          ['id ', 'name'],
          [question, 'dim'],
        ],
      },
      ...refused.map(decisionBranch),
      ...sentBack.map(({ reason }): Branch => ({ line: [['sent back ', 'waits'], [reason]] })),
      ...(answer === undefined ? [] : [jsonBranch('answer', answer)]),
      ...(decision?.note ? [jsonBranch('note', decision.note)] : []),
    ],
  };
}

function decisionBranch(decision: DecisionMade): Branch {
  return { line: [['decision ', 'strong'], ...decisionPieces(decision)] };
}

const WORDS = {
  approve: 'approved',
  deny: 'denied',
  edit: 'approved with other arguments',
  respond: 'responded in its place',
  resume: 'answered',
  expire: 'expired',
  unreadable: 'unreadable',
} as const;

function decisionPieces({ type, by, via, value, verdict, early }: DecisionMade): readonly Piece[] {
  const said = type !== 'unreadable' && value !== undefined ? ` ${jsonText(value)}` : '';
  const who = `${by === undefined ? '' : ` by ${by}`} (${via}${early ? ', before it was asked' : ''})`;
  const word: Piece = [WORDS[type], type === 'deny' ? 'bad' : type === 'expire' ? 'waits' : 'good'];
  switch (verdict.kind) {
    case 'accepted':
      return [word, [said], [who]];
    case 'kept':
      return [[`${type}${said}`], [who], [` · kept until ${verdict.until} asks`, 'waits']];
    case 'refused':
      return [[`${type}${said}`], [who], [` · refused, ${verdict.code}: `, 'bad'], [verdict.message]];
    case 'unknown':
      return [[`${type}${said}`], [who], [' · outcome not recorded', 'dim']];
    default:
      return verdict satisfies never;
  }
}
