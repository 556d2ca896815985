import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { endWithParent } from './end-with-parent';
import { type OnProgress, reportProgress } from './report-progress';
import { runCommand } from './run-command';

/** A download that has shown no file by then is blocked: firewalls drop packets and the SDK sets no timeout. */
const firstByteMs = 15_000;
const downloadTimeoutMs = 10 * 60_000;

const downloadScript = `
const { TestWorkflowEnvironment } = require(process.argv[1]);
const executable = { type: 'cached-download', downloadDir: process.argv[2] };
TestWorkflowEnvironment.createLocal({ server: { executable, log: { format: 'text', level: 'error' } } })
  .then((env) => env.teardown())
  .catch((error) => { console.error(error.message); process.exitCode = 1; });
`;

export interface DownloadRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: OnProgress;
  /** An existing empty directory that receives the binary. */
  readonly into: string;
  /** Folders from which `@temporalio/testing` is looked for. */
  readonly resolveFrom: readonly string[];
}

export type Obtained =
  { readonly kind: 'obtained'; readonly file: string } | { readonly kind: 'failed'; readonly reason: string };

/**
 * Downloads the Temporal CLI with the downloader of `@temporalio/testing`, if that package is installed. Runs in a
 * process of its own, since loading the SDK's native part here would install its Runtime for the whole program. Never
 * rejects; ends after 15 s if nothing arrives, and after ten minutes at the latest.
 *
 * @example
 * const got = await downloadWithSdk({ env: process.env, onProgress: console.error, into: dir, resolveFrom: [__dirname] });
 */
export async function downloadWithSdk({ env, onProgress, into, resolveFrom }: DownloadRequest): Promise<Obtained> {
  const sdk = resolveSdk(resolveFrom);
  if (sdk === undefined) return { kind: 'failed', reason: '@temporalio/testing is not installed' };
  const deadline = Date.now() + firstByteMs;
  const result = await reportProgress(
    'downloading a Temporal dev server with @temporalio/testing',
    'about 60 MB, cached afterwards',
    onProgress,
    () =>
      runCommand(process.execPath, ['-e', downloadScript, sdk, into], {
        env: { ...env, NODE_OPTIONS: '' },
        timeoutMs: downloadTimeoutMs,
        onSpawn: endWithParent,
        giveUp: () =>
          Date.now() > deadline && readdirSync(into).length === 0
            ? `nothing arrived from temporal.download within ${firstByteMs / 1_000} s`
            : undefined,
      }),
  );
  // The SDK allows a downloaded server 5 s to start, which a busy machine may miss: what counts is the file.
  const file = readdirSync(into).find((name) => !name.endsWith('.downloading'));
  if (file !== undefined) return { kind: 'obtained', file: path.join(into, file) };
  return { kind: 'failed', reason: result.kind === 'failed' ? result.reason : 'the download left no file' };
}

function resolveSdk(resolveFrom: readonly string[]): string | undefined {
  for (const folder of resolveFrom) {
    try {
      return createRequire(path.join(folder, 'from-here.js')).resolve('@temporalio/testing');
    } catch {
      continue;
    }
  }
  return undefined;
}
