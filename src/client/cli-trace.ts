import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { messageOf } from '../graph/errors';
import type { HistoryInput } from '../trace/history-event';
import { visible } from '../trace/visible-text';
import { withServer } from './cli-connect';
import { CliError, EXIT } from './cli-failure';
import { count, type GlobalOptions } from './cli-globals';
import { examples } from './cli-help';
import { jsonFile } from './cli-json';
import { Output, remark } from './cli-output';
import { slowly } from './cli-progress';
import { jsonPretty } from './cli-text';

interface TraceOptions extends GlobalOptions {
  readonly workflowId?: string;
  readonly runId?: string;
  readonly history?: readonly string[];
  readonly html?: string;
  readonly json?: string;
  readonly depth?: number;
}

export function addTrace(program: Command): void {
  program
    .command('trace')
    .summary('show all that happened on a thread')
    .description(
      'Shows what happened on a thread, with every model and tool call: as a tree, as JSON, or as one HTML file that ' +
        'needs no network. From the server (all its runs, or one with -r), or from exported histories with no server.',
    )
    .option('-w, --workflow-id <id>', 'the thread')
    .option('-r, --run-id <id>', 'a run of it; without it all')
    .option('--history <file...>', "histories exported by Temporal's UI or CLI, one for each run; - is standard input")
    .option('--html <file>', 'write one self-contained HTML file')
    .option('--json <file>', 'write the trace as JSON')
    .option('--depth <n>', 'how deep the tree goes', count)
    .addHelpText(
      'after',
      examples(
        ['a tree', 'abeyance trace -w order-42'],
        ['a page, without a server', 'abeyance trace --history order-42.json --html order-42.html'],
        ['from the Temporal CLI', 'temporal workflow show -w order-42 -o json | abeyance trace --history -'],
      ),
    )
    .action(traceThread);
}

async function traceThread(_: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<TraceOptions>();
  const { history, workflowId, runId } = options;
  if ((history === undefined) === (workflowId === undefined))
    throw new CliError(
      'USAGE',
      EXIT.usage,
      'Give a thread with -w, or files with --history. See: abeyance trace --help',
    );
  if (history) return show(history.map(historyIn), options);
  await withServer(options, async (session) => {
    const histories = await slowly('fetching histories', 'long runs take a while', () =>
      session.historiesOf(workflowId as string, runId),
    );
    await show(histories, options);
  });
}

function historyIn(file: string): HistoryInput {
  const history = jsonFile(file);
  if (typeof history === 'object' && history !== null && 'events' in history && Array.isArray(history.events))
    return history as HistoryInput;
  const message = `The file ${file} is no history: it has no list of events. Export one with: temporal workflow show -w ID -o json`;
  throw new CliError('NO_HISTORY', EXIT.usage, message);
}

async function show(histories: readonly HistoryInput[], options: TraceOptions): Promise<void> {
  // Loaded when it is needed, and the page by itself: it is large.
  const { renderText, traceOf } = await import('../trace/index.js');
  const trace = traceOf(histories);
  const { html, json, depth } = options;
  const out = new Output(options);
  if (html !== undefined) {
    const { renderHtml } = await import('../trace/html/render-html.js');
    write(html, renderHtml(trace));
  }
  if (json !== undefined) write(json, `${jsonPretty(trace)}\n`);
  const isOnlyFiles = html !== undefined || json !== undefined;
  if (isOnlyFiles && out.format === 'text') return;
  out.one(trace, () =>
    renderText(trace, { colour: out.usesColour, width: process.stdout.columns || undefined, depth }).trimEnd(),
  );
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    const message = `The file ${file} cannot be written: ${messageOf(error)}`;
    throw new CliError('FILE_UNWRITABLE', EXIT.failure, message, { cause: error });
  }
  remark(`wrote ${visible(file)}`);
}
