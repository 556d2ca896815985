import type { Trace } from '../../trace';
import { announce, button, copyButton, copyText, h, icon, remember, remembered, replace, segmented } from './dom';
import { detailOf } from './detail';
import { duration, plural } from './format';
import { cellsOf, percent, statusBadge } from './row-cells';
import { rowsOf, type Row } from './rows';
import { bdi } from './text';
import { splitter } from './theme';
import { ticksOf, timeScale, type TimeScale } from './time-scale';
import { TreeView } from './tree';

/** Traces on one time axis: tree and waterfall on the left, the chosen row on the right. */
export class TraceView {
  readonly element = h('div', { class: 'panes' });
  readonly tree: TreeView;
  readonly search = h('input', {
    type: 'search',
    placeholder: 'Search  /',
    'aria-label': 'Search this trace',
    spellcheck: 'false',
  });
  private readonly rows: readonly Row[];
  private readonly axis = h('div', { class: 'axis', 'aria-hidden': 'true' });
  private readonly detail = h('div', { class: 'detail', role: 'region', 'aria-label': 'Detail', tabindex: -1 });
  private readonly found = h('span', { class: 'dim found', role: 'status' });
  private readonly foldToggle: HTMLButtonElement;
  private scale: TimeScale;
  private fold: boolean;
  private view: 'formatted' | 'json';

  constructor(traces: readonly Trace[]) {
    this.rows = rowsOf(traces);
    this.fold = mostlyWaiting(traces, this.rows);
    this.view = remembered('view') === 'json' ? 'json' : 'formatted';
    this.scale = timeScale(this.rows, this.fold);
    this.foldToggle = button('Hide idle time', () => this.setFold(!this.fold), { class: 'toggle fold-idle' });
    this.tree = new TreeView(this.rows, {
      draw: (row, { open }) => cellsOf(row, open, this.scale, this.axis.clientWidth),
      selected: (row) => this.show(row),
    });
    this.build();
    this.setFold(this.fold);
  }

  /** To be called once it is in the document, and whenever its size may have changed. */
  resized(): void {
    this.drawAxis();
    this.tree.paint();
  }

  selectFirst(): void {
    const [first] = this.rows;
    if (first) this.tree.select(first);
  }

  copySelection(): void {
    const row = this.tree.selection;
    if (row) void copyText(JSON.stringify(row.subject.value, undefined, 2), `the ${row.kind} as JSON`);
  }

  /** Leaves the search, then the detail. */
  escape(): void {
    if (this.search.value) {
      this.search.value = '';
      this.find();
    }
    this.tree.element.focus();
  }

  focusDetail(): void {
    this.detail.focus();
  }

  private build(): void {
    this.search.addEventListener('input', () => this.find());
    const bar = h(
      'div',
      { class: 'toolbar' },
      this.search,
      this.found,
      h('span', { class: 'grow' }),
      this.foldToggle,
      button('Expand', () => this.tree.toggleAll(true), { class: 'quiet', title: 'Expand all (E)' }),
      button('Collapse', () => this.tree.toggleAll(false), { class: 'quiet', title: 'Collapse all (W)' }),
    );
    const head = h(
      'div',
      { class: 'columns', 'aria-hidden': 'true' },
      h('div', {}, 'What'),
      h('div', { class: 'num time' }, 'Duration'),
      h('div', { class: 'num tokens' }, 'Tokens'),
      this.axis,
    );
    const left = h('div', { class: 'left' }, bar, head, this.tree.element);
    this.element.append(left, splitter(this.element), this.detail);
  }

  private find(): void {
    const text = this.search.value;
    const matches = this.tree.search(text);
    this.found.textContent = text.trim() ? plural(matches, 'match', 'matches') : '';
  }

  private setFold(fold: boolean): void {
    this.fold = fold;
    this.foldToggle.setAttribute('aria-pressed', String(fold));
    this.scale = timeScale(this.rows, fold);
    this.element.classList.toggle('folded', fold);
    this.resized();
    announce(fold ? 'Idle time is hidden' : 'Idle time is shown');
  }

  private drawAxis(): void {
    const pixels = this.axis.clientWidth || 400;
    const ticks = ticksOf(this.scale, pixels).map(({ at, label }) => placedLabel('tick', at, label));
    const idle = this.scale.segments.filter((segment) => segment.idle);
    const gaps = idle.map(({ left, width, from, to }) => {
      const gap = placedLabel('idle', left, duration(to - from));
      gap.style.width = percent(width);
      gap.title = `Nothing went on for ${duration(to - from)}`;
      return gap;
    });
    replace(this.axis, ...ticks, ...gaps);
  }

  private show(row: Row): void {
    const choose = (view: 'formatted' | 'json') => {
      this.view = view;
      remember('view', view);
      this.show(row);
      this.detail.querySelector<HTMLElement>(`[data-value="${view}"]`)?.focus();
    };
    const options = [
      { value: 'formatted', label: 'Formatted' },
      { value: 'json', label: 'JSON' },
    ] as const;
    const title = h('h2', {}, icon(row.icon), bdi(row.name), statusBadge(row.status, true));
    const copy = copyButton(`the ${row.kind} as JSON`, () => JSON.stringify(row.subject.value, undefined, 2));
    const tools = h('div', { class: 'detail-tools' }, segmented('View', options, this.view, choose), copy);
    const head = h('header', { class: 'detail-head' }, h('div', { class: 'kind' }, row.kind), title, tools);
    replace(this.detail, head, h('div', { class: 'detail-body' }, ...detailOf(row, this.view)));
    this.detail.scrollTop = 0;
  }
}

function placedLabel(className: string, at: number, label: string): HTMLElement {
  const element = h('div', { class: className }, h('span', {}, label));
  element.style.left = percent(at);
  return element;
}

/** Whether more than half of what the axis shows is waiting. */
function mostlyWaiting(traces: readonly Trace[], rows: readonly Row[]): boolean {
  const waiting = traces.reduce((sum, { totals }) => sum + totals.waitingMs, 0);
  const active = traces.reduce((sum, { totals }) => sum + totals.activeMs, 0);
  const apart = Math.max(...rows.map(({ to }) => to)) - rows.reduce((sum, row) => sum + row.to - row.from, 0);
  return waiting > active || apart > active;
}
