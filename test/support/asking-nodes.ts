import { implement, interrupt, nodeContext, type NodeSet } from 'abeyance';
import { ask, ask_twice, diary, gate, slow_sibling, two_gates } from './asking-graphs';
import { order } from './graphs';
import type { Latches } from './latches';

/** The bodies of the asking graphs; the slow ones wait at the latch of their thread. */
export function askingNodes(latches: Latches): NodeSet[] {
  const wait = (): Promise<void> => latches.pass(nodeContext().threadId);
  return [
    implement(order, {
      step_one: async () => {
        await wait();
        return {};
      },
      place_order: async (state) => ({ approved: interrupt({ question: 'approve?', total: state.order_total }) }),
    }),
    implement(ask, {
      ask: async () => {
        await wait();
        return { answer: interrupt('what now?') };
      },
    }),
    implement(ask_twice, { ask: async () => ({ first: interrupt('first?'), second: interrupt('second?') }) }),
    implement(gate, {
      prepare: async () => {
        await wait();
        return {};
      },
    }),
    implement(two_gates, {
      left: async () => ({ left: interrupt('left?') }),
      right: async () => ({ right: interrupt('right?') }),
    }),
    implement(slow_sibling, {
      slow: async () => {
        await wait();
        return { slow: 'done' };
      },
    }),
    implement(diary, {
      write: async ({ lines }) => ({
        lines: `line ${lines.length + 1}`,
        messages: [{ role: 'ai' as const, content: 'Dear diary' }],
      }),
    }),
  ];
}
