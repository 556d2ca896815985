import { Command, END, Send } from './commands';
import { interrupt, isGraphInterrupt, type GraphInterrupt } from './interrupt';
import type { Message, NewMessage, ToolCall } from './messages';
import type { NodeOptions, WorkflowNode } from './node-definition';
import type { ApprovalDecision } from './question';
import type { Tool } from './tool';
import { openToolCalls } from './tool-node';

/** How an approval gate is set up. */
export interface ApprovalGateOptions extends Omit<NodeOptions, 'activity' | 'ends'> {
  /** Where the run goes when a call may run: the tool node. */
  readonly approved: string;
  /** Where it goes when none may; default END. */
  readonly denied?: string;
  /** The tools that need an approval; calls of others pass. Default: every tool. */
  readonly tools?: readonly Tool[];
  /** What the approver is shown; default `{ tool, args }`. */
  readonly ask?: (call: ToolCall) => unknown;
  /** The state key of the conversation; default `messages`. */
  readonly messages?: string;
}

/**
 * Makes a node that lets no tool call pass before a person has approved that very call.
 *
 * One question for each open call of the last `ai` message, bound to its name and arguments. The gate lives in workflow
 * code: it costs no activity and reruns nothing. A denied call is answered with a tool message, `denied by approver` and
 * the reason if there is one, so that the model learns of it. The run moves on once every call is decided, and the tool
 * node is handed the very calls that were approved: what else happens to the conversation meanwhile changes nothing.
 *
 * @example .addNode('approval_gate', approvalGate({ approved: 'tools', denied: END }))
 */
export function approvalGate(options: ApprovalGateOptions): { kind: 'workflow'; fn: (state: any) => Command<any> } {
  const { approved, denied = END, messages = 'messages', ask = showCall, tools, ...rest } = options;
  const gated = tools && new Set(tools.map(({ name }) => name));
  const fn = (state: Readonly<Record<string, unknown>>): Command => {
    const calls = openToolCalls((state[messages] ?? []) as readonly Message[]);
    const decisions = decideEach(gated ? calls.filter(({ name }) => gated.has(name)) : calls, ask);
    const refusals = [...decisions]
      .filter(([, { type }]) => type === 'deny')
      .map(([call, { note }]) => refusal(call, note));
    const passed = calls.filter((call) => decisions.get(call)?.type !== 'deny');
    // The very calls that were shown, not whatever the conversation says by then.
    const goto = passed.length > 0 ? new Send(approved, { [messages]: [asMessage(passed)] }) : denied;
    return new Command({ goto, ...(refusals.length > 0 && { update: { [messages]: refusals } }) });
  };
  const node: WorkflowNode = {
    ...rest,
    kind: 'workflow',
    fn,
    ends: [...new Set([approved, denied])],
    gate: { approved, messages },
  };
  return node as { kind: 'workflow'; fn: typeof fn };
}

function asMessage(calls: readonly ToolCall[]): Message {
  return { id: 'approved', role: 'ai', content: '', tool_calls: [...calls] };
}

function showCall({ name, args }: ToolCall): unknown {
  return { tool: name, args };
}

// All questions are asked in one tick, so they belong to one pause.
function decideEach(
  calls: readonly ToolCall[],
  ask: (call: ToolCall) => unknown,
): ReadonlyMap<ToolCall, ApprovalDecision> {
  const decisions = new Map<ToolCall, ApprovalDecision>();
  let pause: GraphInterrupt | undefined;
  for (const [index, call] of calls.entries()) {
    try {
      decisions.set(call, interrupt(ask(call), { key: keyOf(call, index, calls), approval: true }));
    } catch (thrown) {
      if (!isGraphInterrupt(thrown)) throw thrown;
      pause = thrown;
    }
  }
  if (pause) throw pause;
  return decisions;
}

// Providers choose call ids, and not always distinct ones; a question's key has a narrower alphabet.
function keyOf({ id }: ToolCall, index: number, calls: readonly ToolCall[]): string {
  const again = calls.slice(0, index).some((other) => other.id === id);
  return `call:${id.replace(/[\s~]/gu, '_').slice(0, 150)}${again ? `:${index}` : ''}`;
}

function refusal({ id, name }: ToolCall, note: string | undefined): NewMessage {
  const content = note ? `denied by approver: ${note}` : 'denied by approver';
  return { role: 'tool', name, tool_call_id: id, content, status: 'error' };
}
