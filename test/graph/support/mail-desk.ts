import { z } from 'zod';
import {
  approvalGate,
  END,
  MessagesValue,
  START,
  tool,
  toolNode,
  type ApprovalGateOptions,
  type ToolCall,
} from 'abeyance';
import { implementTool } from 'abeyance/activity';
import { buildGraph, type TestGraph } from './build-graph';
import { inMemory, type MemoryRun } from './run-in-memory';

const mail = tool({
  name: 'send_mail',
  description: 'Sends a mail.',
  schema: z.object({ to: z.string(), urgent: z.boolean().optional() }),
});
const read = tool({ name: 'read_file', description: 'Reads.', schema: z.object({ path: z.string() }) });
const remove = tool({ name: 'delete_file', description: 'Deletes.', schema: z.object({ path: z.string() }) });

/** A call of one of the desk's tools. */
export function call(id: string, name: string, args: object): ToolCall {
  return { id, name, args: args as never };
}

/** A gate before three tools, and what they were run with. */
export interface MailDesk extends MemoryRun {
  readonly graph: TestGraph;
  readonly ran: string[];
  /** Starts with a message that asks for these calls. */
  readonly ask: (...calls: readonly ToolCall[]) => Promise<Record<string, any>>;
  /** The messages that answer the calls: id, content, status. */
  readonly told: () => Promise<readonly (readonly [string, string, string])[]>;
}

/** START → gate → tools → END, and END too when every call is denied. */
export function mailDesk(options: Partial<ApprovalGateOptions> = {}): MailDesk {
  const ran: string[] = [];
  const graph = buildGraph({
    state: { messages: MessagesValue, trusted: z.array(z.string()).default([]) },
    nodes: {
      gate: approvalGate({ approved: 'tools', ...options }),
      tools: toolNode({ tools: [mail, read, remove] }),
    },
    edges: [
      [START, 'gate'],
      ['tools', END],
    ],
  });
  const note = (what: string): string => (ran.push(what), what);
  const tools = [
    implementTool(mail, ({ to }) => note(`mailed ${to}`)),
    implementTool(read, ({ path }) => note(`read ${path}`)),
    implementTool(remove, ({ path }) => note(`deleted ${path}`)),
  ];
  const run = inMemory(graph, {}, { nodes: [], graphs: [graph], tools });
  return {
    ...run,
    graph,
    ran,
    ask: (...calls) => run.invoke({ messages: [{ id: 'm', role: 'ai', content: '', tool_calls: calls }] }),
    told: async () => {
      const { messages } = (await run.thread().getState()).values as any;
      return messages.slice(1).map((message: any) => [message.tool_call_id, message.content, message.status]);
    },
  };
}
