import { StateError, messageOf } from './errors';
import { toJson, type Json } from './json';
import type { NodeRun } from './node-run';
import { refuseAfterPause, runningNode } from './running-node';
import { bytesOf, inMegabytes } from './size-limit';

// All results of a node travel together, in its heartbeats and with every pause.
const MAX_RESULTS = 1_000_000;

/**
 * Runs a side effect before a question just once, however often the body runs again.
 *
 * The result is recorded as soon as it is there and carried with the pause. Calls under one key share one effect. Between
 * the effect and the record lies a moment in which a crash repeats it: hand `nodeContext().idempotencyKey` to the service
 * to cover that too. The results of a node may take 1 MB together.
 *
 * @throws {NodeContextError} `OUTSIDE_NODE`, `ALREADY_PAUSED`.
 * @throws {StateError} `STATE_NOT_JSON`, `STATE_TOO_LARGE` when the result cannot be recorded.
 * @example const ticket = await once('ticket', () => createTicket(state.item));
 */
export async function once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
  const run = runningNode('once');
  refuseAfterPause(run, 'once', run.phase !== 'running');
  if (!run.once.has(key)) {
    const flight = run.onceInFlight.get(key) ?? recordEffect(run, key, effect);
    run.onceInFlight.set(key, flight);
    await flight.finally(() => run.onceInFlight.delete(key));
  }
  return toJson(run.once.get(key)) as T;
}

async function recordEffect(run: NodeRun, key: string, effect: () => unknown): Promise<void> {
  const result = recordable(run, key, await effect());
  const results = { ...Object.fromEntries(run.once), [key]: result };
  const bytes = bytesOf(results);
  if (bytes > MAX_RESULTS) {
    const message = `once("${key}") in "${run.info.node}" brings the node's results to ${inMegabytes(bytes)}; 1 MB can be recorded. Return an id instead of the thing.`;
    throw new StateError('STATE_TOO_LARGE', message, run.info.node, key);
  }
  run.once.set(key, result);
  run.ports.saveOnce(results);
}

function recordable(run: NodeRun, key: string, result: unknown): Json {
  try {
    return result === undefined ? null : toJson(result);
  } catch (error) {
    const message = `once("${key}") in "${run.info.node}" gave a result that cannot be recorded: ${messageOf(error)}. Return plain JSON.`;
    throw new StateError('STATE_NOT_JSON', message, run.info.node, key, { cause: error });
  }
}
