import type { CommanderError } from 'commander';
import { AbeyanceError, DecisionRefusedError, messageOf, type OpenQuestion } from '../graph/errors';
import { ServerUnavailableError } from '../server/server-unavailable-error';
import { HistoryError } from '../trace/history-error';
import { visible } from '../trace/visible-text';
import type { GlobalOptions } from './cli-globals';
import { jsonLine } from './cli-text';

/** What the command ends with. Documented in docs/cli.md: stable across releases. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  refused: 3,
  unknownThread: 4,
  finished: 5,
  noServer: 6,
  noWorker: 7,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure of the command line's own: the message says what happened and what to do. */
export class CliError extends Error {
  constructor(
    readonly code: string,
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The parser ended the command: it has shown help, or the arguments are wrong. */
export class ParserExit extends Error {
  constructor(
    private readonly reason: CommanderError,
    private readonly command: string,
  ) {
    super(reason.message);
  }

  get isNoFailure(): boolean {
    return this.reason.exitCode === 0;
  }

  get isHelpInsteadOfCommand(): boolean {
    return this.reason.code === 'commander.help';
  }

  toCliError(): CliError {
    const what = this.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ');
    return new CliError('USAGE', EXIT.usage, `${what.replace(/\.?$/, '.')} See: ${this.command} --help`);
  }
}

/** A failure as it is told: the shape of its JSON is documented. */
export interface Failure {
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly message: string;
  /** The open questions, for a refused decision. */
  readonly open?: readonly OpenQuestion[];
}

const EXIT_OF_CODE: Readonly<Record<string, ExitCode>> = {
  THREAD_UNKNOWN: EXIT.unknownThread,
  THREAD_FINISHED: EXIT.finished,
  THREAD_UNREACHABLE: EXIT.noWorker,
  THREAD_BUSY: EXIT.refused,
  THREAD_OF_OTHER_GRAPH: EXIT.refused,
};

/** Tells a failure by what was thrown. */
export function failureOf(thrown: unknown): Failure {
  const error = thrown instanceof ParserExit ? thrown.toCliError() : thrown;
  const message = messageOf(error);
  if (error instanceof CliError) return { code: error.code, exitCode: error.exitCode, message };
  if (error instanceof DecisionRefusedError)
    return { code: error.code, exitCode: EXIT.refused, message, open: error.open };
  if (error instanceof AbeyanceError)
    return { code: error.code, exitCode: EXIT_OF_CODE[error.code] ?? EXIT.failure, message };
  if (error instanceof HistoryError) return { code: error.code, exitCode: EXIT.usage, message };
  if (error instanceof ServerUnavailableError) return { code: error.code, exitCode: EXIT.noServer, message };
  return { code: codeOf(error) ?? 'FAILED', exitCode: EXIT.failure, message };
}

function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** Says on standard error what failed: one line, or one JSON object where the output is JSON. */
export function reportFailure({ open, ...failure }: Failure, { output }: Partial<GlobalOptions>): void {
  if (output === 'json' || output === 'jsonl') {
    process.stderr.write(`${jsonLine({ error: { ...failure, ...(open && { open }) } })}\n`);
    return;
  }
  const lines = failure.message.split('\n').map((line) => line.trim());
  process.stderr.write(`abeyance: ${visible(lines.join(' '))} [${failure.code}]\n`);
}
