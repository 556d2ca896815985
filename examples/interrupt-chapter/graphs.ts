import { z } from 'zod';
import { approvalGate, END, MessagesValue, modelNode, START, StateGraph, StateSchema, tool, toolNode } from 'abeyance';

const OrderState = new StateSchema({ order_total: z.number(), approved: z.boolean().default(false) });

/** One node, and it asks: the run pauses and the call returns. */
export const pausing_order = new StateGraph(OrderState)
  .addNode('place_order')
  .addEdge(START, 'place_order')
  .addEdge('place_order', END)
  .compile({ name: 'pausing_order' });

/** A node before the one that asks: a resume must not run it again. */
export const two_step_order = new StateGraph(OrderState)
  .addNode('step_one')
  .addNode('place_order')
  .addEdge(START, 'step_one')
  .addEdge('step_one', 'place_order')
  .addEdge('place_order', END)
  .compile({ name: 'two_step_order' });

/** A node with a line before its question: that line runs again on resume. */
export const rerunning_order = new StateGraph(OrderState)
  .addNode('place_order')
  .addEdge(START, 'place_order')
  .addEdge('place_order', END)
  .compile({ name: 'rerunning_order' });

export const placeOrder = tool({
  name: 'place_order',
  description: 'Place an order for a quantity of an item.',
  schema: z.object({ item: z.string(), quantity: z.int() }),
});

const AgentState = new StateSchema({ messages: MessagesValue });

/** A model that asks for a tool, and a person between the two. */
export const gated_agent = new StateGraph(AgentState)
  .addNode('agent', modelNode({ model: 'planner', tools: [placeOrder] }))
  .addNode('approval_gate', approvalGate({ approved: 'place_order', denied: END }))
  .addNode('place_order', toolNode({ tools: [placeOrder] }))
  .addEdge(START, 'agent')
  .addEdge('agent', 'approval_gate')
  .addEdge('place_order', END)
  .compile({ name: 'gated_agent' });
