import { z } from 'zod';
import { END, inWorkflow, interrupt, ReducedValue, Send, START, StateGraph, StateSchema } from 'abeyance';

const Lines = new ReducedValue(z.array(z.string()).default([]), {
  inputSchema: z.string(),
  reducer: (lines, line) => [...lines, line],
});

/** Works so many times, each an activity. */
export const rolling_loop = new StateGraph(new StateSchema({ times: z.number(), lines: Lines }))
  .addNode('work')
  .addEdge(START, 'work')
  .addConditionalEdges('work', ({ lines, times }) => (lines.length < times ? 'work' : END), ['work', END])
  .compile({ name: 'rolling_loop', recursionLimit: 1_000 });

/** Two nodes that each do a thing once, then ask; and one after both. */
export const rolling_gates = new StateGraph(
  new StateSchema({ left: z.json().default(null), right: z.json().default(null), lines: Lines }),
)
  .addNode('left')
  .addNode('right')
  .addNode('after')
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .addEdge(['left', 'right'], 'after')
  .addEdge('after', END)
  .compile({ name: 'rolling_gates' });

/** So many questions at once, all asked in workflow code. */
export const rolling_crowd = new StateGraph(new StateSchema({ people: z.number(), lines: Lines }))
  .addNode(
    'ask',
    inWorkflow((state) => ({ lines: `${(state as unknown as { n: number }).n}: ${interrupt('who?')}` })),
  )
  .addConditionalEdges(START, ({ people }) => Array.from({ length: people }, (_, n) => new Send('ask', { n })), ['ask'])
  .addEdge('ask', END)
  .compile({ name: 'rolling_crowd' });

/** One node that asks again and again, beside one that takes its time. */
export const rolling_overlap = new StateGraph(
  new StateSchema({ slow: z.string().default(''), answers: z.array(z.json()).default([]) }),
)
  .addNode('slow')
  .addNode('ask')
  .addEdge(START, 'slow')
  .addEdge(START, 'ask')
  .compile({ name: 'rolling_overlap' });

const afterStep = ({ at, steps }: { readonly at: number; readonly steps: number }) => {
  if (at >= steps) return END;
  if (at % 100 === 99) return 'gate';
  return at % 10 === 9 ? 'work' : 'step';
};

/** So many steps, most in workflow code: every tenth is an activity, every hundredth a gate. */
export const marathon = new StateGraph(
  new StateSchema({ steps: z.number(), at: z.number().default(0), worked: z.number().default(0), gates: Lines }),
)
  .addNode(
    'step',
    inWorkflow(({ at }) => ({ at: at + 1 })),
  )
  .addNode('work')
  .addNode(
    'gate',
    inWorkflow(({ at }) => {
      const { by } = interrupt({ at }, { approval: true });
      return { at: at + 1, gates: `${at} ${by}` };
    }),
  )
  .addEdge(START, 'step')
  .addConditionalEdges('step', afterStep, ['step', 'work', 'gate', END])
  .addConditionalEdges('work', afterStep, ['step', 'work', 'gate', END])
  .addConditionalEdges('gate', afterStep, ['step', 'work', 'gate', END])
  .compile({ name: 'marathon', recursionLimit: 4_000 });

const HOARD = 60 * 1024;

const hoarding = (name: string, reads?: readonly ['at']) =>
  new StateGraph(new StateSchema({ steps: z.number(), at: z.number().default(0), hoard: Lines }))
    .addNode('add', reads ? { reads } : {})
    .addEdge(START, 'add')
    .addConditionalEdges('add', ({ at, steps }) => (at < steps ? 'add' : END), ['add', END])
    .compile({ name, recursionLimit: 1_000 });

/** Adds 60 KiB to its state with each step; its node reads only a counter. */
export const hoard = hoarding('hoard', ['at']);

/** The same with a node that reads everything. */
export const hoard_read = hoarding('hoard_read');

/** As the first, where large payloads are stored elsewhere. */
export const hoard_stored = hoarding('hoard_stored', ['at']);

/** Writes two large keys in turn, so that the history grows and what would be carried stays too large. */
export const overgrown = new StateGraph(
  new StateSchema({ at: z.number().default(0), one: z.string().default(''), two: z.string().default('') }),
)
  .addNode('write', { reads: ['at'] })
  .addNode('write_again', { reads: ['at'] })
  .addEdge(START, 'write')
  .addEdge('write', 'write_again')
  .addEdge('write_again', 'write')
  .compile({ name: 'overgrown', recursionLimit: 1_000 });

/** Gives back so many characters, asks, and gives back the answer too. */
export const stored_large = new StateGraph(
  new StateSchema({ characters: z.number(), text: z.string().default(''), answer: z.json().default(null) }),
)
  .addNode('write', { reads: ['characters'] })
  .addNode('ask')
  .addEdge(START, 'write')
  .addEdge('write', 'ask')
  .addEdge('ask', END)
  .compile({ name: 'stored_large' });

export const HOARDED = 'x'.repeat(HOARD);
