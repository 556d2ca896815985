import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { cachedBinaryPath } from './cache-directory';
import { checkBinary } from './check-binary';
import { buildWithGo, goCliVersion } from './go-install';
import type { OnProgress } from './report-progress';
import { downloadWithSdk, type Obtained } from './sdk-download';
import type { BinaryOrigin } from './server-origin';
import type { FailedWay } from './server-unavailable-error';

const workFolderPrefix = '.installing-';

export interface InstallRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: OnProgress;
  readonly cache: string;
  /** Folders from which `@temporalio/testing` is looked for. */
  readonly resolveFrom: readonly string[];
}

export type InstallResult =
  | { readonly kind: 'installed'; readonly origin: BinaryOrigin }
  | { readonly kind: 'failed'; readonly ways: readonly FailedWay[] };

interface InstallWay {
  readonly kind: 'sdk-download' | 'go-install';
  readonly name: string;
  /** The version to name the binary after; without it, what the binary says of itself. */
  readonly cliVersion?: string;
  readonly obtain: (into: string) => Promise<Obtained>;
}

/**
 * Obtains a Temporal CLI by the SDK's download, else by `go install`, and moves it into the cache in one step, so that
 * nobody ever sees half a binary there. The caller holds the install lock. Never rejects for a way that fails: its
 * reason is in the result.
 *
 * @example
 * await withInstallLock(cache, onWait, () => installBinary({ env: process.env, onProgress, cache, resolveFrom: [cwd] }));
 */
export async function installBinary(request: InstallRequest): Promise<InstallResult> {
  const { env, onProgress, cache, resolveFrom } = request;
  const installWays: readonly InstallWay[] = [
    {
      kind: 'sdk-download',
      name: "the SDK's download",
      obtain: (into) => downloadWithSdk({ env, onProgress, into, resolveFrom }),
    },
    {
      kind: 'go-install',
      name: 'go install',
      cliVersion: goCliVersion,
      obtain: (into) => buildWithGo({ env, onProgress, into }),
    },
  ];
  await removeLeftovers(cache);
  const ways: FailedWay[] = [];
  for (const way of installWays) {
    const result = await tryWay(way, request);
    if (result.kind === 'installed') return result;
    ways.push({ way: way.name, reason: result.reason });
  }
  return { kind: 'failed', ways };
}

async function tryWay(way: InstallWay, { env, cache }: InstallRequest) {
  const into = await mkdtemp(path.join(cache, workFolderPrefix));
  try {
    const obtained = await way.obtain(into);
    if (obtained.kind === 'failed') return obtained;
    const check = await checkBinary(obtained.file, env);
    if (check.kind === 'unusable') return { kind: 'failed', reason: check.reason } as const;
    const binary = cachedBinaryPath(cache, way.cliVersion ?? check.cliVersion);
    await rename(obtained.file, binary);
    const origin: BinaryOrigin = { kind: way.kind, binary, version: check.version };
    return { kind: 'installed', origin } as const;
  } catch (error) {
    return { kind: 'failed', reason: `cannot put it into the cache, ${(error as Error).message}` } as const;
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

async function removeLeftovers(cache: string): Promise<void> {
  const names = await readdir(cache);
  const leftovers = names.filter((name) => name.startsWith(workFolderPrefix));
  await Promise.all(leftovers.map((name) => rm(path.join(cache, name), { recursive: true, force: true })));
}
