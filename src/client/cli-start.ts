import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { isJsonObject, type Json } from '../graph/json';
import { visible } from '../trace/visible-text';
import { withServer } from './cli-connect';
import { CliError, EXIT } from './cli-failure';
import { count, type GlobalOptions } from './cli-globals';
import { examples } from './cli-help';
import { jsonArgument, jsonFile } from './cli-json';
import { Output } from './cli-output';
import { stopReached, stopText } from './cli-wait';

interface StartOptions extends GlobalOptions {
  readonly input?: Json;
  readonly inputFile?: string;
  readonly workflowId?: string;
  readonly taskQueue: string;
  readonly recursionLimit?: number;
  readonly wait?: boolean;
}

const HELP = examples(
  ['start a graph', `abeyance start order -t orders -w order-42 --input '{"order_total":500}'`],
  ['and wait until it asks something or ends', 'abeyance start order -t orders --input-file order.json --wait'],
);

export function addStart(program: Command): void {
  program
    .command('start')
    .summary('start a run of a graph')
    .description(
      'Starts a run of a graph: on a new thread, or on a finished one, which goes on from its last values. ' +
        'A thread that runs or waits is left alone (exit 3). The input is checked by the run.',
    )
    .argument('<graph>', "the graph's name")
    .option('-i, --input <json>', 'the input, a JSON object; default {}', jsonArgument)
    .option('--input-file <file>', 'a file that holds it; - is standard input')
    .option('-w, --workflow-id <id>', "the thread; default the graph's name and a new id")
    .requiredOption('-t, --task-queue <name>', 'the task queue whose workers serve the graph')
    .option('--recursion-limit <n>', 'the most supersteps', count)
    .option('--wait', 'wait until the run asks something or ends; exit 1 when it fails')
    .addHelpText('after', HELP)
    .action(start);
}

async function start(graph: string, _: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<StartOptions>();
  const { workflowId: threadId = `${graph}-${randomUUID()}`, taskQueue, recursionLimit, wait } = options;
  const input = inputOf(options);
  const out = new Output(options);
  await withServer(options, async (session) => {
    const request = { graph: { name: graph }, threadId, input, options: { recursionLimit } };
    const runId = await session.start(request, taskQueue);
    const started = { threadId, runId, graph, taskQueue };
    if (!wait) return out.one(started, () => startedText(threadId, graph, out));
    const stop = await stopReached(session.thread(threadId));
    out.one({ ...started, stop }, () => `${startedText(threadId, graph, out)}\n${stopText(stop, out)}`);
  });
}

function startedText(threadId: string, graph: string, { colours }: Output): string {
  return `${colours.green('started')} ${colours.bold(visible(threadId))} (${visible(graph)})`;
}

function inputOf({ input, inputFile }: StartOptions): unknown {
  if (input !== undefined && inputFile !== undefined)
    throw new CliError('USAGE', EXIT.usage, 'Give --input or --input-file, not both.');
  const value = inputFile === undefined ? (input ?? {}) : jsonFile(inputFile);
  if (isJsonObject(value)) return value;
  throw new CliError('USAGE', EXIT.usage, 'The input must be a JSON object: its keys are those of the state.');
}
