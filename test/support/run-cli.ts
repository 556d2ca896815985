import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { testServer } from './on-server';

const ROOT = join(__dirname, '..', '..');

/** How a command ended. */
export interface CommandEnd {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** What a command may be given beside its arguments. */
export interface CommandSetting {
  /** On top of the tests' own: the tests' server, and no configuration file. */
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Runs the `abeyance` command as a process of its own, against the tests' server, without a terminal. */
export async function abeyance(args: readonly string[], setting: CommandSetting = {}): Promise<CommandEnd> {
  return endOf(startAbeyance(args, setting));
}

/** Runs it with `-o json`, expects it to succeed, and gives what it printed. */
export async function abeyanceJson(...args: readonly string[]): Promise<any> {
  const { exitCode, out, err } = await abeyance([...args, '-o', 'json']);
  if (exitCode !== 0) throw new Error(`abeyance ${args.join(' ')} ended with ${exitCode}: ${err}`);
  return JSON.parse(out);
}

/** Starts the command and lets it run. */
export function startAbeyance(args: readonly string[], { env, input = '' }: CommandSetting = {}): ChildProcess {
  const ours = Object.entries(process.env).filter(([name]) => !/^(TEMPORAL_|NO_COLOR|FORCE_COLOR)/.test(name));
  const { address, namespace } = testServer();
  const server = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_CONFIG_FILE: '/no/such/file' };
  const command = ['--conditions=abeyance-source', '--import', 'tsx', join(ROOT, 'src', 'client', 'cli.ts'), ...args];
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: { ...Object.fromEntries(ours), ...server, ...env },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return child;
}

/** Waits for the end of a command. */
export async function endOf(child: ChildProcess): Promise<CommandEnd> {
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, out, err };
}
