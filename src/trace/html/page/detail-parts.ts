import type { Attempt } from '../../item';
import type { Failure, Recorded, Span } from '../../recorded';
import { h } from './dom';
import { bytesShown, duration, moment } from './format';
import { jsonBlock } from './json-tree';
import { bdi, longText, plain } from './text';

type Fact = readonly [name: string, value: string | number | Node | undefined];

export function section(title: string, ...children: readonly (Node | undefined)[]): HTMLElement {
  const shown = children.filter((child) => child !== undefined);
  return h('section', {}, h('h3', {}, title), ...shown);
}

/** A section that starts closed. */
export function closedSection(title: string, fill: () => readonly Node[]): HTMLDetailsElement {
  const details = h('details', { class: 'fold' }, h('summary', {}, title));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(...fill());
  });
  return details;
}

/** Names and values; what has no value is left out. */
export function facts(...all: readonly Fact[]): HTMLElement {
  const list = h('dl', { class: 'facts' });
  for (const [name, value] of all) {
    if (value === undefined || value === '') continue;
    list.append(h('dt', {}, name), h('dd', {}, value instanceof Node ? value : bdi(String(value))));
  }
  return list;
}

export function spanFacts({ from, to, durationMs, offsetMs }: Span, word = 'Duration'): readonly Fact[] {
  return [
    ['From', `${moment(from)}  (+${duration(offsetMs)})`],
    ['To', to ? moment(to) : 'still going on'],
    [word, duration(durationMs)],
  ];
}

export function ms(value: number | undefined): string | undefined {
  return value === undefined ? undefined : duration(value);
}

/** JSON, or text where it is no more than that. */
export function valueBlock(what: string, value: unknown, open = 3): HTMLElement {
  return jsonBlock(what, value, open);
}

export function recordedBlock(what: string, recorded: Recorded): HTMLElement {
  if (recorded.kind === 'json') return valueBlock(what, recorded.value);
  if (recorded.kind === 'encoded') {
    return h(
      'p',
      { class: 'dim' },
      plain(`Encoded as ${recorded.encoding}, ${bytesShown(recorded.bytes)}; not decoded.`),
    );
  }
  return h(
    'p',
    { class: 'dim' },
    plain(`Not here: ${recorded.reason}${recorded.digest ? ` (digest ${recorded.digest})` : ''}`),
  );
}

export function failureBlock(failure: Failure | undefined): HTMLElement | undefined {
  if (!failure) return undefined;
  const box = h('div', { class: 'failure', role: 'note' });
  const chain: readonly Omit<Failure, 'causes'>[] = [failure, ...failure.causes];
  chain.forEach((one, index) => {
    const head = [index > 0 ? 'Caused by:' : '✕', one.code ?? one.kind].join(' ');
    box.append(h('p', { class: 'failure-head' }, bdi(head, 'code'), one.retryable === false && ' · not retryable'));
    box.append(longText(one.message));
    const { stack, details } = one;
    if (stack) box.append(closedSection('Stack', () => [longText(stack, 'mono')]));
    if (details?.length) {
      box.append(
        closedSection(`Details (${details.length})`, () =>
          details.map((detail) => recordedBlock('the detail', detail)),
        ),
      );
    }
  });
  return box;
}

/** Every attempt, the failed ones too. */
export function attemptsSection(attempts: readonly Attempt[], maximum?: number): HTMLElement | undefined {
  if (attempts.length < 2 && !attempts[0]?.failure) return undefined;
  const list = h('ol', { class: 'attempts' });
  for (const attempt of attempts) {
    const line = h('div', { class: 'line' }, h('strong', {}, `${attempt.number}`), ` ${attempt.status}`);
    if (attempt.durationMs !== undefined)
      line.append(h('span', { class: 'dim' }, ` · ${duration(attempt.durationMs)}`));
    if (attempt.from) line.append(h('span', { class: 'dim' }, ` · ${moment(attempt.from)}`));
    const failure =
      attempt.failure &&
      bdi(`${attempt.failure.code ?? attempt.failure.kind}: ${attempt.failure.message}`, 'note-line');
    list.append(h('li', { class: `s-${attempt.status}` }, line, failure));
  }
  const title = maximum ? `Attempts (${attempts.length} of at most ${maximum})` : `Attempts (${attempts.length})`;
  return section(title, list);
}
