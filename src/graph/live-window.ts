import { isJsonObject, type Json } from './json';
import { bytesOf } from './size-limit';

/** The most one chunk of progress may take. */
export const MAX_CHUNK_BYTES = 64 * 1024;

// What a heartbeat carries several times a second stays small.
const MAX_CHUNKS_BYTES = 64 * 1024;
const MAX_TEXT = 64 * 1024;

/** Chunks of progress in a row, and how many came before them. */
export interface Chunks {
  readonly from: number;
  readonly chunks: readonly Json[];
}

/** What an attempt that still runs has shown so far, as far as it is kept. */
export interface Live {
  readonly attempt: number;
  readonly written?: Chunks;
  /** What a model has said, and how many characters came before it. */
  readonly said?: { readonly from: number; readonly text: string };
}

/** What a running attempt shows: the newest 64 KiB of progress, and the last 64 Ki characters of a model's text. */
export class LiveWindow {
  private from = 0;
  private readonly chunks: { readonly json: Json; readonly bytes: number }[] = [];
  private bytes = 0;
  private textFrom = 0;
  private text = '';

  constructor(private readonly attempt: number) {}

  write(json: Json): void {
    const bytes = bytesOf(json);
    this.chunks.push({ json, bytes });
    this.bytes += bytes;
    while (this.bytes > MAX_CHUNKS_BYTES) {
      this.bytes -= this.chunks.shift()?.bytes ?? 0;
      this.from += 1;
    }
  }

  say(text: string): void {
    this.text += text;
    const surplus = this.text.length - MAX_TEXT;
    if (surplus <= 0) return;
    this.text = this.text.slice(surplus);
    this.textFrom += surplus;
  }

  /** The chunks that are kept; undefined where none were written. */
  get written(): Chunks | undefined {
    if (this.chunks.length === 0) return undefined;
    return { from: this.from, chunks: this.chunks.map(({ json }) => json) };
  }

  /** What there is to show; undefined while there is nothing. */
  get live(): Live | undefined {
    const { attempt, written, text, textFrom } = this;
    if (!written && text === '') return undefined;
    return { attempt, ...(written && { written }), ...(text !== '' && { said: { from: textFrom, text } }) };
  }
}

/** Reads what a heartbeat or a result says was written; undefined where it says nothing that can be read. */
export function readChunks(value: unknown): Chunks | undefined {
  if (!isJsonObject(value) || typeof value.from !== 'number' || !Array.isArray(value.chunks)) return undefined;
  return { from: value.from, chunks: value.chunks as readonly Json[] };
}

/** Reads what a heartbeat says an attempt shows; undefined where it shows nothing, or is not one of ours. */
export function readLive(value: unknown): Live | undefined {
  if (!isJsonObject(value) || typeof value.attempt !== 'number') return undefined;
  const written = readChunks(value.written);
  const { said } = value;
  const isText = isJsonObject(said) && typeof said.from === 'number' && typeof said.text === 'string';
  return {
    attempt: value.attempt,
    ...(written && { written }),
    ...(isText && { said: { from: said.from as number, text: said.text as string } }),
  };
}
