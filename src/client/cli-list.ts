import type { Command } from 'commander';
import { visible } from '../trace/visible-text';
import { withServer } from './cli-connect';
import { count, type GlobalOptions } from './cli-globals';
import { examples } from './cli-help';
import { Output, remark } from './cli-output';
import { slowly } from './cli-progress';
import { columns } from './cli-text';
import { statusText, take, type ThreadRow } from './cli-threads';

interface ListOptions extends GlobalOptions {
  readonly waiting?: boolean;
  readonly graph?: string;
  readonly query?: string;
  readonly limit: number;
}

export function addList(program: Command): void {
  program
    .command('list')
    .summary('list threads')
    .description(
      "Lists threads, each with its newest run: running ones first. Other workflows are left out. The server's list lags a moment.",
    )
    .option('--waiting', 'only those that wait for an answer')
    .option('--graph <name>', 'only those of a graph')
    .option('-q, --query <filter>', "only those that match, in Temporal's list filter language")
    .option('--limit <n>', 'the most to show', count, 100)
    .addHelpText(
      'after',
      examples(
        ['what waits', 'abeyance list --waiting'],
        [
          'ids of what failed today',
          `abeyance list -o jsonl -q "ExecutionStatus = 'Failed' AND CloseTime > '2026-11-30T00:00:00Z'" | jq -r .threadId`,
        ],
      ),
    )
    .action(list);
}

async function list(_: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ListOptions>();
  const out = new Output(options);
  await withServer(options, async (session) => {
    const { items, more } = await slowly('listing threads', 'Ctrl-C stops it', () =>
      take(session.threads(options), options.limit),
    );
    const rows = items.map(({ questions: _questions, ...row }): ThreadRow => row);
    out.many(rows, () => table(rows, out));
    sayMore(more, options.limit);
  });
}

function table(rows: readonly ThreadRow[], out: Output): string {
  if (rows.length === 0) return 'No thread matches.';
  const { bold } = out.colours;
  const head = ['THREAD', 'GRAPH', 'STATUS', 'WAITING FOR', 'STARTED'].map((title) => bold(title));
  const cells = rows.map(({ threadId, graph, status, waitingFor, startedAt }) => [
    visible(threadId),
    visible(graph),
    statusText(status, out),
    visible(waitingFor.join(', ')) || '-',
    startedAt,
  ]);
  return columns([head, ...cells]);
}

/** Tells a person that a list was cut. */
export function sayMore(more: boolean, limit: number): void {
  if (more) remark(`the first ${limit} are shown and there are more: raise --limit`);
}
