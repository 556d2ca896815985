import { StateError } from './errors';

/** The most one payload may hold: Temporal ends a run at 2 MB, and the envelope needs a little. */
export const MAX_PAYLOAD_BYTES = 1_800_000;

/** The most a local activity may put on record, what it was given included: many may end in one workflow task. */
export const MAX_LOCAL_BYTES = 256_000;

/** How many bytes a value takes as JSON. */
export function bytesOf(value: unknown): number {
  const text = JSON.stringify(value) ?? '';
  let bytes = text.length;
  // Counted, since encoding would take longer than all else that is done with a large state.
  if (!/[\u0080-\uffff]/.test(text)) return bytes;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) bytes += unit < 0x800 || isHalfOfPair(unit) ? 1 : 2;
  }
  return bytes;
}

// A pair makes four bytes, and JSON has no half of one by itself.
function isHalfOfPair(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** A number of bytes as a person reads it. */
export function inMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * Refuses what Temporal would end the run for.
 *
 * @throws {StateError} `STATE_TOO_LARGE`, naming node and size.
 */
export function refuseTooLarge(what: string, value: unknown, node: string): void {
  const bytes = bytesOf(value);
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  const limit = inMegabytes(MAX_PAYLOAD_BYTES);
  const message = `${what} of "${node}" takes ${inMegabytes(bytes)}, and Temporal carries ${limit} at once. Keep large things outside the state, or let the node declare what it "reads".`;
  throw new StateError('STATE_TOO_LARGE', message, node);
}

/**
 * Refuses the record of a local activity that would not leave room for others.
 *
 * @throws {StateError} `STATE_TOO_LARGE`, naming node and size.
 */
export function refuseTooLargeLocally(record: unknown, node: string): void {
  const bytes = bytesOf(record);
  if (bytes <= MAX_LOCAL_BYTES) return;
  const message = `What "${node}" reads and writes takes ${Math.ceil(bytes / 1000)} KB, and a local node can record ${MAX_LOCAL_BYTES / 1000} KB. Take run: 'local' away, or let the node declare what it "reads".`;
  throw new StateError('STATE_TOO_LARGE', message, node);
}
