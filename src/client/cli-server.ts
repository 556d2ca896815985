import { InvalidArgumentError, Option, type Command } from 'commander';
import { startServer } from '../server/index';
import { visible } from '../trace/visible-text';
import type { GlobalOptions } from './cli-globals';
import { examples } from './cli-help';
import { Output, remark } from './cli-output';
import { columns } from './cli-text';

interface ServerOptions extends GlobalOptions {
  readonly port?: number;
  readonly uiPort?: number;
  readonly ui: boolean;
  readonly dbFilename?: string;
}

export function addServer(program: Command): void {
  program
    .command('server')
    .summary('run a Temporal server for development')
    .description(
      'Runs a real Temporal server for development until Ctrl-C: from `temporal` on the PATH, its own cache, a download ' +
        "or a build. It has the library's search attributes. Global options that say where a server is do not matter.",
    )
    .addOption(new Option('--port <n>', 'gRPC port; default a free one').argParser(port))
    .addOption(new Option('--ui-port <n>', 'port of the web UI; default a free one').argParser(port))
    .option('--no-ui', 'without the web UI')
    .option('--db-filename <file>', 'keeps workflows across restarts; default: gone at the end')
    .addHelpText(
      'after',
      examples(
        ['where everything looks for one', 'abeyance server --port 7233'],
        ['one that remembers', 'abeyance server --port 7233 --db-filename orders.db'],
      ),
    )
    .action(serve);
}

async function serve(_: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ServerOptions>();
  const { port: grpcPort, uiPort, ui, dbFilename } = options;
  const { TEMPORAL_ADDRESS, ...env } = process.env;
  if (TEMPORAL_ADDRESS)
    remark(`TEMPORAL_ADDRESS is ${visible(TEMPORAL_ADDRESS)}; this starts another server beside it`);
  const server = await startServer({ port: grpcPort, uiPort, ui, dbFilename, env });
  try {
    const { address, namespace, uiUrl, origin } = server;
    const out = new Output(options);
    out.one({ address, namespace, ...(uiUrl && { uiUrl }), origin }, () =>
      columns([
        ['address', out.colours.bold(address)],
        ['namespace', namespace],
        ...(uiUrl ? [['web UI', out.colours.bold(uiUrl)]] : []),
        ['use it', `export TEMPORAL_ADDRESS=${address}`],
      ]),
    );
    if (out.format === 'text') remark('Ctrl-C ends it');
    const died = await Promise.race([endAsked(), server.died]);
    if (died) throw died;
  } finally {
    await server.stop();
  }
}

/** Settles when the person or the system asks for the end. */
function endAsked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

function port(text: string): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value >= 1 && value <= 65_535) return value;
  throw new InvalidArgumentError('Give a number from 1 to 65535.');
}
