import { END, START, StateGraph, StateSchema } from 'abeyance';
import { z } from 'zod';

const OrderState = new StateSchema({ order_total: z.number(), approved: z.boolean().default(false) });

/** Two nodes; the second asks a person. */
export const order = new StateGraph(OrderState)
  .addNode('check_stock')
  .addNode('place_order')
  .addEdge(START, 'check_stock')
  .addEdge('check_stock', 'place_order')
  .addEdge('place_order', END)
  .compile({ name: 'order' });
