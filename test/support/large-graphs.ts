import { z } from 'zod';
import {
  END,
  implement,
  interrupt,
  once,
  ReducedValue,
  Send,
  START,
  StateGraph,
  StateSchema,
  type NodeSet,
} from 'abeyance';

const MEGABYTE = 1_000_000;

/** Asks a question of so many characters, after writing state of so many, and takes an answer of any kind. */
export const large = new StateGraph(
  new StateSchema({
    question: z.number().default(0),
    state: z.number().default(0),
    written: z.string().default(''),
    other: z.string().default(''),
    answer: z.json().default(null),
  }),
)
  .addNode('write', { reads: ['state'] })
  .addNode('write_more', { reads: ['state'] })
  .addNode('ask', { reads: ['question'] })
  .addEdge(START, 'write')
  .addEdge('write', 'write_more')
  .addEdge('write_more', 'ask')
  .addEdge('ask', END)
  .compile({ name: 'large' });

/** Sends so many tasks at once, each with an input of so many characters, and counts them. */
export const wide = new StateGraph(
  new StateSchema({
    tasks: z.number(),
    characters: z.number().default(0),
    count: new ReducedValue(z.number().default(0), { reducer: (total, more) => total + more }),
  }),
)
  .addNode('work')
  .addConditionalEdges(
    START,
    ({ tasks, characters }) => Array.from({ length: tasks }, () => new Send('work', { text: 'x'.repeat(characters) })),
    ['work'],
  )
  .addEdge('work', END)
  .compile({ name: 'wide' });

/** Gives back more than can be carried, in the way that is asked for. */
export const overweight = new StateGraph(new StateSchema({ how: z.string(), text: z.string().default('') }))
  .addNode('act')
  .addEdge(START, 'act')
  .addEdge('act', END)
  .compile({ name: 'overweight' });

/** The bodies of the large graphs. */
export const largeNodes: NodeSet[] = [
  implement(large, {
    write: async ({ state }) => ({ written: 'x'.repeat(state) }),
    write_more: async ({ state }) => ({ other: 'x'.repeat(state) }),
    ask: async ({ question }) => ({ answer: interrupt({ question: 'x'.repeat(question) }) }),
  }),
  implement(wide, { work: async () => ({ count: 1 }) }),
  implement(overweight, {
    act: async ({ how }) => {
      const text = 'x'.repeat(3 * MEGABYTE);
      if (how === 'once') await once('text', () => text);
      return { text: how === 'once' ? '' : text };
    },
  }),
];
