import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { addDecisions } from './cli-decide';
import { addGraph } from './cli-graph';
import { addList } from './cli-list';
import { addPending } from './cli-pending';
import { addServer } from './cli-server';
import { addShow } from './cli-show';
import { addStart } from './cli-start';
import { addTrace } from './cli-trace';
import { EXIT, failureOf, ParserExit, reportFailure } from './cli-failure';
import { addGlobalOptions, type GlobalOptions } from './cli-globals';
import { examples } from './cli-help';

const ABOUT = 'Starts, reads and decides runs of graphs on a Temporal server. A thread id is a workflow id.';

const EXIT_CODES = `
Exit codes:
  0 done   1 failed   2 usage   3 refused, nothing changed   4 unknown thread
  5 the thread has finished   6 no server reachable   7 no worker answered

Where the server is: --address and --namespace, else TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY,
TEMPORAL_TLS_* and their kin, else the profile (--profile, TEMPORAL_PROFILE) in Temporal's own configuration file,
else localhost:7233 and "default".`;

/** Runs the command line. Never throws; gives the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  // A reader that has seen enough, as `head` does, is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : 1));
  const program = commandLine();
  try {
    await program.parseAsync(argv);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof ParserExit && error.isNoFailure) return EXIT.ok;
    if (error instanceof ParserExit && error.isHelpInsteadOfCommand) return EXIT.usage;
    const failure = failureOf(error);
    reportFailure(failure, program.opts<GlobalOptions>());
    return failure.exitCode;
  }
}

function commandLine(): Command {
  const program = new Command('abeyance').description(ABOUT).version(version(), '--version', 'print the version');
  // Settings are taken over by the commands that are made after them.
  program.configureHelp({ showGlobalOptions: true }).configureOutput({ outputError: () => undefined });
  addGlobalOptions(program);
  for (const add of [addStart, addList, addShow, addPending, addDecisions, addTrace, addGraph, addServer]) add(program);
  program.addHelpText(
    'after',
    examples(
      ['who waits for an answer', 'abeyance pending'],
      ['say yes', 'abeyance approve -w order-42 --note "within budget"'],
      ['see all that happened, in a browser', 'abeyance trace -w order-42 --html order-42.html'],
    ) + EXIT_CODES,
  );
  for (const command of [program, ...program.commands]) {
    command.exitOverride((error) => {
      throw new ParserExit(error, command === program ? 'abeyance' : `abeyance ${command.name()}`);
    });
  }
  return program;
}

function version(): string {
  // The same from src/client and from dist/client.
  const manifest = readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
