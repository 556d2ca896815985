import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { messageOf } from '../graph/errors';
import type { Json } from '../graph/json';
import { CliError, EXIT } from './cli-failure';

/** Reads an argument that is JSON. */
export function jsonArgument(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const hint = /^[\w ]*$/.test(text) ? ` A text needs its quotes within the shell's: '"${text}"'` : '';
    throw new InvalidArgumentError(`It is no JSON: ${messageOf(error)}.${hint}`);
  }
}

/** Reads a file of JSON, whatever it holds; `-` is standard input. */
export function jsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path === '-' ? process.stdin.fd : path, 'utf8')) as unknown;
  } catch (error) {
    const what = error instanceof SyntaxError ? 'is no JSON' : 'cannot be read';
    throw new CliError('FILE_UNREADABLE', EXIT.usage, `The file ${path} ${what}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
