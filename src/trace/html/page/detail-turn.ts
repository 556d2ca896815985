import type { MessageShown, Turn } from '../../item';
import { h } from './dom';
import {
  attemptsSection,
  closedSection,
  facts,
  failureBlock,
  ms,
  section,
  spanFacts,
  valueBlock,
} from './detail-parts';
import { exchangeSection } from './detail-wire';
import { count } from './format';
import { bdi, longText } from './text';

export function turnParts(turn: Turn): readonly Node[] {
  return [
    overview(turn),
    failureBlock(turn.failure),
    section(`Context sent (${turn.context.length})`, messages(turn.context)),
    turn.reply &&
      section('Reply', message({ role: 'ai', content: turn.reply.content, tool_calls: turn.reply.toolCalls })),
    toolsSection(turn),
    scriptedSection(turn),
    ...turn.exchanges.map((exchange) => exchangeSection(exchange, turn.exchanges.length)),
    turn.exchanges.length === 0
      ? section('Wire', h('p', { class: 'dim' }, 'Nothing went over the wire, or nothing was recorded.'))
      : undefined,
    attemptsSection(turn.attempts, turn.maximumAttempts),
    turn.record !== undefined ? section('Record', valueBlock('the record', turn.record)) : undefined,
  ].filter((part) => part !== undefined);
}

function overview(turn: Turn): HTMLElement {
  const { model, tokens } = turn;
  return section(
    'Overview',
    facts(
      ['Model', [model.model ?? model.name, model.provider].filter(Boolean).join(' · ')],
      ['Asked for', turn.askedFor.join(', ')],
      ['Responded with', turn.respondedWith?.slice(0, 300)],
      ['Finish reason', turn.finishReason],
      ['Tokens', tokens && tokensShown(tokens)],
      ...spanFacts(turn.span),
      ['Model call', timesShown(turn)],
      ['Queue', ms(turn.queueMs)],
      ['Node', `${turn.node} · step ${turn.step}`],
      ['Activity', turn.id],
      ['Task queue', turn.taskQueue],
    ),
  );
}

function tokensShown({ input, output, total, cached, reasoning }: NonNullable<Turn['tokens']>): string {
  const parts = [
    `${count(input)} in${cached ? ` (${count(cached)} cached)` : ''}`,
    `${count(output)} out${reasoning ? ` (${count(reasoning)} reasoning)` : ''}`,
    `${count(total)} total`,
  ];
  return parts.join(' · ');
}

function timesShown({ modelMs, providerMs, libraryMs }: Turn): string | undefined {
  const parts = [
    ms(modelMs),
    providerMs !== undefined && `provider ${ms(providerMs)}`,
    libraryMs !== undefined && `library ${ms(libraryMs)}`,
  ];
  return parts.filter(Boolean).join(' · ') || undefined;
}

const FIRST_MESSAGES = 60;

/** A conversation: a long one from its end, the rest when asked for. */
export function messages(all: readonly MessageShown[]): HTMLElement {
  const list = h('div', { class: 'messages' });
  const early = all.slice(0, Math.max(0, all.length - FIRST_MESSAGES));
  if (early.length > 0) list.append(closedSection(`${early.length} earlier`, () => early.map(message)));
  list.append(...all.slice(early.length).map(message));
  return list;
}

function message(one: MessageShown): HTMLElement {
  const head = h('div', { class: 'message-head' }, bdi(one.role, 'role'));
  if (one.name) head.append(bdi(one.name, 'dim'));
  if (one.tool_call_id) head.append(bdi(one.tool_call_id, 'dim mono'));
  if (one.status) head.append(bdi(one.status, 'dim'));
  const box = h(
    'article',
    { class: `message r-${['human', 'ai', 'tool', 'system'].includes(one.role) ? one.role : 'other'}` },
    head,
  );
  if (one.content) box.append(longText(one.content));
  else if (!one.tool_calls?.length) box.append(h('p', { class: 'dim' }, 'empty'));
  for (const call of one.tool_calls ?? []) {
    const what = h('div', { class: 'call-head' }, '→ ', bdi(call.name, 'mono strong'), ' ', bdi(call.id, 'dim mono'));
    box.append(h('div', { class: 'call' }, what, valueBlock('the arguments', call.args)));
  }
  return box;
}

function toolsSection({ tools }: Turn): HTMLElement | undefined {
  if (tools.length === 0) return undefined;
  const each = tools.map((tool) => {
    const title = h('div', { class: 'tool-head' }, bdi(tool.name, 'mono strong'));
    const about = tool.description ? longText(tool.description) : undefined;
    const schema = closedSection('Schema', () => [valueBlock(`the schema of ${tool.name}`, tool.schema, 6)]);
    schema.open = tools.length === 1;
    return h('div', { class: 'declared' }, title, about, schema);
  });
  return section(`Declared tools (${tools.length})`, ...each);
}

function scriptedSection({ scripted }: Turn): HTMLElement | undefined {
  if (!scripted) return undefined;
  const { tools, ignored } = scripted;
  const roles = ignored.roles.length > 0 ? ` (${ignored.roles.join(', ')})` : '';
  return section(
    'Scripted model',
    facts(
      ['Tools declared', tools.names.join(', ') || 'none'],
      ['Consulted', tools.consulted ? 'yes' : 'no'],
      ['Context ignored', `${ignored.messages} message(s)${roles}`],
    ),
  );
}
