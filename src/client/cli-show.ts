import type { Command } from 'commander';
import type { DecisionRecord } from '../graph/decision';
import { ThreadError } from '../graph/errors';
import type { StateSnapshot } from '../graph/graph-runner';
import { visible } from '../trace/visible-text';
import { withServer } from './cli-connect';
import { addThreadOptions, type GlobalOptions, type ThreadOptions } from './cli-globals';
import { examples } from './cli-help';
import { Output } from './cli-output';
import { slowly } from './cli-progress';
import { columns, indented, jsonLine, jsonPretty } from './cli-text';
import { statusText } from './cli-threads';
import type { ServerThread } from './server-thread';

type Decisions = readonly DecisionRecord[] | null;

export function addShow(program: Command): void {
  addThreadOptions(program.command('show'))
    .summary('show where a thread stands')
    .description(
      'Shows where a thread stands: values, next nodes, open questions, decisions. While no worker answers it shows ' +
        'what the run last published, and no decisions.',
    )
    .addHelpText('after', examples(['the values of a thread', "abeyance show -w order-42 -o json | jq '.values'"]))
    .action(show);
}

async function show(_: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<GlobalOptions & ThreadOptions>();
  const out = new Output(options);
  await withServer(options, async (session) => {
    const thread = session.thread(options.workflowId, options.runId);
    const [state, decisions] = await slowly('asking the run', 'is a worker up?', () =>
      Promise.all([thread.getState(), decisionsOf(thread)]),
    );
    out.one(shown(state, decisions), () => text(state, decisions, out));
  });
}

async function decisionsOf(thread: ServerThread): Promise<Decisions> {
  try {
    return await thread.decisions();
  } catch (error) {
    // Only a worker can tell; the rest is shown without.
    if (error instanceof ThreadError && error.code === 'THREAD_UNREACHABLE') return null;
    throw error;
  }
}

/** The shape of the JSON, which is documented. */
function shown({ metadata, values, next, tasks, interrupts, status }: StateSnapshot, decisions: Decisions): object {
  const { threadId, runId, graph, step, source, error, omitted } = metadata;
  return {
    threadId,
    runId,
    graph,
    status,
    step,
    source,
    ...(error && { error }),
    ...(omitted && { omitted }),
    values,
    next,
    tasks: tasks.map(({ id, name, visit, status: phase }) => ({ id, name, visit, status: phase })),
    questions: interrupts,
    decisions,
  };
}

function text(state: StateSnapshot, decisions: Decisions, out: Output): string {
  const { metadata, values, next, interrupts, status } = state;
  const { bold, dim, red } = out.colours;
  const facts = [
    ['status', statusText(status, out)],
    ['run', visible(metadata.runId ?? '')],
    ['step', String(metadata.step)],
    ['next', visible(next.join(', ')) || '-'],
    ...(metadata.error ? [['error', red(`${visible(metadata.error.message)} [${visible(metadata.error.code)}]`)]] : []),
  ];
  const questions = interrupts.map(
    ({ id, value, expiresAt }) =>
      `  ${visible(id)}  ${jsonLine(value)}${expiresAt === undefined ? '' : `  expires at ${visible(expiresAt)}`}`,
  );
  const source = metadata.source === 'memo' ? ' as last published: no worker answers' : '';
  return [
    `${bold(visible(metadata.threadId))} (${visible(metadata.graph)})${dim(source)}`,
    indented(columns(facts)),
    bold('values'),
    indented(metadata.omitted ? `left out: ${metadata.omitted.bytes} bytes` : jsonPretty(values)),
    ...(questions.length > 0 ? [bold('questions'), ...questions] : []),
    ...(decisions?.length ? [bold('decisions'), ...decisions.map(decisionText)] : []),
  ].join('\n');
}

function decisionText({ decision, verdict, at }: DecisionRecord): string {
  const what = whatText(decision);
  const who = decision.by === undefined ? '' : ` by ${visible(decision.by)}`;
  const why = decision.note === undefined ? '' : ` (${visible(decision.note)})`;
  const { kind } = verdict;
  const became =
    kind === 'accepted'
      ? `accepted for ${verdict.questions.join(', ')}`
      : kind === 'kept'
        ? `kept until ${verdict.until}`
        : `refused: ${verdict.message} [${verdict.code}]`;
  return `  ${visible(at)}  ${what}${who}${why}: ${visible(became)}`;
}

function whatText(decision: DecisionRecord['decision']): string {
  switch (decision.type) {
    case 'approve':
    case 'deny':
      return decision.type;
    case 'edit':
      return `edit ${jsonLine(decision.args)}`;
    case 'respond':
      return `respond ${jsonLine(decision.response)}`;
    case 'resume':
      return `resume ${jsonLine(decision.value)}`;
    case 'expire':
      return `expired at ${visible(decision.due)}`;
    default:
      return decision satisfies never;
  }
}
