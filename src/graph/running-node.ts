import { NodeContextError } from './errors';
import { currentNodeRun, type NodeRun } from './node-run';

/** The node that runs here. @throws {NodeContextError} `OUTSIDE_NODE`. */
export function runningNode(word: string): NodeRun {
  const run = currentNodeRun();
  if (run) return run;
  const message = `${word} was called where no node is running. Call it in the body of a node, not in a router, a reducer or a callback that outlives it.`;
  throw new NodeContextError('OUTSIDE_NODE', message);
}

/** Refuses a word that does nothing after a pause. @throws {NodeContextError} `ALREADY_PAUSED`. */
export function refuseAfterPause(run: NodeRun, word: string, refused: boolean): void {
  if (!refused) return;
  const message = `"${run.info.node}" has paused already, or ended; ${word} does nothing more in this run of its body. Do not catch what interrupt throws.`;
  throw new NodeContextError('ALREADY_PAUSED', message);
}
