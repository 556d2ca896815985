import { button, copyButton, h } from './dom';
import { inline, plural } from './format';
import { longText, putText } from './text';

const PAGE_SIZE = 100;
const LONGEST_INLINE = 400;

/** JSON as a tree that opens where it is clicked, and makes nothing before. */
export function jsonTree(value: unknown, open = 3): HTMLElement {
  return h('div', { class: 'json' }, jsonNode(undefined, value, open));
}

/** The same under a heading, with a button that copies it. */
export function jsonBlock(what: string, value: unknown, open = 3): HTMLElement {
  return h(
    'div',
    { class: 'block' },
    h(
      'div',
      { class: 'tools' },
      copyButton(what, () => JSON.stringify(value, undefined, 2), 'Copy'),
    ),
    jsonTree(value, open),
  );
}

function jsonNode(key: string | undefined, value: unknown, open: number): HTMLElement {
  if (typeof value === 'object' && value !== null) return branch(key, value, open);
  const line = h('div', { class: 'leaf' }, ...keyed(key));
  if (typeof value === 'string' && value.length > LONGEST_INLINE) line.append(longText(value, 'j-string'));
  else line.append(putText(h('bdi', { class: `j-${value === null ? 'null' : typeof value}` }), literal(value)));
  return line;
}

// Quoted and escaped as JSON is; line ends in a short string stay escapes.
function literal(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

function keyed(key: string | undefined): readonly Node[] {
  return key === undefined
    ? []
    : [putText(h('bdi', { class: 'j-key' }), key.slice(0, 300)), h('span', { class: 'dim' }, ': ')];
}

function branch(key: string | undefined, value: object, open: number): HTMLElement {
  const entries = Array.isArray(value) ? value.length : Object.keys(value).length;
  const [start, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries === 0) return h('div', { class: 'leaf' }, ...keyed(key), h('span', { class: 'dim' }, `${start}${end}`));
  const details = h('details', { class: 'branch' });
  const size = plural(entries, Array.isArray(value) ? 'item' : 'key');
  const preview = putText(h('bdi', { class: 'dim preview' }), inline(value, 70));
  details.append(
    h(
      'summary',
      {},
      ...keyed(key),
      preview,
      h('span', { class: 'dim size' }, size),
      h('span', { class: 'dim opening' }, start),
    ),
  );
  const fill = () => {
    if (details.querySelector(':scope > .children')) return;
    const children = h('div', { class: 'children' });
    details.append(children, h('div', { class: 'dim closing' }, end));
    addPage(children, entriesOf(value), 0, open - 1);
  };
  details.addEventListener('toggle', () => details.open && fill());
  if (open > 0 && (entries <= 30 || key === undefined)) {
    fill();
    details.open = true;
  }
  return details;
}

function entriesOf(value: object): readonly (readonly [string, unknown])[] {
  return Array.isArray(value) ? value.map((one, index) => [String(index), one] as const) : Object.entries(value);
}

function addPage(
  parent: HTMLElement,
  entries: readonly (readonly [string, unknown])[],
  from: number,
  open: number,
): void {
  const page = entries.slice(from, from + PAGE_SIZE);
  parent.append(...page.map(([key, value]) => jsonNode(key, value, open)));
  const left = entries.length - from - page.length;
  if (left === 0) return;
  const next: HTMLButtonElement = button(
    `Show ${Math.min(left, PAGE_SIZE)} of ${left} more`,
    () => {
      next.remove();
      addPage(parent, entries, from + PAGE_SIZE, open);
    },
    { class: 'quiet' },
  );
  parent.append(next);
}
