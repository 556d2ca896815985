import { button, h } from './dom';
import { bytesShown } from './format';

/** What would not be seen, or would turn the text around it: controls, bidi marks, zero-width and lone surrogates. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Cs}/gu;

/** From here on, escapes are plain text: thousands of marked ones would slow the page down. */
const MOST_MARKED = 400;

const CHUNK = 16_384;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The text with everything unseen written out. */
export function plain(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSEEN, escaped);
}

/** Puts text into an element: what is unseen is written out and marked, so that it differs from a typed escape. */
export function putText(element: HTMLElement, text: string): HTMLElement {
  const shown = text.replace(/\r\n/g, '\n');
  let from = 0;
  let marked = 0;
  for (const { 0: character, index } of shown.matchAll(UNSEEN)) {
    if (marked++ >= MOST_MARKED) break;
    element.append(shown.slice(from, index));
    element.append(h('span', { class: 'unseen', title: 'A character that would not be seen' }, escaped(character)));
    from = index + character.length;
  }
  element.append(shown.slice(from).replace(UNSEEN, escaped));
  return element;
}

/** Short text in an element of its own, whatever its direction. */
export function bdi(text: string, className = ''): HTMLElement {
  const most = 2000;
  return putText(h('bdi', { class: className }), text.length > most ? `${text.slice(0, most)}…` : text);
}

/** Cuts text into pieces, at line ends where there are any near. */
export function* chunksOf(text: string): Generator<string, void> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + CHUNK, text.length);
    if (to < text.length) {
      const line = text.lastIndexOf('\n', to);
      if (line > from + CHUNK / 2) to = line + 1;
      else if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to -= 1;
    }
    yield text.slice(from, to);
    from = to;
  }
}

/** Text of any size: the beginning at once, the rest when asked for, and drawn only where it is looked at. */
export function longText(text: string, className = ''): HTMLElement {
  const box = h('div', { class: `text ${className}`, dir: 'auto', tabindex: text.length > 1200 ? 0 : undefined });
  const pieces = chunksOf(text);
  const add = (): boolean => {
    const next = pieces.next();
    if (next.done) return false;
    box.insertBefore(putText(h('div', { class: 'chunk' }), next.value), more);
    return true;
  };
  const all = () => {
    while (add());
    more.remove();
    box.classList.add('opened');
  };
  const left = h(
    'span',
    { class: 'dim' },
    `${bytesShown(Math.min(text.length, CHUNK))} of ${bytesShown(text.length)} shown`,
  );
  const more = h(
    'div',
    { class: 'more' },
    left,
    button(`Show all ${bytesShown(text.length)}`, all, { class: 'quiet show-all' }),
  );
  if (text.length > CHUNK) box.append(more);
  if (text.length <= CHUNK) return putText(box, text);
  add();
  return box;
}
