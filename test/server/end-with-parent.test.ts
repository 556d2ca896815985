import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isPortFree } from '../../src/server/free-port';

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}

async function run(fixture: string, ...args: readonly string[]) {
  const file = path.join(__dirname, fixture);
  const env = { ...process.env, TEMPORAL_ADDRESS: undefined };
  const parent = spawn(process.execPath, ['--require', 'tsx/cjs', file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  return { parent, said: JSON.parse(line.toString()) as { childPid: number; handlersTaken: number; address: string } };
}

async function end(parent: ChildProcess, how: NodeJS.Signals | 'exit'): Promise<number | NodeJS.Signals> {
  const exited = once(parent, 'exit');
  if (how === 'exit') parent.stdin!.write('exit\n');
  else parent.kill(how);
  const [code, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  return code ?? signal!;
}

describe('a child bound to its parent', () => {
  test.each([
    ['exit', 0],
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGTERM'],
    ['SIGKILL', 'SIGKILL'],
  ] as const)('ends with it on %s, which works as if nothing were bound', async (how, ending) => {
    const { parent, said } = await run('parent-fixture.ts');
    expect(isAlive(said.childPid)).toBe(true);
    expect(await end(parent, how)).toBe(ending);
    await until(() => !isAlive(said.childPid));
  });

  test("leaves the program's own signal handlers in charge", async () => {
    const { parent, said } = await run('parent-fixture.ts', 'handle');
    expect(said.handlersTaken).toBe(0);
    expect(await end(parent, 'SIGTERM')).toBe(7);
    await until(() => !isAlive(said.childPid));
  });

  test('a real server does not outlive a killed program', async () => {
    const { parent, said } = await run('parent-with-server-fixture.ts');
    const port = Number(said.address.split(':')[1]);
    expect(await isPortFree('127.0.0.1', port)).toBe(false);
    await end(parent, 'SIGKILL');
    await until(() => isPortFree('127.0.0.1', port));
  });
});
