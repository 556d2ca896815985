import { implement, interrupt } from 'abeyance';
import { implementTool, type GraphDependencies } from 'abeyance/activity';
import { scriptedModel } from 'abeyance/testing';
import { clerk, hasty_clerk, impatient, readFile, sendMail, strict_deadline, two_deadlines } from './gated-graphs';

const ASKS = [
  { id: 'c1', name: 'send_mail', args: { to: 'all' } as Record<string, string> },
  { id: 'c2', name: 'read_file', args: { path: '/etc' } },
  { id: 'c3', name: 'send_mail', args: { to: 'me' } },
];

/** What serves the gated graphs; `ran` lists what the tools did. */
export function gatedDependencies(ran: string[]): GraphDependencies {
  const did = (what: string): string => (ran.push(what), what);
  return {
    graphs: [clerk, hasty_clerk],
    nodes: [
      implement(impatient, {
        ask: async () => ({
          first: interrupt('first?', { deadline: 300, otherwise: 'nobody' }),
          second: interrupt('second?'),
        }),
      }),
      implement(two_deadlines, { hour: async () => ({ hour: interrupt('today?', { deadline: '1 hour' }) }) }),
      implement(strict_deadline, { ask: async () => ({ answer: interrupt('now?', { deadline: 200 }) }) }),
    ],
    models: { planner: scriptedModel([{ toolCalls: ASKS }, { content: 'that is all' }]) },
    tools: [
      implementTool(sendMail, ({ to }, { threadId }) => (did(`${threadId} mailed ${to}`), `mailed ${to}`)),
      implementTool(readFile, ({ path }) => `read ${path}`),
    ],
  };
}
