import { z } from 'zod';
import { END, START, StateGraph, StateSchema } from 'abeyance';

const OrderState = new StateSchema({ order_total: z.number(), approved: z.boolean().default(false) });

export const order = new StateGraph(OrderState)
  .addNode('step_one')
  .addNode('place_order')
  .addEdge(START, 'step_one')
  .addEdge('step_one', 'place_order')
  .addEdge('place_order', END)
  .compile({ name: 'order' });
