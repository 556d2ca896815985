import { Argument, Option, type Command } from 'commander';
import type { Accepted, DecideOptions } from '../graph/graph-runner';
import type { Json } from '../graph/json';
import { visible } from '../trace/visible-text';
import { withServer } from './cli-connect';
import { addThreadOptions, osUser, seconds, type GlobalOptions, type ThreadOptions } from './cli-globals';
import { examples } from './cli-help';
import { jsonArgument } from './cli-json';
import { Output } from './cli-output';
import { slowly } from './cli-progress';
import { stopReached, stopText } from './cli-wait';
import type { ServerThread } from './server-thread';

interface DecisionOptions extends GlobalOptions, ThreadOptions, DecideOptions {
  readonly timeout: number;
  readonly wait?: boolean;
}

type DecisionType = 'approve' | 'deny' | 'edit' | 'respond' | 'resume';
type Send = (thread: ServerThread, details: DecideOptions) => Promise<Accepted>;

const BINDING =
  'Without --question or --node the decision is for the only open question, by its id and content: it can never answer ' +
  'another. A decision that does not fit is refused (exit 3) and changes nothing.';

const EDITING = 'Only where the question allows it; the arguments must fit the tool, which stays the same.';
const ANSWERING = 'Only where the question allows it; the call is not run. To refuse one, deny it.';

export function addDecisions(program: Command): void {
  decisionCommand(program, 'approve', 'approve', `Approves at a gate, or answers true. ${BINDING}`)
    .addHelpText(
      'after',
      examples(
        ['the only open question', 'abeyance approve -w order-42 --note "within budget"'],
        ['one of several, and see what follows', 'abeyance approve -w order-42 --question 2.place_order:0 --wait'],
      ),
    )
    .action((_, command: Command) => decide(command, 'approve', (thread, details) => thread.approve(details)));
  decisionCommand(program, 'deny', 'deny', `Denies at a gate, or answers false. ${BINDING}`)
    .addHelpText('after', examples(['with the reason', 'abeyance deny -w order-42 --note "too many"']))
    .action((_, command: Command) => decide(command, 'deny', (thread, details) => thread.deny(details)));
  addChanges(program);
  decisionCommand(program, 'resume', 'answer with a value', `Answers with a value. ${BINDING}`)
    .addArgument(
      new Argument('<value>', 'the answer as JSON, or an object from question ids to answers').argParser(jsonArgument),
    )
    .addHelpText(
      'after',
      examples(
        ['a text', `abeyance resume -w order-42 '"tomorrow"'`],
        ['an object', `abeyance resume -w order-42 '{"amount":3}'`],
        ['two questions at once', `abeyance resume -w order-42 '{"1.left:0":"a","1.right:0":"b"}'`],
      ),
    )
    .action((value: Json, _, command: Command) =>
      decide(command, 'resume', (thread, details) => thread.resume(value, details)),
    );
}

// What only some questions allow.
function addChanges(program: Command): void {
  decisionCommand(
    program,
    'edit',
    'approve with other arguments',
    `Approves a call with other arguments. ${EDITING} ${BINDING}`,
  )
    .addArgument(new Argument('<args>', 'the new arguments as JSON, whole').argParser(jsonArgument))
    .addHelpText('after', examples(['fewer of them', `abeyance edit -w order-42 '{"item":"widget","quantity":5}'`]))
    .action((args: Json, _, command: Command) =>
      decide(command, 'edit', (thread, details) => thread.edit(args, details)),
    );
  decisionCommand(
    program,
    'respond',
    'answer in the place of a call',
    `Answers in the place of a call. ${ANSWERING} ${BINDING}`,
  )
    .addArgument(new Argument('<text>', 'what the model is told as the result of the call'))
    .addHelpText('after', examples(['by hand', `abeyance respond -w order-42 "ordered by phone, number 7"`]))
    .action((response: string, _, command: Command) =>
      decide(command, 'respond', (thread, details) => thread.respond(response, details)),
    );
}

function decisionCommand(program: Command, name: DecisionType, summary: string, description: string): Command {
  const question = new Option('--question <id>', 'the question decided, as `abeyance pending` shows it');
  const timeout = new Option('--timeout <seconds>', 'how long to wait for a worker to take it');
  return addThreadOptions(program.command(name).summary(summary).description(description))
    .addOption(question.conflicts('node'))
    .option('--node <name>', 'the node whose question is decided; also before it asks')
    .option('--digest <digest>', 'of the question as it was shown: refused if it has changed')
    .option('--by <who>', 'who decides; recorded as given, nobody verifies it; default the OS user')
    .option('--note <text>', 'why; recorded')
    .option('--decision-id <id>', 'makes it safe to send again: the same id has one effect and one reply')
    .option('--wait', 'wait until the run asks something or ends; exit 1 when it fails')
    .addOption(timeout.argParser(seconds).default(30));
}

async function decide(command: Command, type: DecisionType, send: Send): Promise<void> {
  const options = command.optsWithGlobals<DecisionOptions>();
  const { workflowId, runId, question, node, digest, by = osUser(), note, decisionId } = options;
  const out = new Output(options);
  await withServer(options, async (session) => {
    const thread = session.thread(workflowId, runId);
    const details = { question, node, digest, by, note, decisionId };
    const verdict = await slowly('waiting for a worker to take the decision', 'is one up?', () =>
      session.within(options.timeout, () => send(thread, details)),
    );
    const decided = { threadId: workflowId, type, by, ...(note !== undefined && { note }), verdict };
    if (!options.wait) return out.one(decided, () => verdictText(type, workflowId, verdict, out));
    const stop = await stopReached(thread);
    out.one({ ...decided, stop }, () => `${verdictText(type, workflowId, verdict, out)}\n${stopText(stop, out)}`);
  });
}

const DONE: Readonly<Record<DecisionType, string>> = {
  approve: 'approved',
  deny: 'denied',
  edit: 'edited and approved',
  respond: 'responded to',
  resume: 'answered',
};

function verdictText(type: DecisionType, threadId: string, verdict: Accepted, { colours }: Output): string {
  const thread = colours.bold(visible(threadId));
  switch (verdict.kind) {
    case 'accepted':
      return `${colours.green(DONE[type])} ${visible(verdict.questions.join(', '))} of ${thread}`;
    case 'kept':
      return `${colours.yellow('kept')} for ${thread} until the question is asked, at the longest to ${visible(verdict.until)}`;
  }
}
