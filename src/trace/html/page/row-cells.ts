import { h, icon } from './dom';
import { count, duration } from './format';
import type { Row } from './rows';
import { bdi, plain } from './text';
import type { TimeScale } from './time-scale';

/** Statuses as a sign beside their word: never by colour alone. */
const SIGNS: Readonly<Record<string, string>> = {
  failed: '✕',
  'timed-out': '✕',
  terminated: '✕',
  refused: '✕',
  cancelled: '⊘',
  waiting: '‖',
  paused: '‖',
  open: '‖',
  running: '●',
  scheduled: '○',
};

const WORTH_SAYING = new Set(Object.keys(SIGNS));

export function statusBadge(status: string, always = false): HTMLElement | undefined {
  if (!status || (!always && !WORTH_SAYING.has(status))) return undefined;
  return h('span', { class: `badge s-${plain(status)}` }, `${SIGNS[status] ?? '✓'} ${plain(status)}`);
}

/** The cells of a row: what, how long, tokens, and when. */
export function cellsOf(row: Row, open: boolean, scale: TimeScale, pixels: number): readonly Node[] {
  const branch = row.children.length > 0;
  const name = h(
    'div',
    { class: 'name' },
    h('span', { class: 'twisty', 'aria-hidden': 'true' }, branch ? (open ? '▾' : '▸') : ''),
  );
  const title = bdi(row.name, 'title');
  title.title = plain(row.note ? `${row.kind}: ${row.name}\n${row.note}` : `${row.kind}: ${row.name}`);
  name.append(icon(row.icon), title);
  const badge = statusBadge(row.status);
  if (badge) name.append(badge);
  if (row.note) name.append(bdi(row.note, 'note'));
  const time = h('div', { class: 'num time' }, row.point ? '' : duration(row.to - row.from));
  const { tokens } = row;
  const cell = h('div', { class: 'num tokens' }, tokens ? `${count(tokens.input)} → ${count(tokens.output)}` : '');
  if (tokens && row.subject.kind !== 'item') cell.prepend(h('span', { class: 'dim', title: 'Sum' }, '∑ '));
  return [name, time, cell, h('div', { class: 'lane' }, ...gaps(scale), ...bars(row, scale, pixels))];
}

function gaps(scale: TimeScale): readonly Node[] {
  return scale.segments.flatMap((segment) => {
    if (!segment.idle) return [];
    const gap = h('div', { class: 'gap' });
    gap.style.left = percent(segment.left);
    gap.style.width = percent(segment.width);
    return [gap];
  });
}

function bars(row: Row, scale: TimeScale, pixels: number): readonly Node[] {
  const left = scale.place(row.from);
  if (row.point) {
    const mark = h('div', { class: `mark b-${row.icon} s-${plain(row.status)}`, title: plain(row.name) });
    mark.style.left = percent(left);
    return [mark];
  }
  const bar = h('div', {
    class: `bar b-${row.icon} s-${plain(row.status)}`,
    title: `${row.kind}: ${duration(row.to - row.from)}`,
  });
  bar.style.left = percent(left);
  bar.style.width = percent(scale.place(row.to) - left);
  const width = scale.place(row.to) - left;
  if (width * pixels > 12) bar.append(...tries(row, scale, left));
  if (row.icon !== 'wait' || width * pixels < 84) return [bar];
  return [bar, labelled(row, left, width)];
}

function labelled(row: Row, left: number, width: number): HTMLElement {
  const label = h('div', { class: 'bar-label' }, h('span', {}, duration(row.to - row.from)));
  label.style.left = percent(left);
  label.style.width = percent(width);
  return label;
}

/** What came before the last attempt, paler: queue, failed attempts and the time between them. */
function tries(row: Row, scale: TimeScale, left: number): readonly Node[] {
  const { subject } = row;
  if (subject.kind !== 'item' || !('attempts' in subject.value)) return [];
  const { attempts, runMs } = subject.value;
  const width = scale.place(row.to) - left;
  if (attempts.length < 2 || runMs === undefined || width <= 0) return [];
  const title = `${attempts.length - 1} earlier; attempt ${attempts.length} took ${duration(runMs)}`;
  const earlier = h('div', { class: 'earlier', title });
  earlier.style.width = percent((scale.place(row.to - runMs) - left) / width);
  return [earlier];
}

export function percent(part: number): string {
  return `${(Math.min(1, Math.max(0, part)) * 100).toFixed(3)}%`;
}
