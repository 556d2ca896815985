import type { Run, Stop, Trace } from './trace';
import { tokensOfItems } from './totals-of';
import { itemBranch } from './item-branch';
import { jsonBranch, statusStyle, tokensInShort, tokensText, valueText } from './branch-parts';
import { printTree, type Branch, type Piece, type TreeOptions } from './text-tree';
import { counted, durationText } from './visible-text';

/** How a trace is printed. */
export interface TextOptions {
  /** ANSI colours; default off. Nothing is said by colour alone. */
  readonly colour?: boolean;
  /** Columns of a line; default 100. */
  readonly width?: number;
  /**
   * Levels shown: 1 the thread, 2 its stops, 3 what happened between them, 4 its content (default), 5 what went over the
   * wire, 6 with headers and bodies; one more where a thread has several runs. What is folded is counted: `[+3]`.
   */
  readonly depth?: number;
}

/**
 * Prints a trace as a tree for the terminal: durations, tokens, who decided and how long it took.
 *
 * Long texts are cut and say by how much; control characters, escapes and direction marks of the run’s own content are
 * spelled out, so that nothing a model or a tool says can reach the terminal.
 *
 * @example process.stdout.write(renderText(traceOf([history]), { colour: process.stdout.isTTY, width: process.stdout.columns }));
 */
export function renderText(trace: Trace, { colour = false, width = 100, depth = 4 }: TextOptions = {}): string {
  const options: TreeOptions = { colour, width: Math.max(40, width), depth: Math.max(1, depth) };
  return `${printTree(threadBranch(trace), options).join('\n')}\n`;
}

function threadBranch(trace: Trace): Branch {
  const { thread, runs, notes } = trace;
  const [only] = runs;
  const single = runs.length === 1 && only;
  return {
    line: [
      [thread.id, 'strong'],
      [` · ${thread.graph} · `],
      [thread.status, statusStyle(thread.status)],
      [` · ${durationText(thread.span.durationMs)}`],
      [` · ${thread.span.from.replace(/\.\d+/, '')}`, 'dim'],
    ],
    below: () => [
      { line: [[totalsText(trace), 'dim']] },
      ...notes.map(({ message }): Branch => ({ line: [['note ', 'waits'], [message]] })),
      ...(single ? runBelow(single) : runs.map(runBranch)),
    ],
  };
}

function totalsText({ totals }: Trace): string {
  const parts = [
    totals.runs > 1 && counted(totals.runs, 'run'),
    totals.turns > 0 && counted(totals.turns, 'turn'),
    totals.messages > 0 && counted(totals.messages, 'message'),
    totals.tokens.total > 0 && tokensText(totals.tokens),
    totals.toolCalls > 0 && counted(totals.toolCalls, 'tool call'),
    totals.nodes > 0 && counted(totals.nodes, 'node visit'),
    totals.waits > 0 && counted(totals.waits, 'question'),
    totals.retries > 0 && (totals.retries === 1 ? '1 retry' : `${totals.retries} retries`),
    `active ${durationText(totals.activeMs)}`,
    totals.waits > 0 && `waiting ${durationText(totals.waitingMs)}`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}

function runBranch(run: Run): Branch {
  return {
    line: [
      [`run ${run.number}`, 'strong'],
      [` ${run.runId} · `, 'dim'],
      [run.status, statusStyle(run.status)],
      [` · ${durationText(run.span.durationMs)}`],
    ],
    below: () => runBelow(run),
  };
}

function runBelow({ stops, failure }: Run): readonly Branch[] {
  const failed: readonly Branch[] = failure
    ? [
        {
          line: [
            [failure.code ?? failure.kind, 'bad'],
            [failure.node ? ` in ${failure.node}: ` : ': '],
            [failure.message],
          ],
        },
      ]
    : [];
  return [...stops.map(stopBranch), ...failed];
}

function stopBranch(stop: Stop): Branch {
  const { name, span, items, ended, checkpoint, pause } = stop;
  const tokens = tokensOfItems(items);
  const line: readonly Piece[] = [
    [name, 'strong'],
    [` · ${durationText(span.durationMs)}`],
    ...(tokens.total > 0 ? [[` · ∑ ${tokensInShort(tokens)}`] as const] : []),
    ...(ended === 'done' || pause ? [] : [[' → '] as const, [ended, statusStyle(ended)] as const]),
    ...(pause
      ? [[` · ${pause.to ? 'then waited' : 'waiting for'} ${durationText(pause.durationMs)}`, 'waits'] as const]
      : []),
  ];
  return { line, below: () => [...items.map(itemBranch), ...(checkpoint ? [checkpointBranch(checkpoint)] : [])] };
}

function checkpointBranch({ values, next, questions, source }: NonNullable<Stop['checkpoint']>): Branch {
  return {
    line: [
      ['checkpoint', 'name'],
      [next.length > 0 ? ` · next ${next.join(', ')}` : ' · nothing left to run'],
      [questions.length > 0 ? ` · ${counted(questions.length, 'open question')}` : ''],
      [` · values from the ${source === 'nowhere' ? 'history are missing' : source}`, 'dim'],
    ],
    below: () => {
      if (values.kind !== 'json') return [{ line: [[valueText(values)]] }];
      return [jsonBranch('values', values.value)];
    },
  };
}
