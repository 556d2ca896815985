import { NodeContextError } from '../graph/errors';
import { isGraphInterrupt } from '../graph/interrupt';

/**
 * Keeps a body's late `interrupt` from ending the worker, until the returned function is called.
 *
 * A branch that a body left behind may still call `interrupt` after the body has settled; what it throws then belongs to
 * nobody, and Node ends a process for that. Every other unhandled rejection ends the process as before.
 */
export function surviveLateCalls(warn: (message: string) => void): () => void {
  const onRejection = (reason: unknown): void => {
    if (isGraphInterrupt(reason) || reason instanceof NodeContextError) {
      warn(
        `A node's body left a branch behind that asked a question after the body had settled; it was ignored. Await every branch. ${String(reason)}`,
      );
    } else if (process.listenerCount('unhandledRejection') === 1) {
      throw reason;
    }
  };
  process.on('unhandledRejection', onRejection);
  return () => process.off('unhandledRejection', onRejection);
}
