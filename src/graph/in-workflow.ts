import type { NodeOptions } from './node-definition';

/**
 * Makes a node whose body runs in workflow code: no activity, no latency, but deterministic.
 *
 * Everything the body does runs again on each replay, so it may compute, ask with `interrupt` and return
 * an update or a `Command`; anything that touches the world belongs in an activity node.
 *
 * @example .addNode('total', inWorkflow((state) => ({ total: state.price * state.quantity })))
 */
export function inWorkflow<S, U, const E extends string = never>(
  fn: (state: S) => U,
  options?: Omit<NodeOptions, 'activity' | 'ends'> & { readonly ends?: readonly E[] },
): { kind: 'workflow'; fn: (state: S) => U; Returns?: U; ends?: readonly E[] } {
  return { ...options, kind: 'workflow', fn };
}
