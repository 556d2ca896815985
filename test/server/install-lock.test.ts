import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { withInstallLock } from '../../src/server/install-lock';
import { scratchDirectory } from './fake-programs';

const scratch = scratchDirectory();
afterAll(scratch.remove);

let number = 0;
function lockedBy(holder: string): { readonly directory: string; readonly lock: string } {
  const directory = path.join(scratch.path, String(number++));
  const lock = path.join(directory, 'install.lock');
  mkdirSync(directory);
  writeFileSync(lock, holder);
  return { directory, lock };
}

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid!;
}

const notWaiting = (pid: number) => {
  throw new Error(`waited for ${pid}`);
};

describe('the install lock', () => {
  test('lets one in at a time, in this process too, and tells the other whom it waits for', async () => {
    const directory = path.join(scratch.path, 'shared');
    const events: string[] = [];
    const enter = (name: string) =>
      withInstallLock(
        directory,
        (pid) => events.push(`${name} waits for ${pid}`),
        async () => {
          events.push(`${name} in`);
          await new Promise((resolve) => setTimeout(resolve, 50));
          events.push(`${name} out`);
        },
      );
    const first = enter('a');
    while (!events.includes('a in')) await new Promise(setImmediate);
    await Promise.all([first, enter('b')]);
    expect(events).toEqual(['a in', `b waits for ${process.pid}`, 'a out', 'b in', 'b out']);
  });

  test('is given back when the work fails, and leaves nothing behind', async () => {
    const directory = path.join(scratch.path, 'failing');
    const failing = withInstallLock(directory, notWaiting, () => Promise.reject(new Error('no space')));
    await expect(failing).rejects.toThrow('no space');
    expect(await withInstallLock(directory, notWaiting, async () => 'next')).toBe('next');
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is taken over at once from a process that is gone', async () => {
    const { directory } = lockedBy(JSON.stringify({ pid: await endedPid(), host: hostname(), token: 'old' }));
    expect(await withInstallLock(directory, notWaiting, async () => 'mine')).toBe('mine');
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is taken over from a living pid that has not refreshed it for a minute', async () => {
    const { directory, lock } = lockedBy(JSON.stringify({ pid: process.pid, host: hostname(), token: 'old' }));
    const longAgo = new Date(Date.now() - 61_000);
    utimesSync(lock, longAgo, longAgo);
    expect(await withInstallLock(directory, notWaiting, async () => 'mine')).toBe('mine');
  });

  test('two that find the same abandoned lock still go one after the other', async () => {
    const { directory } = lockedBy(JSON.stringify({ pid: await endedPid(), host: hostname(), token: 'old' }));
    let inside = 0;
    let most = 0;
    const enter = () =>
      withInstallLock(
        directory,
        () => undefined,
        async () => {
          most = Math.max(most, ++inside);
          await new Promise((resolve) => setTimeout(resolve, 20));
          inside--;
        },
      );
    await Promise.all([enter(), enter(), enter()]);
    expect(most).toBe(1);
  });
});
