import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { testServer } from './on-server';

/** A worker in a process of its own, so that it can be killed. */
export interface ForkedWorker {
  readonly pid: number | undefined;
  /** SIGKILL: no time for last words. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Resolves with the exit code when the process ends by itself. */
  readonly ended: Promise<number | null>;
  /** What it has written to standard error. */
  readonly errors: () => string;
}

/** Forks a worker on a task queue; resolves when it serves. */
export async function forkWorker(taskQueue: string, effectsFile: string): Promise<ForkedWorker> {
  const { address, namespace, bundle } = testServer();
  const child: ChildProcess = fork(
    join(__dirname, 'worker-process.ts'),
    [address, namespace, bundle, taskQueue, effectsFile],
    { execArgv: ['--conditions=abeyance-source', '--import', 'tsx'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const serves = once(child, 'message');
  await Promise.race([
    serves,
    ended.then((code) => {
      throw new Error(`the worker ended with ${code} before it served: ${errors}`);
    }),
  ]);
  return {
    pid: child.pid,
    ended,
    errors: () => errors,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
