import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const binaryName = /^temporal-(\d+)\.(\d+)\.(\d+)(?:\.exe)?$/;

/**
 * Returns the directory where obtained servers are kept between runs: `ABEYANCE_CACHE_DIR`, else
 * `XDG_CACHE_HOME/abeyance`, else the user's cache folder of the platform. Creates nothing.
 *
 * @example
 * cacheDirectory({ ABEYANCE_CACHE_DIR: '/var/cache/abeyance' }); // '/var/cache/abeyance'
 */
export function cacheDirectory(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  if (env.ABEYANCE_CACHE_DIR) return path.resolve(env.ABEYANCE_CACHE_DIR);
  if (env.XDG_CACHE_HOME) return path.resolve(env.XDG_CACHE_HOME, 'abeyance');
  const home = env.HOME || homedir();
  if (platform === 'win32') return path.join(env.LOCALAPPDATA || path.join(home, 'AppData', 'Local'), 'abeyance');
  if (platform === 'darwin') return path.join(home, 'Library', 'Caches', 'abeyance');
  return path.join(home, '.cache', 'abeyance');
}

/** Returns the path that a CLI of this version has in the cache. */
export function cachedBinaryPath(directory: string, cliVersion: string): string {
  return path.join(directory, `temporal-${cliVersion}${process.platform === 'win32' ? '.exe' : ''}`);
}

/** Returns the binaries in the cache, newest version first; none if the directory cannot be read. */
export function cachedBinaries(directory: string): readonly string[] {
  return namesIn(directory)
    .map((name) => ({ name, match: binaryName.exec(name) }))
    .filter(({ match }) => match !== null)
    .map(({ name, match }) => ({ name, order: match!.slice(1, 4).map(Number) }))
    .sort((a, b) => compare(b.order, a.order))
    .map(({ name }) => path.join(directory, name));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((part, position) => part !== b[position]);
  return index === -1 ? 0 : a[index]! - b[index]!;
}
