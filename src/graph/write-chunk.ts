import { messageOf, StateError } from './errors';
import { toJson, type Json } from './json';
import { MAX_CHUNK_BYTES } from './live-window';
import type { NodeRun } from './node-run';
import { bytesOf } from './size-limit';

/** Hands a chunk of a node's progress to its room. @throws {StateError} `STATE_NOT_JSON`, `STATE_TOO_LARGE`. */
export function writeChunk(run: NodeRun, chunk: unknown): void {
  if (run.phase !== 'running') return;
  const json = asJson(chunk, run.info.node);
  const bytes = bytesOf(json);
  if (bytes > MAX_CHUNK_BYTES) {
    const message = `"${run.info.node}" wrote a chunk of ${Math.ceil(bytes / 1024)} KiB; ${MAX_CHUNK_BYTES / 1024} KiB can be streamed at once. Write less at a time, or an id instead of the thing.`;
    throw new StateError('STATE_TOO_LARGE', message, run.info.node);
  }
  run.ports.write?.(json);
}

function asJson(chunk: unknown, node: string): Json {
  try {
    return toJson(chunk);
  } catch (error) {
    const message = `"${node}" wrote a chunk that cannot be streamed: ${messageOf(error)}. Write plain JSON.`;
    throw new StateError('STATE_NOT_JSON', message, node, undefined, { cause: error });
  }
}
