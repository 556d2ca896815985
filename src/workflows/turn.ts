import { condition } from '@temporalio/workflow';

/**
 * Resolves when everything that arrived together has been delivered.
 *
 * Messages can overtake the activity results that precede them in history. Conditions are looked at again only after
 * all microtasks of an activation have run, so one that is false the first time and true the second passes just then,
 * at no cost and the same on replay.
 */
export function turn(): Promise<void> {
  let delivered = false;
  return condition(() => {
    const pass = delivered;
    delivered = true;
    return pass;
  });
}
