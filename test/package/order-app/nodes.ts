import { implement, interrupt } from 'abeyance';
import { order } from './graph.js';

export const orderNodes = implement(order, {
  check_stock: async () => ({}),
  place_order: async (state) => ({ approved: interrupt({ question: 'approve?', total: state.order_total }) }),
});
