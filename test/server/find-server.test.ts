import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findServer } from '../../src/server/find-server';
import { ServerUnavailableError } from '../../src/server/server-unavailable-error';
import { scratchDirectory, temporalBody, writeGo, writeProgram, writeSdk } from './fake-programs';

const scratch = scratchDirectory();
afterAll(scratch.remove);

let number = 0;
function machine(extraPath: readonly string[] = []) {
  const root = path.join(scratch.path, String(number++));
  const places = { root, bin: path.join(root, 'bin'), cache: path.join(root, 'cache'), sdk: path.join(root, 'app') };
  const env = { PATH: [places.bin, ...extraPath].join(path.delimiter), ABEYANCE_CACHE_DIR: places.cache };
  const find = (more: NodeJS.ProcessEnv = {}) =>
    findServer({ env: { ...env, ...more }, onProgress: () => undefined, resolveFrom: [places.sdk] });
  return { ...places, find };
}

const downloads = `require('node:fs').writeFileSync(downloadDir + '/temporal-sdk-typescript-9',
  "#!/bin/sh\\n${temporalBody('1.9.9')}\\n", { mode: 0o755 });`;

describe('finding a server', () => {
  test('TEMPORAL_ADDRESS comes before everything else, with the namespace of TEMPORAL_NAMESPACE or default', async () => {
    const { find, bin } = machine();
    writeProgram(bin, 'temporal', temporalBody('1.5.1'));
    const address = { TEMPORAL_ADDRESS: 'temporal.test:7233' };
    expect(await find(address)).toEqual({ kind: 'existing', address: 'temporal.test:7233', namespace: 'default' });
    expect(await find({ ...address, TEMPORAL_NAMESPACE: 'orders' })).toMatchObject({ namespace: 'orders' });
  });

  test('temporal on the PATH comes before the cache', async () => {
    const { find, bin, cache } = machine();
    writeProgram(cache, 'temporal-1.5.1', temporalBody('1.5.1'));
    expect(await find()).toMatchObject({ origin: { kind: 'cache' } });
    const binary = writeProgram(bin, 'temporal', temporalBody('1.5.1'));
    const version = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)';
    expect(await find()).toEqual({ kind: 'binary', origin: { kind: 'path', binary, version } });
  });

  test('a broken temporal on the PATH gives way to the next one there', async () => {
    const { find, bin, root } = machine([path.join(scratch.path, String(number), 'bin2')]);
    writeProgram(bin, 'temporal', 'exit 3');
    const binary = writeProgram(path.join(root, 'bin2'), 'temporal', temporalBody('1.5.1'));
    expect(await find()).toMatchObject({ origin: { kind: 'path', binary } });
  });

  test('the newest binary of the cache that runs is chosen', async () => {
    const { find, cache } = machine();
    writeProgram(cache, 'temporal-1.9.0', temporalBody('1.9.0'));
    const newest = writeProgram(cache, 'temporal-1.10.0', temporalBody('1.10.0'));
    writeFileSync(path.join(cache, 'temporal-1.11.0'), 'half a binary', { mode: 0o755 });
    expect(await find()).toMatchObject({ origin: { kind: 'cache', binary: newest } });
  });

  test("the SDK's download comes before go install, and is found in the cache the next time", async () => {
    const { find, bin, cache, sdk, root } = machine();
    writeSdk(sdk, downloads);
    writeGo(bin, path.join(root, 'go.log'));
    const binary = path.join(cache, 'temporal-1.9.9');
    expect(await find()).toMatchObject({ origin: { kind: 'sdk-download', binary } });
    expect(await find()).toMatchObject({ origin: { kind: 'cache', binary } });
    expect(existsSync(path.join(root, 'go.log'))).toBe(false);
  });

  test('a downloaded server that misses its start is kept all the same', async () => {
    const { find, sdk } = machine();
    writeSdk(sdk, `${downloads} throw new Error('did not start in time');`);
    expect(await find()).toMatchObject({ origin: { kind: 'sdk-download' } });
  });

  test('go install builds the pinned version when the download fails, and leaves only the binary', async () => {
    const { find, bin, cache, sdk, root } = machine();
    writeSdk(sdk, `throw new Error('no network');`);
    writeGo(bin, path.join(root, 'go.log'));
    expect(await find()).toMatchObject({ origin: { kind: 'go-install', binary: path.join(cache, 'temporal-1.5.1') } });
    expect(readFileSync(path.join(root, 'go.log'), 'utf8')).toBe(
      'install -ldflags -s -w github.com/temporalio/cli/cmd/temporal@v1.5.1\n',
    );
    expect(readdirSync(cache)).toEqual(['temporal-1.5.1']);
  });

  test('two lookups at once build once', async () => {
    const { find, bin, root } = machine();
    writeGo(bin, path.join(root, 'go.log'));
    const [one, two] = await Promise.all([find(), find()]);
    expect([one, two].map((found) => found.kind === 'binary' && found.origin.kind).sort()).toEqual([
      'cache',
      'go-install',
    ]);
    expect(readFileSync(path.join(root, 'go.log'), 'utf8').trim().split('\n')).toHaveLength(1);
  });
});

describe('when no server can be had', () => {
  test('the error names every way tried, why each failed, and how to provide one', async () => {
    const { find, bin, cache, sdk } = machine();
    writeProgram(bin, 'temporal', temporalBody('1.1.0', '1.25.0'));
    writeProgram(cache, 'temporal-1.5.1', 'echo hello');
    writeSdk(sdk, `throw new Error('no network');`);
    writeProgram(bin, 'go', 'echo "go: proxy is down" >&2; exit 1');
    const error = await find().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServerUnavailableError);
    const { code, message, ways } = error as ServerUnavailableError;
    expect(code).toBe('NO_SERVER');
    expect(ways.map(({ way }) => way)).toEqual([
      'TEMPORAL_ADDRESS',
      'temporal on the PATH',
      'the cache',
      "the SDK's download",
      'go install',
    ]);
    for (const { way, reason } of ways) expect(message).toContain(`${way}: ${reason}`);
    expect(message).toContain('holds Server 1.25, 1.28 or newer is needed');
    expect(message).toContain(`is not the Temporal CLI, --version says 'hello'`);
    expect(message).toContain('no network');
    expect(message).toContain('go: proxy is down');
    for (const remedy of ['TEMPORAL_ADDRESS=', 'docs.temporal.io/cli', path.join(cache, 'temporal-1.5.1'), 'Go 1.24']) {
      expect(message).toContain(remedy);
    }
    expect(readdirSync(cache)).toEqual(['temporal-1.5.1']);
  });

  test('on a bare machine the reasons say what is missing', async () => {
    const { find } = machine();
    await expect(find()).rejects.toThrow(
      /not set[^]*temporal is not on the PATH[^]*no binary in[^]*@temporalio\/testing is not installed[^]*go is not on the PATH/,
    );
  });

  test('a build that does not run is not put into the cache', async () => {
    const { find, bin, cache } = machine();
    writeProgram(bin, 'go', `printf 'junk' > "$GOBIN/temporal"`);
    await expect(find()).rejects.toThrow(/go install: .*temporal --version failed/);
    expect(readdirSync(cache)).toEqual([]);
  });

  test('a cache that cannot be written is the reason given', async () => {
    const { find, root } = machine();
    writeProgram(root, 'file', '');
    await expect(find({ ABEYANCE_CACHE_DIR: path.join(root, 'file') })).rejects.toThrow(/cannot write to the cache/);
  });
});
