import { button, h, remember, remembered } from './dom';

const THEMES = ['system', 'light', 'dark'] as const;

function isTheme(value: string | undefined): value is (typeof THEMES)[number] {
  return THEMES.some((theme) => theme === value);
}

/** A button that goes through the themes: as the system says, light, dark. */
export function themeToggle(): HTMLElement {
  const stored = remembered('theme');
  let theme: (typeof THEMES)[number] = isTheme(stored) ? stored : 'system';
  const apply = () => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    toggle.textContent = { system: '◐ System', light: '○ Light', dark: '● Dark' }[theme];
    toggle.setAttribute('aria-label', `Theme: ${theme}`);
  };
  const next = () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
    remember('theme', theme);
    apply();
  };
  const toggle = button('', next, { class: 'quiet theme', title: 'Theme' });
  apply();
  return toggle;
}

/** A handle between the panes, for pointer and keyboard. */
export function splitter(panes: HTMLElement): HTMLElement {
  const handle = h('div', {
    class: 'splitter',
    role: 'separator',
    tabindex: 0,
    'aria-label': 'Width of the detail pane',
    'aria-orientation': 'vertical',
  });
  const set = (share: number) => {
    const kept = Math.min(0.8, Math.max(0.2, share));
    panes.style.setProperty('--split', `${(kept * 100).toFixed(1)}%`);
    handle.setAttribute('aria-valuenow', String(Math.round(kept * 100)));
    current = kept;
    window.dispatchEvent(new Event('resize'));
  };
  let current = 0.6;
  handle.setAttribute('aria-valuemin', '20');
  handle.setAttribute('aria-valuemax', '80');
  handle.setAttribute('aria-valuenow', '60');
  handle.addEventListener('pointerdown', (event) => {
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  handle.addEventListener('pointermove', (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const box = panes.getBoundingClientRect();
    const stacked = getComputedStyle(panes).flexDirection === 'column';
    set(stacked ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width);
  });
  handle.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -0.02, ArrowUp: -0.02, ArrowRight: 0.02, ArrowDown: 0.02 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set(current + by);
  });
  return handle;
}
