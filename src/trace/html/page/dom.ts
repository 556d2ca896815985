type Child = Node | string | undefined | false;

interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** An element with attributes and children; strings become text, never markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}

export function button(label: string, action: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', action);
  return element;
}

export function replace(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren(...children.filter((child) => child !== undefined && child !== false));
}

const ICONS = {
  thread: 'M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z',
  run: 'M4 2.5l8 5.5-8 5.5z',
  stop: 'M2.5 8h3M10.5 8h3M5.5 5.5h5v5h-5z',
  turn: 'M8 1.5l1.6 4.9 4.9 1.6-4.9 1.6L8 14.5 6.4 9.6 1.5 8l4.9-1.6z',
  tool: 'M10.2 2.3a3.6 3.6 0 0 0-4.4 4.6L2 10.7 5.3 14l3.8-3.8a3.6 3.6 0 0 0 4.6-4.4l-2.3 2.3-2.4-.6-.6-2.4z',
  node: 'M8 1.8l5.4 3.1v6.2L8 14.2l-5.4-3.1V4.9z',
  wait: 'M8 8.2a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.4-2.6 2.6-4.2 5.5-4.2s5.1 1.6 5.5 4.2',
  decision: 'M8 1.8L14.2 8 8 14.2 1.8 8z',
  checkpoint: 'M4 14V2.2h8.5L10.5 5.6l2 3.4H4',
  timer: 'M8 14a5.8 5.8 0 1 0 0-11.6A5.8 5.8 0 0 0 8 14zM8 5v3.3l2.2 1.5',
  child: 'M3 2.5v6.8h7M7.5 6.5l2.8 2.8-2.8 2.8',
  activity: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  message: 'M2 3.5h12v9H2zM2 4l6 5 6-5',
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', `icon k-${name}`);
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/** Says something to those who listen to the page. */
export function announce(message: string): void {
  const region = document.getElementById('status');
  if (region) region.textContent = message;
}

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
    area.value = text;
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    // The only way where the clipboard is not allowed to pages.
    document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
  announce(`Copied ${what}`);
}

/** A button that copies, and says that it did. */
export function copyButton(what: string, text: () => string, label = 'Copy'): HTMLButtonElement {
  const element = button(
    label,
    () => {
      void copyText(text(), what);
      element.textContent = 'Copied';
      setTimeout(() => (element.textContent = label), 1200);
    },
    { class: 'quiet', 'aria-label': `${label} ${what}`, title: `${label} ${what}` },
  );
  return element;
}

/** Buttons of which one is pressed. */
export function segmented<T extends string>(
  label: string,
  options: readonly { readonly value: T; readonly label: string }[],
  chosen: T,
  choose: (value: T) => void,
): HTMLElement {
  const group = h('div', { class: 'segmented', role: 'group', 'aria-label': label });
  for (const option of options) {
    const pressed = option.value === chosen;
    group.append(
      button(option.label, () => choose(option.value), { 'aria-pressed': String(pressed), 'data-value': option.value }),
    );
  }
  return group;
}

/** Remembers a choice on this machine, where the browser lets it. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`abeyance.${key}`, value);
  } catch {
    // A page opened from a file may have no storage; then the choice lasts as long as the page.
  }
}

export function remembered(key: string): string | undefined {
  try {
    return localStorage.getItem(`abeyance.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}
