import type { TraceView } from './trace-view';

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

type Keys = Readonly<Record<string, (view: TraceView) => void>>;

/** Keys of the tree: where the tree has the focus, or nothing has. */
const TREE_KEYS: Keys = {
  ArrowDown: ({ tree }) => tree.move(1),
  ArrowUp: ({ tree }) => tree.move(-1),
  ArrowRight: ({ tree }) => tree.expand(),
  ArrowLeft: ({ tree }) => tree.collapse(),
  Home: ({ tree }) => tree.move(-Infinity),
  End: ({ tree }) => tree.move(Infinity),
  PageDown: ({ tree }) => tree.move(15),
  PageUp: ({ tree }) => tree.move(-15),
  Enter: (view) => view.focusDetail(),
};

/** Keys of the page, wherever the focus is but in a field. */
const PAGE_KEYS: Keys = {
  '/': ({ search }) => search.focus(),
  e: ({ tree }) => tree.toggleAll(true),
  w: ({ tree }) => tree.toggleAll(false),
  c: (view) => view.copySelection(),
};

export function onKey(event: KeyboardEvent, view: TraceView): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === 'Escape') {
    event.preventDefault();
    view.escape();
    return;
  }
  const inSearch = event.target === view.search;
  if (typing(event.target) && !(inSearch && ['ArrowDown', 'ArrowUp', 'Enter'].includes(event.key))) return;
  const onTree = inSearch || event.target === view.tree.element || event.target === document.body;
  const act = (onTree ? TREE_KEYS[event.key] : undefined) ?? PAGE_KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  if (inSearch && event.key === 'Enter') view.tree.element.focus();
  else act(view);
}
