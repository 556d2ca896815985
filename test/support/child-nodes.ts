import { implement, interrupt, nodeContext } from 'abeyance';
import type { GraphDependencies } from 'abeyance/activity';
import * as graphs from './child-graphs';
import { climb, doomed, guarded, inquiry, shaky, walk } from './child-graphs';
import type { Latches } from './latches';

/** What serves the graphs with child workflows; `ran` counts bodies by thread and node, and `broken` threads fail. */
export function childDependencies(latches: Latches, ran: string[], broken: Set<string>): GraphDependencies {
  const pass = async (): Promise<void> => {
    const { threadId, node } = nodeContext();
    ran.push(`${threadId} ${node}`);
    await latches.pass(threadId);
  };
  const fail = async (): Promise<{ log: string }> => {
    await pass();
    if (broken.has(nodeContext().threadId.split('/')[0] ?? '')) throw new Error('out of order');
    return { log: 'acted' };
  };
  return {
    graphs: Object.values(graphs),
    nodes: [
      implement(inquiry, {
        step: async () => {
          await pass();
          return { log: 'step', secret: 'inside' };
        },
        ask: async () => {
          const answer: unknown = interrupt('fine?');
          ran.push(`${nodeContext().threadId} answered ${String(answer)}`);
          return { log: 'ask', verdict: String(answer) };
        },
      }),
      implement(shaky, { act: fail }),
      implement(doomed, { act: fail }),
      implement(guarded, {
        file: async () => {
          await pass();
          return { log: 'filed' };
        },
      }),
      implement(walk, { step: async ({ log }) => ({ log: `${log.length + 1}` }) }),
      implement(climb, { up: async ({ log }) => ({ log: `${log.length + 1}` }) }),
    ],
  };
}
