import { createServer } from 'node:http2';
import { once } from 'node:events';
import { launchDevServer } from '../../src/server/dev-server-process';
import { findServer } from '../../src/server/find-server';
import { freePort } from '../../src/server/free-port';
import { scratchDirectory, writeProgram } from './fake-programs';

const scratch = scratchDirectory();
afterAll(scratch.remove);

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function launch(binary: string, timeoutMs: number, args: readonly string[] = [], port?: number) {
  const address = `127.0.0.1:${port ?? (await freePort('127.0.0.1'))}`;
  return launchDevServer({ binary, args, env: {}, address, namespace: 'default', timeoutMs });
}

describe('launching a server process', () => {
  test('its stop leaves no process', async () => {
    const env = { ...process.env, TEMPORAL_ADDRESS: undefined };
    const found = await findServer({ env, onProgress: () => undefined });
    const binary = found.kind === 'binary' ? found.origin.binary : '';
    const port = await freePort('127.0.0.1');
    const args = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port)];
    const server = await launch(binary, 30_000, args, port);
    if (server.kind !== 'serving') throw new Error(server.whatHappened);
    expect(isAlive(server.pid)).toBe(true);
    const died = jest.fn();
    void server.died.then(died);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(died).not.toHaveBeenCalled();
  });

  test('one that never serves is ended, by force after five seconds if it does not obey', async () => {
    const binary = writeProgram(
      scratch.path,
      'deaf',
      `trap '' TERM\necho "pid $$" >&2\nwhile :; do /bin/sleep 0.2; done`,
    );
    const result = await launch(binary, 300);
    expect(result).toMatchObject({ kind: 'silent', whatHappened: 'did not serve within 0.3 s and was ended' });
    const pid = Number(/pid (\d+)/.exec(result.kind === 'silent' ? result.output : '')?.[1]);
    expect(isAlive(pid)).toBe(false);
  });

  test('another server on its port is not taken for it', async () => {
    const stranger = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/grpc', 'grpc-status': '0' });
      response.end(request.url.includes('Health') ? Buffer.from([0, 0, 0, 0, 2, 8, 1]) : Buffer.alloc(5));
    });
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as { port: number };
    const binary = writeProgram(
      scratch.path,
      'late-loser',
      `/bin/sleep 0.2\necho 'address already in use' >&2\nexit 1`,
    );
    expect(await launch(binary, 5_000, [], port)).toEqual({
      kind: 'ended',
      whatHappened: 'ended before it served (1)',
      output: 'address already in use',
    });
    stranger.close();
  });

  test('a binary that cannot be executed is reported, not thrown', async () => {
    expect(await launch(`${scratch.path}/nowhere`, 5_000)).toMatchObject({
      kind: 'ended',
      whatHappened: expect.stringContaining('ENOENT'),
    });
  });
});
