import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const lockName = 'install.lock';
const refreshMs = 5_000;
/** A holder refreshes its lock every 5 s; one that is this old belongs to nobody, whatever its pid says. */
const abandonedMs = 60_000;
const pollMs = 100;

interface LockHolder {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

/**
 * Runs `work` while no other process (and no other call in this one) does so for the same directory, which is made if
 * missing. Waits without a limit while the holder lives; takes over at once from a holder whose process is gone, and
 * after a minute from one that no longer refreshes its lock. Settles as `work` does.
 *
 * @example
 * await withInstallLock(cacheDirectory(env), (pid) => console.error(`waiting for ${pid}`), () => build());
 */
export async function withInstallLock<T>(
  directory: string,
  onWait: (holderPid: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(directory, { recursive: true });
  const lock = path.join(directory, lockName);
  const me: LockHolder = { pid: process.pid, host: hostname(), token: randomUUID() };
  for (let waited = false; !(await tryToTake(lock, me));) {
    const holder = await readHolder(lock);
    if (holder === undefined) continue;
    if (await isAbandoned(lock, holder)) {
      await clearAbandoned(lock, holder);
      continue;
    }
    if (!waited) onWait(holder.pid);
    waited = true;
    await delay(pollMs);
  }
  const refresh = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), refreshMs);
  refresh.unref();
  try {
    return await work();
  } finally {
    clearInterval(refresh);
    if ((await readHolder(lock))?.token === me.token) await rm(lock, { force: true });
  }
}

async function tryToTake(lock: string, me: LockHolder): Promise<boolean> {
  // Written aside and linked into place, so that nobody ever reads a lock without its holder.
  const draft = `${lock}.${me.token}`;
  await writeFile(draft, JSON.stringify(me));
  try {
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(draft, { force: true });
  }
}

async function readHolder(lock: string): Promise<LockHolder | undefined> {
  try {
    return JSON.parse(await readFile(lock, 'utf8')) as LockHolder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return { pid: 0, host: '', token: '' };
  }
}

async function isAbandoned(lock: string, holder: LockHolder): Promise<boolean> {
  if (holder.host === hostname() && !isAlive(holder.pid)) return true;
  const modified = await stat(lock).then(
    (stats) => stats.mtimeMs,
    () => Date.now(),
  );
  return Date.now() - modified > abandonedMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function clearAbandoned(lock: string, seen: LockHolder): Promise<void> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
  } catch {
    return;
  }
  const taken = await readHolder(aside);
  // Another process may have taken over between the look and the rename: give it its lock back.
  if (taken !== undefined && taken.token !== seen.token) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}
