import { z } from 'zod';
import { END, implement, interrupt, ReducedValue, Send, START, StateGraph, StateSchema } from 'abeyance';

const OrderState = new StateSchema({ order_total: z.number(), approved: z.boolean().default(false) });

/** One step, one question, one end. */
export const gate = new StateGraph(OrderState)
  .addNode('step_one')
  .addNode('place_order')
  .addEdge(START, 'step_one')
  .addEdge('step_one', 'place_order')
  .addEdge('place_order', END)
  .compile({ name: 'gate' });

const CountState = new StateSchema({ n: z.number().default(0) });

function tenInARow<const Name extends string>(name: Name, options: { readonly run?: 'local' }) {
  return new StateGraph(CountState)
    .addNode('n0', options)
    .addNode('n1', options)
    .addNode('n2', options)
    .addNode('n3', options)
    .addNode('n4', options)
    .addNode('n5', options)
    .addNode('n6', options)
    .addNode('n7', options)
    .addNode('n8', options)
    .addNode('n9', options)
    .addEdge(START, 'n0')
    .addEdge('n0', 'n1')
    .addEdge('n1', 'n2')
    .addEdge('n2', 'n3')
    .addEdge('n3', 'n4')
    .addEdge('n4', 'n5')
    .addEdge('n5', 'n6')
    .addEdge('n6', 'n7')
    .addEdge('n7', 'n8')
    .addEdge('n8', 'n9')
    .addEdge('n9', END)
    .compile({ name });
}

/** Ten steps, one after the other. */
export const chain = tenInARow('chain', {});

/** The same ten steps, as local activities. */
export const local_chain = tenInARow('local_chain', { run: 'local' });

const SumState = new StateSchema({ sum: new ReducedValue(z.number().default(0), { reducer: (a, b) => a + b }) });

/** Fifty steps at once. */
export const fan = new StateGraph(SumState)
  .addNode('work')
  .addConditionalEdges(START, () => Array.from({ length: 50 }, (_, n) => new Send('work', { n })), ['work'])
  .addEdge('work', END)
  .compile({ name: 'fan' });

const increment = async ({ n }: { readonly n: number }): Promise<{ n: number }> => ({ n: n + 1 });

const tenSteps = {
  n0: increment,
  n1: increment,
  n2: increment,
  n3: increment,
  n4: increment,
  n5: increment,
  n6: increment,
  n7: increment,
  n8: increment,
  n9: increment,
};

export const benchNodes = [
  implement(gate, {
    step_one: async () => ({}),
    place_order: async () => ({ approved: interrupt({ question: 'approve?' }) }),
  }),
  implement(chain, tenSteps),
  implement(local_chain, tenSteps),
  implement(fan, { work: async (state) => ({ sum: (state as unknown as { n: number }).n + 1 }) }),
];
