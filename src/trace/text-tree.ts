import { clipped, visible } from './visible-text';

/** How a piece of a line looks. */
export type Style = 'strong' | 'dim' | 'good' | 'bad' | 'waits' | 'name' | 'plain';

/** A piece of a line: a text and how it looks. */
export type Piece = readonly [text: string, style?: Style];

/** A line of a tree, with the lines below it. */
export interface Branch {
  readonly line: readonly Piece[];
  /** Made only when shown. */
  readonly below?: () => readonly Branch[];
  /** What is below says in full what this line says; shown only where the line was cut. */
  readonly repeats?: boolean;
}

/** How a tree is printed. */
export interface TreeOptions {
  readonly colour: boolean;
  readonly width: number;
  /** How many levels are shown; what is below is counted. */
  readonly depth: number;
}

const CODES: Readonly<Record<Style, readonly [number, number] | undefined>> = {
  strong: [1, 22],
  dim: [2, 22],
  good: [32, 39],
  bad: [31, 39],
  waits: [33, 39],
  name: [36, 39],
  plain: undefined,
};

/** Prints a branch and what is below it, as lines. */
export function printTree(root: Branch, options: TreeOptions): readonly string[] {
  const lines: string[] = [];
  print(root, { first: '', rest: '', level: 1 }, options, lines);
  return lines;
}

interface Place {
  readonly first: string;
  readonly rest: string;
  readonly level: number;
}

function print(
  { line, below, repeats }: Branch,
  { first, rest, level }: Place,
  options: TreeOptions,
  lines: string[],
): void {
  const isFolded = level >= options.depth;
  const plain = painted([[first, 'dim'], ...line], options);
  const children = repeats && (isFolded || !plain.isCut) ? [] : (below?.() ?? []);
  const hint = isFolded && children.length > 0 ? ` [+${children.length}]` : '';
  lines.push(hint === '' ? plain.text : painted([[first, 'dim'], ...line, [hint, 'dim']], options).text);
  if (isFolded) return;
  for (const [index, child] of children.entries()) {
    const isLast = index === children.length - 1;
    const place = {
      first: `${rest}${isLast ? '└─ ' : '├─ '}`,
      rest: `${rest}${isLast ? '   ' : '│  '}`,
      level: level + 1,
    };
    print(child, place, options, lines);
  }
}

// A piece that has less room than this is left out, for the note of how much is cut would not fit.
const LEAST = 18;

/** One line, no wider than allowed: the piece that does not fit is cut, and says by how much. */
function painted(
  pieces: readonly Piece[],
  { colour, width }: TreeOptions,
): { readonly text: string; readonly isCut: boolean } {
  let left = width;
  let text = '';
  for (const [piece, style = 'plain'] of pieces) {
    const fits = piece.length <= left && visible(piece).length <= left;
    if (!fits && left < LEAST) return { text: left < 2 ? text : `${text} …`, isCut: true };
    const shown = fits ? visible(piece) : clipped(piece, left);
    left -= shown.length;
    const codes = CODES[style];
    text += colour && codes && shown !== '' ? `\u001b[${codes[0]}m${shown}\u001b[${codes[1]}m` : shown;
    if (!fits) return { text, isCut: true };
  }
  return { text: text.trimEnd(), isCut: false };
}
