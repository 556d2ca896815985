import { z } from 'zod';
import { END, START, StateGraph, StateSchema } from 'abeyance';
import { graphWorkflow } from 'abeyance/workflow';

const OrderState = new StateSchema({ order_total: z.number(), approved: z.boolean().default(false) });

/** The chapter's two-step order after a careless change: another node comes first. */
export const two_step_order = graphWorkflow(
  new StateGraph(OrderState)
    .addNode('check_stock')
    .addNode('step_one')
    .addNode('place_order')
    .addEdge(START, 'check_stock')
    .addEdge('check_stock', 'step_one')
    .addEdge('step_one', 'place_order')
    .addEdge('place_order', END)
    .compile({ name: 'two_step_order' }),
);
