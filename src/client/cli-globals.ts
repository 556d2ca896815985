import { hostname, userInfo } from 'node:os';
import { InvalidArgumentError, Option, type Command } from 'commander';

/** The options that every command takes. */
export interface GlobalOptions {
  readonly output: 'text' | 'json' | 'jsonl';
  readonly color: 'always' | 'never' | 'auto';
  readonly address?: string;
  readonly namespace?: string;
  readonly profile?: string;
  readonly identity: string;
  readonly clientConnectTimeout: number;
}

/** Of a thread: the newest run, or the one named. */
export interface ThreadOptions {
  readonly workflowId: string;
  readonly runId?: string;
}

export function addGlobalOptions(program: Command): void {
  const output = new Option('-o, --output <format>', 'what is printed on standard output');
  const color = new Option('--color <when>', 'colours; auto: on a terminal, and not where NO_COLOR is set');
  program
    .addOption(output.choices(['text', 'json', 'jsonl']).default('text'))
    .addOption(color.choices(['always', 'never', 'auto']).default('auto'))
    .option('--address <host:port>', 'the Temporal server')
    .option('-n, --namespace <name>', 'the namespace')
    .option('--profile <name>', "a profile of Temporal's configuration file")
    .option('--identity <who>', 'who the server notes as the client', `abeyance-cli:${osUser() ?? ''}@${hostname()}`)
    .option('--client-connect-timeout <seconds>', 'how long to try to connect', seconds, 5);
}

/** `-w` as a must, and `-r`. */
export function addThreadOptions(command: Command): Command {
  return command
    .requiredOption('-w, --workflow-id <id>', 'the thread')
    .option('-r, --run-id <id>', 'a run of it; without it the newest');
}

/** The user of this operating system, as it says. */
export function osUser(): string | undefined {
  try {
    return userInfo().username || undefined;
  } catch {
    // A container may run as a user that has no name.
    return process.env.USER;
  }
}

/** Reads an option that is a number of seconds. */
export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('Give a number of seconds.');
  return value;
}

/** Reads an option that counts something. */
export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1.');
  return Number(text);
}
