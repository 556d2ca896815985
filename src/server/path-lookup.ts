import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Returns every executable file called `program` on the PATH of `env`, in PATH order.
 *
 * @example
 * const [go] = onPath('go', process.env);
 */
export function onPath(program: string, env: NodeJS.ProcessEnv): readonly string[] {
  const file = process.platform === 'win32' ? `${program}.exe` : program;
  const folders = pathOf(env).split(path.delimiter).filter(Boolean);
  return [...new Set(folders.map((folder) => path.resolve(folder, file)))].filter(isExecutable);
}

function pathOf(env: NodeJS.ProcessEnv): string {
  // A copy of process.env loses the case-insensitive names that Windows gives it.
  const name = Object.keys(env).find((key) => (process.platform === 'win32' ? key.toUpperCase() : key) === 'PATH');
  return (name !== undefined && env[name]) || '';
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
