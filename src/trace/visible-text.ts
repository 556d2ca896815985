// What moves a cursor, colours, hides, or turns the direction of what stands beside it; and halves of characters.
const INVISIBLE =
  /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text of one line in which everything can be seen: control characters, escapes and direction marks are spelled out. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (one) => SHORT[one] ?? `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A text cut to a length, saying how much was left out. */
export function clipped(text: string, length: number): string {
  // Spelled out, a character takes up to ten; so much is enough to look at, however long the text.
  const seen = visible(text.slice(0, length + 1));
  if (text.length <= length && seen.length <= length) return seen;
  let kept = Math.min(length, text.length);
  let shown = '';
  do {
    const rest = ` … +${(text.length - kept).toLocaleString('en')} chars`;
    shown = `${visible(wholeCharacters(text.slice(0, kept)))}${rest}`;
    kept -= Math.max(1, Math.ceil((shown.length - length) / 10));
  } while (shown.length > length && kept > 0);
  return shown;
}

function wholeCharacters(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** How long, for people: `7.4 ms`, `3.2 s`, `2 min 5 s`, `3 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < 9.995) return `${Number(ms.toFixed(2))} ms`;
  if (ms < 999.95) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 59_950) return `${Number((ms / 1000).toFixed(1))} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return two(minutes, 'min', Math.floor(ms / 1000) % 60, 's');
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? two(hours, 'h', minutes % 60, 'min') : two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function two(large: number, unit: string, small: number, smaller: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;
}

/** A count with its noun: `1 turn`, `1,200 messages`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
