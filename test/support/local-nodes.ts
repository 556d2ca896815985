import { setTimeout as sleep } from 'node:timers/promises';
import { implement, interrupt, nodeContext, once } from 'abeyance';
import type { NodeSet } from 'abeyance';
import * as graphs from './local-graphs';

/** What the nodes tell a test of their attempts, and what one of them waits for. */
export interface LocalLog {
  /** How many there were, by thread and node. */
  readonly attempts: Map<string, number>;
  /** Holds up the node that hangs, where it does. */
  readonly held: (threadId: string) => Promise<void>;
}

/** The nodes of the graphs with local nodes. */
export function localNodes({ attempts, held }: LocalLog): readonly NodeSet[] {
  const attempted = (): number => {
    const { threadId, node } = nodeContext();
    const key = `${threadId} ${node}`;
    const count = (attempts.get(key) ?? 0) + 1;
    attempts.set(key, count);
    return count;
  };
  const act = ({ how }: { readonly how: string }): { lines: string } => {
    const count = attempted();
    if (how === 'throws' || (how === 'throws twice' && count < 3) || (how === 'throws once' && count < 2))
      throw new Error(`out of stock (${count})`);
    if (how === 'wrong') return { lines: 7 as never };
    return { lines: `acted at attempt ${nodeContext().attempt}` };
  };
  const after = () => ({ lines: 'after' });
  const pair = async (delay: number, name: string) => {
    await sleep(delay);
    return { lines: name };
  };
  const hang = async () => {
    await held(nodeContext().threadId);
    return { lines: 'hung no more' };
  };
  return [
    implement(graphs.local_chain, {
      one: async () => ({ lines: 'one', count: 1 }),
      two: ({ count }) => ({ lines: `two after ${count}`, count: count + 1 }),
      three: async ({ lines, count }) => ({ lines: `three after ${lines.length} and ${count}` }),
    }),
    implement(graphs.local_ask, {
      ask: async ({ topic }) => {
        const draft = await once('draft', () => `${topic} ${attempted()}`);
        const go = interrupt<string>({ question: 'send?', draft });
        return { lines: `${draft}: ${go}` };
      },
      send: () => ({ lines: 'sent' }),
      file: () => ({ lines: 'filed' }),
    }),
    implement(graphs.local_flaky, { act, after }),
    implement(graphs.local_mended, { act, after }),
    implement(graphs.local_patient, { act }),
    implement(graphs.local_hang, {
      before: () => ({ lines: 'before' }),
      hang,
    }),
    implement(graphs.local_slow, { hang }),
    implement(graphs.local_crowd, {
      carry: () => ({ lines: 'carried' }),
      count: () => ({ lines: 'done' }),
    }),
    implement(graphs.local_beside, {
      carry: () => ({ lines: 'carried' }),
      wait: async () => {
        await held(nodeContext().threadId);
        return { lines: 'waited' };
      },
    }),
    implement(graphs.local_heavy, { act: ({ text }) => ({ lines: text + text }) }),
    implement(graphs.local_left, {
      first: () => pair(60, 'left first'),
      second: async () => {
        const yes = interrupt('left?');
        return pair(1, `left second ${String(yes)}`);
      },
      third: () => ({ lines: 'left third' }),
    }),
    implement(graphs.local_right, {
      first: () => pair(30, 'right first'),
      second: () => pair(60, 'right second'),
      third: () => ({ lines: 'right third' }),
    }),
  ];
}
