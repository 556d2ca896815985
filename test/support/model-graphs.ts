import { z } from 'zod';
import { END, MessagesValue, modelNode, START, StateGraph, StateSchema, tool, toolNode } from 'abeyance';

const Chat = new StateSchema({ messages: MessagesValue });
const QUICKLY = {
  heartbeatTimeout: '1s',
  retry: { initialInterval: 1, backoffCoefficient: 1, maximumAttempts: 3 },
} as const;

export const placeOrder = tool({
  name: 'place_order',
  description: 'Place an order for a quantity of an item.',
  schema: z.object({ item: z.string(), quantity: z.int() }),
});

/** One model call. */
export const chat = new StateGraph(Chat)
  .addNode('agent', modelNode({ model: 'planner', tools: [placeOrder], activity: QUICKLY }))
  .addEdge(START, 'agent')
  .addEdge('agent', END)
  .compile({ name: 'chat' });

/** One model call with a system prompt of the node's. */
export const advised = new StateGraph(Chat)
  .addNode('agent', modelNode({ model: 'planner', system: 'Be brief.', tools: [placeOrder], activity: QUICKLY }))
  .addEdge(START, 'agent')
  .addEdge('agent', END)
  .compile({ name: 'advised' });

/** A model call, and the tools it asks for; what they throw goes back to the model. */
export const errands = new StateGraph(Chat)
  .addNode('agent', modelNode({ model: 'planner', tools: [placeOrder], activity: QUICKLY }))
  .addNode('tools', toolNode({ tools: [placeOrder], activity: QUICKLY }))
  .addEdge(START, 'agent')
  .addEdge('agent', 'tools')
  .addEdge('tools', END)
  .compile({ name: 'errands' });

/** The same, but what goes wrong with a tool fails the run. */
export const strict_errands = new StateGraph(Chat)
  .addNode('agent', modelNode({ model: 'planner', tools: [placeOrder], activity: QUICKLY }))
  .addNode('tools', toolNode({ tools: [placeOrder], onToolError: 'fail', activity: QUICKLY }))
  .addEdge(START, 'agent')
  .addEdge('agent', 'tools')
  .addEdge('tools', END)
  .compile({ name: 'strict_errands' });
