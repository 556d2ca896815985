import { type ChildProcess, spawn } from 'node:child_process';
import { tailBuffer } from './tail-buffer';

export interface CommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly onSpawn?: (child: ChildProcess) => void;
  /** Asked four times a second; a string ends the command and is the reason given. */
  readonly giveUp?: () => string | undefined;
}

export type CommandResult =
  { readonly kind: 'succeeded'; readonly stdout: string } | { readonly kind: 'failed'; readonly reason: string };

/**
 * Runs a program to its end without a shell. Never rejects: a program that cannot start, fails, or outlasts `timeoutMs`
 * (then it is killed) gives `failed` with one line that says why.
 *
 * @example
 * const result = await runCommand('go', ['version'], { env: process.env, timeoutMs: 10_000 });
 */
export function runCommand(file: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { env, cwd } = options;
    const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    options.onSpawn?.(child);
    const stdout = tailBuffer(child.stdout);
    const stderr = tailBuffer(child.stderr);
    const limit = limitRun(child, options);
    const settle = (result: CommandResult) => {
      limit.clear();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(result);
    };
    const settleEnded = (code: number | null, signal: NodeJS.Signals | null) => {
      if (limit.reason() !== undefined) settle({ kind: 'failed', reason: limit.reason()! });
      else if (code === 0) settle({ kind: 'succeeded', stdout: stdout() });
      else settle({ kind: 'failed', reason: describeFailure(code, signal, stderr() || stdout()) });
    };
    child.once('error', (error) => settle({ kind: 'failed', reason: `cannot run ${file}: ${error.message}` }));
    child.once('close', settleEnded);
    // 'close' never comes while a grandchild holds the pipes open.
    child.once('exit', (code, signal) => setTimeout(() => settleEnded(code, signal), 500).unref());
  });
}

function limitRun(child: ChildProcess, options: CommandOptions) {
  let reason: string | undefined;
  const abandon = (why: string | undefined) => {
    if (why === undefined) return;
    reason ??= why;
    child.kill('SIGKILL');
  };
  const timeout = setTimeout(() => abandon(`took longer than ${options.timeoutMs / 1_000} s`), options.timeoutMs);
  const watch = setInterval(() => abandon(options.giveUp?.()), 250);
  return {
    reason: () => reason,
    clear: () => {
      clearTimeout(timeout);
      clearInterval(watch);
    },
  };
}

function describeFailure(code: number | null, signal: NodeJS.Signals | null, output: string): string {
  const ending = code === null ? `ended by ${signal}` : `exit code ${code}`;
  const lines = output.trim().split('\n').slice(-3).join(' | ');
  return lines === '' ? ending : `${ending}: ${lines}`;
}
