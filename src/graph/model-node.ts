import type { ModelNode, NodeOptions } from './node-definition';
import type { Tool } from './tool';

/** How a model node is set up. */
export interface ModelNodeOptions extends NodeOptions {
  /** The name a model is registered under in the worker's plugin. */
  readonly model: string;
  /** The tools the model may ask for. */
  readonly tools?: readonly Tool[];
  /** A system prompt, sent before the conversation and not kept in the state. */
  readonly system?: string;
  /** The state key of the conversation; default `messages`. */
  readonly messages?: string;
}

/**
 * Makes a node that is one model call, recorded whole: context sent, tools declared, reply, usage.
 *
 * The reply is appended to the conversation. Which model answers is the worker's choice, so the same graph
 * runs with a scripted and a live one.
 *
 * @example .addNode('agent', modelNode({ model: 'planner', tools: [placeOrder] }))
 */
export function modelNode(options: ModelNodeOptions): { kind: 'model' } {
  const node: ModelNode = { tools: [], messages: 'messages', ...options, kind: 'model' };
  return node;
}
