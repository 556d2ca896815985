import type { Json } from '../graph/json';
import type { Attempt, Item, MessageShown, Tokens } from './item';
import type { Failure, Recorded } from './recorded';
import type { Branch, Piece, Style } from './text-tree';
import { counted, durationText } from './visible-text';

const MOST_LINES = 40;
const MOST_TEXT = 20_000;

/** How a status looks. */
export function statusStyle(status: string): Style {
  switch (status) {
    case 'done':
    case 'completed':
    case 'answered':
      return 'good';
    case 'failed':
    case 'timed-out':
    case 'terminated':
    case 'cancelled':
      return 'bad';
    default:
      return 'waits';
  }
}

/** Tokens in short: `308 in → 71 out`. */
export function tokensInShort({ input, output }: Tokens): string {
  return `${input.toLocaleString('en')} in → ${output.toLocaleString('en')} out`;
}

/** Tokens with what was cached and what was reasoning. */
export function tokensText({ input, output, cached, reasoning }: Tokens): string {
  const parts = [
    `${input.toLocaleString('en')} in${cached ? ` (${cached.toLocaleString('en')} cached)` : ''}`,
    `${output.toLocaleString('en')} out${reasoning ? ` (${reasoning.toLocaleString('en')} reasoning)` : ''}`,
  ];
  return parts.join(' → ');
}

/** A recorded value on one line. */
export function valueText(recorded: Recorded): string {
  switch (recorded.kind) {
    case 'json':
      return jsonText(recorded.value);
    case 'encoded':
      return `encoded as ${recorded.encoding}, ${counted(recorded.bytes, 'byte')}`;
    case 'missing':
      return `missing: ${recorded.reason}${recorded.digest ? ` Digest ${recorded.digest}.` : ''}`;
    default:
      return recorded satisfies never;
  }
}

/** JSON on one line; a text as it is. The rest of a long one is cut where it is printed. */
export function jsonText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Arguments as a person writes them: `item=widget, quantity=500`. */
export function argumentsText(value: Json): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return jsonText(value);
  return Object.entries(value as { readonly [key: string]: Json })
    .map(([key, item]) => `${key}=${jsonText(item)}`)
    .join(', ');
}

/** A named value: on one line, and below it, line by line. */
export function jsonBranch(name: string, value: Json): Branch {
  const isLarge = typeof value === 'object' && value !== null;
  return {
    line: [[`${name} `, 'name'], [jsonText(value)]],
    ...(isLarge && { below: () => textLines(JSON.stringify(value, null, 2)), repeats: true }),
  };
}

/** A text of several lines as branches, cut after so many, saying how much was left out. */
export function textLines(text: string, most = MOST_LINES): readonly Branch[] {
  const lines = text.slice(0, MOST_TEXT).split('\n');
  const shown = lines.slice(0, most);
  const left = text.length - shown.join('\n').length;
  const rest: readonly Branch[] =
    left > 1 ? [{ line: [[`… ${left.toLocaleString('en')} more characters`, 'dim']] }] : [];
  return [...shown.map((line): Branch => ({ line: [[line]] })), ...rest];
}

/** A message of a conversation. */
export function messageBranch({ role, content, name, tool_calls = [] }: MessageShown): Branch {
  const calls = tool_calls.map(({ name: tool, args }) => `${tool}(${jsonText(args)})`);
  const isLong = content.includes('\n');
  return {
    line: [
      [`${role}${name ? ` ${name}` : ''} `, 'name'],
      [[content, ...calls].filter((part) => part !== '').join(' ')],
    ],
    ...(isLong && { below: () => textLines(content), repeats: true }),
  };
}

/** The attempts of an activity, where there was more than one or it failed. */
export function attemptBranches(attempts: readonly Attempt[]): readonly Branch[] {
  if (attempts.length <= 1 && !attempts[0]?.failure) return [];
  return attempts.map(({ number, status, durationMs, failure }) => ({
    line: [
      [`attempt ${number}/${attempts.length} `, 'name'],
      [status, statusStyle(status)],
      [durationMs === undefined ? '' : ` · ${durationText(durationMs)}`],
      ...failurePieces(failure, status === 'failed' ? ' · the history does not say why' : ''),
    ],
  }));
}

function failurePieces(failure: Failure | undefined, unknown: string): readonly Piece[] {
  if (!failure) return [[unknown, 'dim']];
  return [[` · ${failure.code ?? failure.timeout ?? failure.kind}: `], [failure.message]];
}

/** How long it took, and how it ended where that was not well. */
export function statusPieces({
  status,
  span,
}: {
  readonly status: string;
  readonly span: Item['span'];
}): readonly Piece[] {
  const bad: readonly Piece[] = status === 'completed' ? [] : [[' · '], [status, statusStyle(status)]];
  return [[` · ${durationText(span.durationMs)}`], ...bad];
}
