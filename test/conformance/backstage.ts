import { nodeContext } from 'abeyance';
import { Latches } from '../support/latches';

// The bodies of both drivers run in the process of the tests, so what they do can be seen there, by thread.
const notes = new Map<string, string[]>();
const latches = new Latches();

/** Writes down, in a body, what it did. */
export function note(what: string): void {
  const { threadId } = nodeContext();
  notes.set(threadId, [...notesOf(threadId), what]);
}

/** How often the bodies of this thread wrote that down: what a body does may depend on it, as on a clock. */
export function timesNoted(what: string): number {
  return notesOf(nodeContext().threadId).filter((one) => one === what).length;
}

/** What the bodies of a thread wrote down. */
export function notesOf(threadId: string): readonly string[] {
  return notes.get(threadId) ?? [];
}

/** Waits, in a body, until the case lets it go on; where the case has not closed the latch, it passes. */
export function latch(name: string): Promise<void> {
  return latches.pass(`${nodeContext().threadId} ${name}`);
}

/** The latches of a thread, for its case. */
export function latchesOf(threadId: string): Pick<Latches, 'close' | 'open' | 'reached'> {
  const full = (name: string): string => `${threadId} ${name}`;
  return {
    close: (name) => latches.close(full(name)),
    open: (name) => latches.open(full(name)),
    reached: (name) => latches.reached(full(name)),
  };
}
