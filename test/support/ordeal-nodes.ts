import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { implement, interrupt, nodeContext, once, type NodeSet } from 'abeyance';
import { ordeal } from './ordeal-graph';

/** What a node did in the world: when, in which process, and in which attempt at which visit of its task. */
export interface Effect {
  readonly threadId: string;
  readonly what: string;
  readonly idempotencyKey: string;
  readonly task: string;
  readonly visit: number;
  readonly attempt: number;
  readonly pid: number;
  readonly at: number;
}

// Long enough for a kill to fall into it.
const WORK = 100;

/** The bodies of the ordeal; what they do is appended to a file, which outlives their process. */
export function ordealNodes(effectsFile: string): NodeSet {
  const effect = (what: string): string => {
    const { threadId, idempotencyKey, task, visit, attempt } = nodeContext();
    const line: Effect = { threadId, what, idempotencyKey, task, visit, attempt, pid: process.pid, at: Date.now() };
    appendFileSync(effectsFile, `${JSON.stringify(line)}\n`);
    return what;
  };
  return implement(ordeal, {
    pack: async () => {
      await setTimeout(WORK);
      return { log: effect('pack') };
    },
    ask: async () => {
      const ticket = await once('ticket', () => effect('ticket'));
      await setTimeout(WORK);
      const answer: string = interrupt({ question: 'go on?', ticket });
      effect(`told ${answer}`);
      await setTimeout(WORK);
      return { log: `${ticket} ${answer}` };
    },
    ship: async () => {
      const label = await once('label', () => effect('label'));
      await setTimeout(WORK);
      const post = await once('post', () => effect('post'));
      await setTimeout(WORK);
      return { log: `${label} ${post}` };
    },
  });
}

/** All that was done, in order. */
export function effectsIn(file: string): readonly Effect[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Effect);
}
