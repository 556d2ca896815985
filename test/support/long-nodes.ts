import { implement, interrupt, nodeContext, once, type NodeSet } from 'abeyance';
import type { Latches } from './latches';
import * as long from './long-graphs';

const MEGABYTE = 1_000_000;

/** What the bodies of the long graphs did, by thread. */
export type Effects = Map<string, string[]>;

/** The bodies of the long graphs; the slow ones wait at the latch of their thread. */
export function longNodes(latches: Latches, effects: Effects): NodeSet[] {
  const note = (what: string): number => {
    const { threadId } = nodeContext();
    return effects.set(threadId, [...(effects.get(threadId) ?? []), what]).size;
  };
  const askOnce = async (side: string): Promise<unknown> => {
    await once(side, () => note(side));
    return interrupt(`${side}?`);
  };
  return [
    implement(long.rolling_loop, {
      work: async ({ lines }) => {
        if (lines.length === 4) await latches.pass(nodeContext().threadId);
        note(nodeContext().idempotencyKey);
        return { lines: `${lines.length + 1}` };
      },
    }),
    implement(long.rolling_gates, {
      left: async () => ({ left: (await askOnce('left')) as string }),
      right: async () => ({ right: (await askOnce('right')) as string }),
      after: async ({ left, right }) => ({ lines: `${JSON.stringify(left)} ${JSON.stringify(right)}` }),
    }),
    implement(long.rolling_overlap, {
      slow: async () => {
        await latches.pass(nodeContext().threadId);
        return { slow: 'done' };
      },
      ask: async () => ({ answers: Array.from({ length: 10 }, (_, n) => interrupt(`${n}?`)) }),
    }),
    implement(long.marathon, { work: async ({ at, worked }) => ({ at: at + 1, worked: worked + 1 }) }),
    implement(long.hoard, { add: async ({ at }) => ({ at: at + 1, hoard: long.HOARDED }) }),
    implement(long.hoard_read, { add: async ({ at }) => ({ at: at + 1, hoard: long.HOARDED }) }),
    implement(long.overgrown, {
      write: async ({ at }) => ({ at: at + 1, one: 'x'.repeat(1.7 * MEGABYTE) }),
      write_again: async ({ at }) => ({ at: at + 1, two: 'y'.repeat(1.7 * MEGABYTE) }),
    }),
  ];
}

/** The bodies of the graphs that need external storage. */
export const storedNodes: NodeSet[] = [
  implement(long.hoard_stored, { add: async ({ at }) => ({ at: at + 1, hoard: long.HOARDED }) }),
  implement(long.stored_large, {
    write: async ({ characters }) => ({ text: 'x'.repeat(characters) }),
    ask: async ({ text }) => ({ answer: { asked: text.length, heard: interrupt('how long?') } }),
  }),
];
