import type { DecisionMade } from '../../decision-made';
import type { Wait } from '../../item';
import { h } from './dom';
import { facts, section, spanFacts, valueBlock } from './detail-parts';
import { duration, moment } from './format';
import { decisionName } from './rows';
import { longText } from './text';

export function waitParts(wait: Wait): readonly Node[] {
  return [
    section(
      wait.asks === 'approval' ? 'Approval' : 'Question',
      verdictCard(wait),
      facts(
        ['Status', wait.status],
        ...spanFacts(wait.span, wait.span.to ? 'Waited' : 'Waiting for'),
        ['Node', wait.node],
        ['Question', wait.question],
        ['Digest', wait.digest],
        ['Allows', wait.allow?.join(', ')],
        ['Expires at', wait.expiresAt],
      ),
    ),
    section('Asked', valueBlock('what was asked', wait.value, 4)),
    wait.call && section(`The call: ${wait.call.tool}`, valueBlock('its arguments', wait.call.args)),
    wait.decision && section('Decision', ...decisionParts(wait.decision)),
    wait.answer !== undefined ? section('What the node was handed', valueBlock('the answer', wait.answer)) : undefined,
    wait.sentBack.length > 0 ? sentBackSection(wait) : undefined,
    wait.refused.length > 0
      ? section(`Refused (${wait.refused.length})`, ...wait.refused.flatMap(decisionParts))
      : undefined,
    wait.schema !== undefined ? section('Schema of the answer', valueBlock('the schema', wait.schema)) : undefined,
  ].filter((part) => part !== undefined);
}

function verdictCard({ decision, span, status }: Wait): HTMLElement {
  if (!decision) {
    const word = status === 'open' ? 'Waiting for somebody' : `Nobody decided: ${status}`;
    return h('p', { class: 'verdict' }, `${word} · ${duration(span.durationMs)}`);
  }
  const who = decision.by ?? decision.identity;
  const line = `${decisionName(decision)}${who ? ` by ${who}` : ''} after ${duration(span.durationMs)}`;
  const box = h('div', { class: 'verdict' }, longText(line, 'strong'));
  if (decision.note) box.append(longText(`“${decision.note}”`));
  return box;
}

function sentBackSection({ sentBack }: Wait): HTMLElement {
  const each = sentBack.map(({ reason, at, decision }) =>
    h('div', { class: 'card' }, facts(['At', moment(at)], ['By', decision?.by]), longText(reason)),
  );
  return section(`Answers the node did not take (${sentBack.length})`, ...each);
}

export function decisionParts(decision: DecisionMade): readonly Node[] {
  const { verdict } = decision;
  const because =
    verdict.kind === 'refused'
      ? `${verdict.code}: ${verdict.message}`
      : verdict.kind === 'unknown'
        ? verdict.reason
        : undefined;
  return [
    facts(
      ['Decision', decision.type],
      ['Verdict', verdict.kind],
      ['Because', because],
      ['Kept for', verdict.kind === 'kept' ? verdict.until : undefined],
      ['Verdict from', decision.verdictFrom],
      ['By', decision.by],
      ['Note', decision.note],
      ['At', `${moment(decision.at)}  (+${duration(decision.offsetMs)})`],
      ['Early', decision.early ? 'before its question was asked' : undefined],
      ['Door', `${decision.via} ${decision.door}`],
      ['Temporal client', decision.identity],
      ['Question', decision.question],
      ['Node', decision.node],
      ['Digest', decision.digest],
      ['Decision id', decision.decisionId],
    ),
    ...(decision.value === undefined ? [] : [valueBlock('the value', decision.value)]),
  ];
}
