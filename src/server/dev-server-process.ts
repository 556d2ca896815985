import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithParent } from './end-with-parent';
import { isServing } from './grpc-health';
import { ServerDiedError } from './server-died-error';
import { tailBuffer } from './tail-buffer';

const pollMs = 20;
const probeTimeoutMs = 1_000;
const killAfterMs = 5_000;
/** A server that answers but has not printed its banner may be another process on the same port. */
const bannerGraceMs = 1_000;

export interface LaunchRequest {
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly address: string;
  readonly namespace: string;
  readonly timeoutMs: number;
}

interface Serving {
  readonly kind: 'serving';
  readonly pid: number;
  readonly stop: () => Promise<void>;
  /** Settles when the process ends without `stop`. */
  readonly died: Promise<ServerDiedError>;
}

export type Launch =
  Serving | { readonly kind: 'ended' | 'silent'; readonly whatHappened: string; readonly output: string };

/**
 * Starts a dev server and settles once it serves its namespace (`serving`), ended by itself (`ended`), or did neither
 * within `timeoutMs` milliseconds (`silent`; it is killed then). Never rejects. The process ends with this one.
 *
 * @example
 * const launch = await launchDevServer({ binary, args, env, address, namespace: 'default', timeoutMs: 30_000 });
 */
export async function launchDevServer(request: LaunchRequest): Promise<Launch> {
  const { binary, args, env } = request;
  // Detached, so that Ctrl-C reaches this program only, which may still need the server to finish its work.
  const child = spawn(binary, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
  const stdout = tailBuffer(child.stdout);
  const stderr = tailBuffer(child.stderr);
  let failure: string | undefined;
  let closed = false;
  child.once('error', (error) => (failure = `could not be run: ${error.message}`));
  child.once('exit', (code, signal) => (failure ??= `ended before it served (${code ?? signal})`));
  child.once('close', () => (closed = true));
  endWithParent(child);
  const outcome = await waitUntilServing(request, {
    hasEnded: () => closed,
    isOurs: () => failure === undefined && stdout() !== '',
    mayBeOurs: () => failure === undefined,
  });
  switch (outcome) {
    case 'serving': {
      const lastWords = (): string => lastLines(stderr() || stdout());
      return { kind: 'serving', pid: child.pid!, ...untilEnded(child, { binary, hasEnded: () => closed, lastWords }) };
    }
    case 'ended':
      return { kind: 'ended', whatHappened: failure!, output: lastLines(stderr() || stdout()) };
    case 'silent': {
      await stop(child);
      const whatHappened = `did not serve within ${request.timeoutMs / 1_000} s and was ended`;
      return { kind: 'silent', whatHappened, output: lastLines(stderr() || stdout()) };
    }
  }
}

interface ChildSigns {
  /** Exited, and all its output read. */
  readonly hasEnded: () => boolean;
  readonly isOurs: () => boolean;
  readonly mayBeOurs: () => boolean;
}

async function waitUntilServing(
  { address, namespace, timeoutMs }: LaunchRequest,
  { hasEnded, isOurs, mayBeOurs }: ChildSigns,
): Promise<'serving' | 'ended' | 'silent'> {
  const deadline = Date.now() + timeoutMs;
  let servingSince: number | undefined;
  while (Date.now() < deadline) {
    if (hasEnded()) return 'ended';
    if (await isServing(address, namespace, probeTimeoutMs)) {
      servingSince ??= Date.now();
      if (isOurs() || (mayBeOurs() && Date.now() - servingSince > bannerGraceMs)) return 'serving';
    }
    await delay(pollMs);
  }
  return 'silent';
}

interface Ending {
  readonly binary: string;
  /** Exited, and all its output read. */
  readonly hasEnded: () => boolean;
  readonly lastWords: () => string;
}

function untilEnded(child: ChildProcess, { binary, hasEnded, lastWords }: Ending): Pick<Serving, 'stop' | 'died'> {
  let isAsked = false;
  const died = new Promise<ServerDiedError>((resolve) => {
    const tell = (): void => {
      if (!isAsked) resolve(new ServerDiedError(binary, String(child.exitCode ?? child.signalCode), lastWords()));
    };
    if (hasEnded()) tell();
    else child.once('close', tell);
  });
  const askToEnd = (): Promise<void> => {
    isAsked = true;
    return stop(child);
  };
  return { stop: onceOnly(askToEnd), died };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const kill = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  child.kill('SIGTERM');
  await exited;
  clearTimeout(kill);
}

function onceOnly(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= action());
}

function lastLines(output: string): string {
  const lines = output.trimEnd().split('\n');
  return lines.slice(-15).join('\n');
}
