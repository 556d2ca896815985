import Table from 'cli-table3';

// As `visible` spells them out in text; JSON has its own way to write the same value without them.
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** JSON on one line: the same value, harmless in a terminal. */
export function jsonLine(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(UNSAFE, written);
}

/** JSON over several lines, harmless too. */
export function jsonPretty(value: unknown): string {
  const lines = (JSON.stringify(value, null, 2) ?? 'null').split('\n');
  return lines.map((line) => line.replace(UNSAFE, written)).join('\n');
}

function written(character: string): string {
  return Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}

/** Every line moved to the right. */
export function indented(text: string, by = 2): string {
  return text.replaceAll(/^/gm, ' '.repeat(by));
}

const NO_LINES = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ].map((line) => [line, '']),
);

/** Columns without lines; cells are text that is safe already. */
export function columns(rows: readonly (readonly string[])[]): string {
  const table = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table.toString().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** A word as a shell takes it literally. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
