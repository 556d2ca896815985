import { cacheDirectory, cachedBinaries, cachedBinaryPath } from './cache-directory';
import { checkBinary } from './check-binary';
import { goCliVersion } from './go-install';
import { installBinary, type InstallResult } from './install-binary';
import { withInstallLock } from './install-lock';
import { onPath } from './path-lookup';
import type { OnProgress } from './report-progress';
import type { BinaryOrigin } from './server-origin';
import { type FailedWay, ServerUnavailableError } from './server-unavailable-error';

export interface FindRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly onProgress: OnProgress;
  /** Folders from which `@temporalio/testing` is looked for. Default: the working directory, then this library. */
  readonly resolveFrom?: readonly string[];
}

export type FoundServer =
  | { readonly kind: 'existing'; readonly address: string; readonly namespace: string }
  | { readonly kind: 'binary'; readonly origin: BinaryOrigin };

type LocalLookup =
  { readonly kind: 'found'; readonly origin: BinaryOrigin } | { readonly kind: 'missed'; readonly reason: string };

/**
 * Finds a Temporal server to use, or a binary to start one from: `TEMPORAL_ADDRESS`, `temporal` on the PATH, the cache,
 * the SDK's download, `go install`, in this order. A binary is chosen only after it ran. What was downloaded or built
 * stays in the cache; two processes that look at once install once.
 *
 * @throws ServerUnavailableError (`NO_SERVER`) when every way failed.
 * @example
 * const found = await findServer({ env: process.env, onProgress: console.error });
 */
export async function findServer(request: FindRequest): Promise<FoundServer> {
  const { env } = request;
  if (env.TEMPORAL_ADDRESS) {
    return { kind: 'existing', address: env.TEMPORAL_ADDRESS, namespace: env.TEMPORAL_NAMESPACE || 'default' };
  }
  const cache = cacheDirectory(env);
  const path = await firstUsable('path', onPath('temporal', env), env, 'temporal is not on the PATH');
  if (path.kind === 'found') return { kind: 'binary', origin: path.origin };
  const cached = await lookInCache(cache, env);
  if (cached.kind === 'found') return { kind: 'binary', origin: cached.origin };
  const installed = await installOnce(cache, request);
  if (installed.kind === 'installed') return { kind: 'binary', origin: installed.origin };
  throw new ServerUnavailableError(
    [
      { way: 'TEMPORAL_ADDRESS', reason: 'not set' },
      { way: 'temporal on the PATH', reason: path.reason },
      { way: 'the cache', reason: cached.reason },
      ...installed.ways,
    ],
    cachedBinaryPath(cache, goCliVersion),
  );
}

function lookInCache(cache: string, env: NodeJS.ProcessEnv): Promise<LocalLookup> {
  return firstUsable('cache', cachedBinaries(cache), env, `no binary in ${cache}`);
}

async function firstUsable(
  kind: 'path' | 'cache',
  candidates: readonly string[],
  env: NodeJS.ProcessEnv,
  reasonIfNone: string,
): Promise<LocalLookup> {
  const reasons: string[] = [];
  for (const candidate of candidates) {
    const check = await checkBinary(candidate, env);
    if (check.kind === 'runs') {
      return { kind: 'found', origin: { kind, binary: check.binary, version: check.version } };
    }
    reasons.push(check.reason);
  }
  return { kind: 'missed', reason: reasons.join('; ') || reasonIfNone };
}

async function installOnce(cache: string, request: FindRequest): Promise<InstallResult> {
  const { env, onProgress, resolveFrom = [process.cwd(), __dirname] } = request;
  const onWait = (pid: number) => onProgress(`waiting for process ${pid}, which is installing a Temporal dev server`);
  try {
    return await withInstallLock(cache, onWait, async () => {
      const meanwhile = await lookInCache(cache, env);
      if (meanwhile.kind === 'found') return { kind: 'installed', origin: meanwhile.origin };
      return installBinary({ env, onProgress, cache, resolveFrom });
    });
  } catch (error) {
    const reason = `cannot write to the cache ${cache}, ${(error as Error).message}`;
    const ways: readonly FailedWay[] = [{ way: "the SDK's download and go install", reason }];
    return { kind: 'failed', ways };
  }
}
