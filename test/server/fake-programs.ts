import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A fresh directory, and the call that removes it. */
export function scratchDirectory(): { readonly path: string; readonly remove: () => void } {
  const directory = mkdtempSync(path.join(tmpdir(), 'abeyance-server-'));
  return { path: directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Writes an executable shell script and returns its path. Scripts name programs by full path: their PATH is bare. */
export function writeProgram(directory: string, name: string, body: string): string {
  const file = path.join(directory, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** The body of a program that answers --version as the Temporal CLI does. */
export function temporalBody(cliVersion: string, serverVersion = '1.29.1'): string {
  return `echo 'temporal version ${cliVersion} (Server ${serverVersion}, UI 2.42.1)'`;
}

/** Writes a Go whose install puts a working binary into GOBIN, and a line into `log`. */
export function writeGo(directory: string, log: string): string {
  const program = `#!/bin/sh\\n${temporalBody('0.0.0-DEV').replaceAll("'", '"')}\\n`;
  return writeProgram(
    directory,
    'go',
    `echo "$@" >> '${log}'
/bin/sleep 0.3
printf '${program}' > "$GOBIN/temporal"
/bin/chmod 755 "$GOBIN/temporal"`,
  );
}

/** Installs an `@temporalio/testing` under `directory` whose createLocal runs `body` (it sees `downloadDir`). */
export function writeSdk(directory: string, body: string): void {
  const folder = path.join(directory, 'node_modules', '@temporalio', 'testing');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: '@temporalio/testing', main: 'index.js' }));
  writeFileSync(
    path.join(folder, 'index.js'),
    `exports.TestWorkflowEnvironment = { createLocal: async (options) => {
      const { downloadDir } = options.server.executable;
      ${body}
      return { teardown: async () => {} };
    } };`,
  );
}
