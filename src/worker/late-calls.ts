import { NodeContextError } from '../graph/errors';
import { isGraphInterrupt } from '../graph/interrupt';

interface Serving {
  readonly warn: (message: string) => void;
}

// One listener for all workers of the process: it must know when nobody else listens.
const serving = new Set<Serving>();

/**
 * Keeps a body's late `interrupt` from ending the worker, until the returned function is called.
 *
 * A branch that a body left behind may still call `interrupt` after the body has settled; what it throws then belongs to
 * nobody, and Node ends a process for that. Every other unhandled rejection ends the process as before.
 */
export function surviveLateCalls(warn: (message: string) => void): () => void {
  const one = { warn };
  if (serving.size === 0) process.on('unhandledRejection', onRejection);
  serving.add(one);
  return () => {
    serving.delete(one);
    if (serving.size === 0) process.off('unhandledRejection', onRejection);
  };
}

function onRejection(reason: unknown): void {
  if (isGraphInterrupt(reason) || (reason instanceof NodeContextError && reason.code === 'ALREADY_PAUSED')) {
    const message = `A node's body left a branch behind that asked a question after the body had settled; it was ignored. Await every branch. ${String(reason)}`;
    const [first] = serving;
    first?.warn(message);
  } else if (process.listenerCount('unhandledRejection') === 1) {
    throw reason;
  }
}
