import { implement, interrupt, nodeContext, once, type NodeSet } from 'abeyance';
import type { Latches } from './latches';
import { rolling_stages, stages } from './stream-graphs';

/** The bodies of the streamed graphs; they write what they do, and wait in the middle at the latch of their thread. */
export function streamNodes(latches: Latches): NodeSet[] {
  const bodies = {
    prepare: async ({ fail }: { readonly fail: number }) => {
      const { threadId, attempt, write } = nodeContext();
      const began = await once('began', () => attempt);
      write({ percent: 50, attempt });
      await latches.pass(threadId);
      if (attempt <= fail) throw new Error(`attempt ${attempt} failed`);
      write({ percent: 100, attempt, began });
      return { lines: 'prepared' };
    },
    ask: async () => ({ answer: interrupt<string>('go on?') }),
    finish: async () => {
      const { threadId, write } = nodeContext();
      write('finishing');
      await latches.pass(`${threadId} finish`);
      return { lines: 'finished' };
    },
  };
  return [implement(stages, bodies), implement(rolling_stages, bodies)];
}
