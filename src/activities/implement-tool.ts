import type { z } from 'zod';
import type { Tool } from '../graph/tool';

/** What a tool's body may know of the call it serves. */
export interface ToolContext {
  readonly threadId: string;
  readonly callId: string;
  readonly attempt: number;
  /** The same for every attempt at this call, and no other's. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** The body of a tool: its result goes to the model, a string as it is and anything else as JSON. */
export type ToolBody<A = any> = (args: A, context: ToolContext) => unknown;

/** A tool with its body, for the worker's plugin or for a run in memory. */
export interface ToolImplementation {
  readonly tool: Tool;
  readonly body: ToolBody;
}

/**
 * Gives a declared tool its body.
 *
 * The arguments have been checked by the tool's schema. What the body throws goes to the model as an error message,
 * as arguments that do not fit do, unless the tool node says `onToolError: 'fail'`.
 *
 * @example
 * export const placeOrderTool = implementTool(placeOrder, async ({ item, quantity }, { idempotencyKey }) =>
 *   shop.order({ item, quantity, idempotencyKey }),
 * );
 */
export function implementTool<N extends string, S extends z.ZodObject>(
  tool: Tool<N, S>,
  body: ToolBody<z.output<S>>,
): ToolImplementation {
  return { tool, body };
}
