import path from 'node:path';
import { endWithParent } from './end-with-parent';
import { onPath } from './path-lookup';
import { type OnProgress, reportProgress } from './report-progress';
import { runCommand } from './run-command';
import type { Obtained } from './sdk-download';

/** The newest version of the CLI that `go install` accepts: later ones carry replace directives. */
export const goCliVersion = '1.5.1';
const goPackage = `github.com/temporalio/cli/cmd/temporal@v${goCliVersion}`;
const buildTimeoutMs = 30 * 60_000;

export interface BuildRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: OnProgress;
  /** An existing empty directory that receives the binary. */
  readonly into: string;
}

/**
 * Builds the Temporal CLI with `go install`, if Go is on the PATH. Takes about five minutes and 3 GB of Go's own caches
 * the first time. Never rejects; ends after half an hour at the latest.
 *
 * @example
 * const got = await buildWithGo({ env: process.env, onProgress: console.error, into: directory });
 */
export async function buildWithGo({ env, onProgress, into }: BuildRequest): Promise<Obtained> {
  const [go] = onPath('go', env);
  if (go === undefined) return { kind: 'failed', reason: 'go is not on the PATH' };
  const result = await reportProgress(
    `building the Temporal CLI ${goCliVersion} with go install`,
    'about five minutes the first time, cached afterwards',
    onProgress,
    () =>
      runCommand(go, ['install', '-ldflags', '-s -w', goPackage], {
        // GOBIN is refused when these ask for another platform.
        env: { ...env, GOBIN: into, GOOS: undefined, GOARCH: undefined },
        cwd: into,
        timeoutMs: buildTimeoutMs,
        onSpawn: endWithParent,
      }),
  );
  if (result.kind === 'failed') return { kind: 'failed', reason: `go install failed, ${result.reason}` };
  return { kind: 'obtained', file: path.join(into, process.platform === 'win32' ? 'temporal.exe' : 'temporal') };
}
