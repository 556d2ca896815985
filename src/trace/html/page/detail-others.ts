import type { Child, ForeignActivity, MessageIn, Timer } from '../../item';
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

export function activityParts(activity: ForeignActivity): readonly Node[] {
  return [
    section(
      'Overview',
      facts(
        ['Activity', activity.type],
        ['Status', activity.status],
        ...spanFacts(activity.span),
        ['Queue', ms(activity.queueMs)],
        ['Id', activity.id],
      ),
    ),
    failureBlock(activity.failure),
    ...inputs(activity.input),
    activity.result && section('Result', recordedBlock('the result', activity.result)),
    attemptsSection(activity.attempts),
  ].filter((part) => part !== undefined);
}

function inputs(all: Child['input']): readonly Node[] {
  return all.length > 0 ? [section('Input', ...all.map((one) => recordedBlock('the input', one)))] : [];
}

export function otherParts(item: Timer | Child | MessageIn): readonly Node[] {
  switch (item.kind) {
    case 'timer':
      return [
        section(
          'Timer',
          facts(
            ['Status', item.status],
            ['Set for', ms(item.askedMs)],
            ['Summary', item.summary],
            ...spanFacts(item.span),
            ['Id', item.id],
          ),
        ),
      ];
    case 'child':
      return childParts(item);
    case 'message':
      return [
        section(
          'Message',
          facts(['Via', item.via], ['Name', item.name], ['Temporal client', item.identity], ...spanFacts(item.span)),
        ),
        ...inputs(item.args),
      ];
    default:
      return [valueBlock('the item', item satisfies never)];
  }
}

function childParts(item: Child): readonly Node[] {
  return [
    section(
      'Child workflow',
      facts(
        ['Type', item.type],
        ['Status', item.status],
        ['Workflow', item.workflowId],
        ['Run', item.runId],
        ...spanFacts(item.span),
      ),
    ),
    failureBlock(item.failure),
    ...inputs(item.input),
    item.result && section('Result', recordedBlock('the result', item.result)),
  ].filter((part) => part !== undefined);
}
