import type { NodeVisit, ToolRun } from '../../item';
import { h } from './dom';
import {
  attemptsSection,
  facts,
  failureBlock,
  ms,
  recordedBlock,
  section,
  spanFacts,
  valueBlock,
} from './detail-parts';
import { longText } from './text';

export function toolParts(tool: ToolRun): readonly Node[] {
  return [
    section(
      'Overview',
      facts(
        ['Tool', tool.tool],
        ['Status', tool.error ? 'error, told to the model' : tool.status],
        ['Call', tool.callId],
        ['Approved by', tool.approval],
        ['Arguments', tool.edited ? 'changed by a person before it ran' : undefined],
        ...spanFacts(tool.span),
        ['In the tool', ms(tool.toolMs)],
        ['Queue', ms(tool.queueMs)],
        ['Node', `${tool.node} · step ${tool.step}`],
        ['Activity', tool.id],
        ['Idempotency key', tool.idempotencyKey],
        ['Task queue', tool.taskQueue],
      ),
    ),
    failureBlock(tool.failure),
    ...argsSections(tool),
    tool.error === undefined ? undefined : section('Error told to the model', longText(tool.error, 'failure')),
    tool.result === undefined ? undefined : section('Result', valueBlock('the result', tool.result)),
    attemptsSection(tool.attempts, tool.maximumAttempts),
  ].filter((part) => part !== undefined);
}

/** The arguments once, where the schema read them as they were given. */
function argsSections({ given, args }: ToolRun): readonly Node[] {
  if (args === undefined) return [section('Arguments, as given', recordedBlock('the arguments', given))];
  if (given.kind === 'json' && JSON.stringify(given.value) === JSON.stringify(args)) {
    return [section('Arguments', valueBlock('the arguments', args))];
  }
  return [
    section('Arguments, as given', recordedBlock('the arguments', given)),
    section('Arguments, as the schema read them', valueBlock('the arguments', args)),
  ];
}

export function nodeParts(node: NodeVisit): readonly Node[] {
  const { answers, once, outcome } = node;
  return [
    section(
      'Overview',
      facts(
        ['Node', node.node],
        ['Where', node.where],
        ['Status', node.status],
        ['Visit', node.visit > 1 ? `${node.visit}: it came back from a pause` : '1'],
        ...spanFacts(node.span),
        ['Queue', ms(node.queueMs)],
        ['Last attempt', ms(node.runMs)],
        ['Step', node.step],
        ['Activity', node.id],
        ['Idempotency key', node.idempotencyKey],
        ['Task queue', node.taskQueue],
      ),
    ),
    failureBlock(node.failure),
    outcome && outcomeSection(outcome),
    section(node.sent ? 'Input, of its own Send' : 'State it read', recordedBlock('the input', node.input)),
    answers.length > 0 ? section(`Answers (${answers.length})`, valueBlock('the answers', answers)) : undefined,
    Object.keys(once).length > 0
      ? section('Kept from earlier visits', valueBlock('the kept results', once))
      : undefined,
    attemptsSection(node.attempts, node.maximumAttempts),
  ].filter((part) => part !== undefined);
}

function outcomeSection(outcome: NonNullable<NodeVisit['outcome']>): HTMLElement {
  switch (outcome.kind) {
    case 'completed':
      return section(
        'Outcome',
        outcome.updates.length > 0
          ? valueBlock('the updates', outcome.updates.length === 1 ? outcome.updates[0] : outcome.updates)
          : h('p', { class: 'dim' }, 'No update.'),
        outcome.goto.length > 0 ? valueBlock('where it goes', { goto: outcome.goto }) : undefined,
      );
    case 'interrupted':
      return section(
        'Outcome',
        h('p', {}, 'It asked, and will be visited again:'),
        valueBlock('the questions', outcome.questions),
      );
    case 'rejected':
      return section('Outcome', h('p', {}, 'It did not take the answer:'), longText(outcome.reason));
    case 'unreadable':
      return section('Outcome', recordedBlock('the outcome', outcome.recorded));
    default:
      return section('Outcome', valueBlock('the outcome', outcome satisfies never));
  }
}
