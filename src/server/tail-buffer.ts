import type { Readable } from 'node:stream';

const keptCharacters = 8_192;

/** Drains `stream` and returns a reader of the last 8,192 characters that it gave. */
export function tailBuffer(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-keptCharacters);
  });
  stream.on('error', () => undefined);
  return () => tail;
}
