import { everyRow, type Row } from './rows';
import { h } from './dom';

const ROW_HEIGHT = 30;
const SPARE_ROWS = 12;

/** What the tree needs of the page around it. */
interface TreeHost {
  /** Draws a row’s cells. */
  draw(row: Row, state: { readonly open: boolean; readonly selected: boolean }): readonly Node[];
  selected(row: Row): void;
}

/** A tree of rows of one height, of which only those in sight exist. */
export class TreeView {
  readonly element = h('div', { class: 'tree', role: 'tree', tabindex: 0, 'aria-label': 'What happened, in order' });
  readonly visible: Row[] = [];
  private readonly sheet = h('div', { class: 'sheet', role: 'presentation' });
  private readonly closed = new Set<string>();
  private readonly parents = new Map<string, Row>();
  private readonly haystacks = new Map<string, string>();
  private matches: ReadonlySet<string> | undefined;
  private chosen: Row | undefined;

  constructor(
    private readonly roots: readonly Row[],
    private readonly host: TreeHost,
  ) {
    this.element.append(this.sheet);
    this.element.addEventListener('scroll', () => this.paint());
    this.element.addEventListener('click', (event) => this.clicked(event));
    for (const row of everyRow(roots)) for (const child of row.children) this.parents.set(child.id, row);
    this.flatten();
  }

  get selection(): Row | undefined {
    return this.chosen;
  }

  /** Filters by text, in names and in all that the rows hold; gives how many match. */
  search(text: string): number {
    const wanted = text.trim().toLowerCase();
    this.matches = undefined;
    if (wanted) {
      const found = everyRow(this.roots).filter((row) => this.haystack(row).includes(wanted));
      this.matches = new Set(found.map(({ id }) => id));
    }
    this.flatten();
    const first = this.visible.find(({ id }) => this.matches?.has(id));
    if (first && !(this.chosen && this.matches?.has(this.chosen.id))) this.select(first);
    else this.paint();
    return this.matches?.size ?? this.visible.length;
  }

  select(row: Row): void {
    this.chosen = row;
    this.reveal(row);
    this.paint();
    this.host.selected(row);
  }

  /** Selects the row so many places away. */
  move(by: number): void {
    const at = this.chosen ? this.visible.findIndex(({ id }) => id === this.chosen?.id) : -1;
    const row = this.visible[Math.max(0, Math.min(this.visible.length - 1, at + by))];
    if (row) this.select(row);
  }

  collapse(): void {
    const row = this.chosen;
    if (!row) return;
    if (row.children.length > 0 && this.isOpen(row)) return this.toggle(row, false);
    const parent = this.parents.get(row.id);
    if (parent) this.select(parent);
  }

  expand(): void {
    const row = this.chosen;
    if (!row || row.children.length === 0) return;
    if (this.isOpen(row)) this.move(1);
    else this.toggle(row, true);
  }

  toggleAll(open: boolean): void {
    this.closed.clear();
    if (!open)
      for (const row of everyRow(this.roots)) if (row.depth > 0 && row.children.length > 0) this.closed.add(row.id);
    let row = this.chosen;
    for (let up = row; up; up = this.parents.get(up.id)) if (this.closed.has(up.id)) row = up;
    this.flatten();
    if (row && row !== this.chosen) this.select(row);
    else this.paint();
  }

  /** Draws what is in sight. */
  paint(): void {
    const { scrollTop, clientHeight } = this.element;
    const from = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const to = Math.min(this.visible.length, Math.ceil((scrollTop + (clientHeight || 600)) / ROW_HEIGHT) + SPARE_ROWS);
    this.sheet.style.height = `${this.visible.length * ROW_HEIGHT}px`;
    this.sheet.replaceChildren(...this.visible.slice(from, to).map((row, index) => this.drawn(row, from + index)));
    if (this.chosen) this.element.setAttribute('aria-activedescendant', `row-${this.chosen.id}`);
  }

  private haystack(row: Row): string {
    const known = this.haystacks.get(row.id);
    if (known !== undefined) return known;
    const { kind, value } = row.subject;
    const content = kind === 'thread' || kind === 'run' || kind === 'stop' ? '' : JSON.stringify(value);
    const text = `${row.kind} ${row.name} ${row.note} ${row.status} ${content}`.toLowerCase();
    this.haystacks.set(row.id, text);
    return text;
  }

  private isOpen(row: Row): boolean {
    return this.matches !== undefined || !this.closed.has(row.id);
  }

  private toggle(row: Row, open: boolean): void {
    if (open) this.closed.delete(row.id);
    else this.closed.add(row.id);
    this.flatten();
    this.paint();
  }

  private flatten(): void {
    const kept = (row: Row): boolean => !this.matches || this.matches.has(row.id) || row.children.some(kept);
    const rows = (list: readonly Row[]): readonly Row[] =>
      list.filter(kept).flatMap((row) => [row, ...(this.isOpen(row) ? rows(row.children) : [])]);
    this.visible.splice(0, this.visible.length, ...rows(this.roots));
  }

  private drawn(row: Row, index: number): HTMLElement {
    const branch = row.children.length > 0;
    const selected = row === this.chosen;
    const element = h('div', {
      class: `row kind-${row.icon}${this.matches && !this.matches.has(row.id) ? ' faint' : ''}`,
      id: `row-${row.id}`,
      role: 'treeitem',
      'data-index': index,
      'aria-level': row.depth + 1,
      'aria-selected': String(selected),
      'aria-expanded': branch ? String(this.isOpen(row)) : undefined,
      'aria-setsize': (this.parents.get(row.id)?.children ?? this.roots).length,
      'aria-posinset': (this.parents.get(row.id)?.children ?? this.roots).indexOf(row) + 1,
    });
    element.style.top = `${index * ROW_HEIGHT}px`;
    element.style.setProperty('--depth', String(row.depth));
    element.append(...this.host.draw(row, { open: this.isOpen(row), selected }));
    return element;
  }

  private reveal(row: Row): void {
    const index = this.visible.findIndex(({ id }) => id === row.id);
    const { scrollTop, clientHeight } = this.element;
    if (index < 0 || clientHeight === 0) return;
    const top = index * ROW_HEIGHT;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) this.element.scrollTop = top + ROW_HEIGHT - clientHeight;
  }

  private clicked(event: MouseEvent): void {
    const target = event.target as Element;
    const element = target.closest<HTMLElement>('.row');
    const row = element && this.visible[Number(element.dataset.index)];
    if (!row) return;
    if (target.closest('.twisty') && row.children.length > 0) this.toggle(row, !this.isOpen(row));
    else this.select(row);
  }
}
