import type { Command } from 'commander';
import { DEFAULT_ACTIONS, type Question } from '../graph/question';
import { visible } from '../trace/visible-text';
import { withServer } from './cli-connect';
import { count, type GlobalOptions } from './cli-globals';
import { examples } from './cli-help';
import { sayMore } from './cli-list';
import { Output } from './cli-output';
import { slowly } from './cli-progress';
import type { Session } from './cli-session';
import { indented, jsonLine, jsonPretty, shellWord } from './cli-text';
import { take } from './cli-threads';

interface PendingOptions extends GlobalOptions {
  readonly workflowId?: string;
  readonly runId?: string;
  readonly graph?: string;
  readonly limit: number;
}

/** An open question as it is shown: the shape of its JSON is documented. */
interface PendingRow {
  readonly threadId: string;
  readonly runId: string;
  readonly graph: string;
  readonly question: string;
  readonly node: string;
  readonly kind: Question['kind'];
  readonly value: unknown;
  readonly digest: string;
  readonly askedAt: string;
  readonly schema?: unknown;
  readonly allow?: Question['allow'];
  readonly call?: Question['call'];
  readonly expiresAt?: string;
  readonly otherwise?: unknown;
  readonly rejected?: string;
  /** The value is too large to show. */
  readonly omitted?: true;
}

interface Asking {
  readonly threadId: string;
  readonly runId: string;
  readonly graph: string;
  readonly questions: readonly Question[];
}

export function addPending(program: Command): void {
  program
    .command('pending')
    .summary('show the questions that wait for an answer')
    .description('Shows the open questions of a thread, or without -w of all threads. Needs no worker.')
    .option(
      '-w, --workflow-id <id>',
      "only this thread, as it is now; without it the server's list, which lags a moment",
    )
    .option('-r, --run-id <id>', 'a run of the thread; without it the newest')
    .option('--graph <name>', 'only threads of a graph')
    .option('--limit <n>', 'the most threads to show', count, 100)
    .addHelpText(
      'after',
      examples(
        ['who waits for an answer', 'abeyance pending'],
        ['ids and digests for a script', 'abeyance pending -w order-42 -o json'],
      ),
    )
    .action(pending);
}

async function pending(_: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<PendingOptions>();
  const { workflowId, runId, graph, limit } = options;
  const out = new Output(options);
  await withServer(options, async (session) => {
    const { items, more } = await slowly('looking for open questions', 'Ctrl-C stops it', async () =>
      workflowId === undefined
        ? take(session.threads({ waiting: true, graph }), limit)
        : { items: [await ofThread(session, workflowId, runId)], more: false },
    );
    const rows = items.flatMap(rowsOf);
    out.many(rows, () => (rows.length === 0 ? 'No question is open.' : rows.map((row) => text(row, out)).join('\n\n')));
    sayMore(more, limit);
  });
}

async function ofThread(session: Session, threadId: string, ofRun: string | undefined): Promise<Asking> {
  const facts = await session.lookUp(threadId, ofRun);
  return { threadId, runId: facts.runId, graph: facts.graph, questions: await session.questionsOf(facts) };
}

function rowsOf({ threadId, runId, graph, questions }: Asking): readonly PendingRow[] {
  return questions.map((asked) => ({
    threadId,
    runId,
    graph,
    question: asked.id,
    node: asked.node,
    kind: asked.kind,
    value: asked.value,
    digest: asked.digest,
    askedAt: asked.askedAt,
    ...(asked.schema !== undefined && { schema: asked.schema }),
    ...(asked.allow && { allow: asked.allow }),
    ...(asked.call && { call: asked.call }),
    ...(asked.expiresAt !== undefined && { expiresAt: asked.expiresAt }),
    ...(asked.otherwise !== undefined && { otherwise: asked.otherwise }),
    ...(asked.rejected !== undefined && { rejected: asked.rejected }),
    ...(asked.omitted && { omitted: asked.omitted }),
  }));
}

function text(row: PendingRow, { colours }: Output): string {
  const { threadId, graph, question, node, kind, value, askedAt, call, expiresAt, otherwise, rejected, omitted } = row;
  const isApproval = kind === 'approval';
  const answer = (isApproval ? (row.allow ?? DEFAULT_ACTIONS) : ['approve', 'deny', 'resume']).join('|');
  const then = otherwise === undefined ? '' : `; the answer is then ${jsonLine(otherwise)}`;
  return [
    `${colours.bold(visible(threadId))} (${visible(graph)})  ${colours.yellow(visible(node))} asks for ${isApproval ? 'an approval' : 'an answer'} since ${visible(askedAt)}`,
    ...(expiresAt === undefined ? [] : [`  ${colours.yellow('expires at')} ${visible(expiresAt)}${then}`]),
    indented(omitted ? 'too large to show; see: abeyance show' : jsonPretty(value)),
    ...(call && !omitted ? [`  the call: ${visible(call.tool)} ${jsonLine(call.args)}`] : []),
    ...(rejected === undefined ? [] : [`  ${colours.red('the last answer was sent back:')} ${visible(rejected)}`]),
    colours.dim(`  abeyance ${answer} -w ${visible(shellWord(threadId))} --question ${visible(shellWord(question))}`),
  ].join('\n');
}
