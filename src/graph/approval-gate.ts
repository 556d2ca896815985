import { checkKeys, checkPolicy, policyOf, type ApprovalPolicy } from './approval-policy';
import { Command, END, Send } from './commands';
import { argsMismatch } from './edit-mismatch';
import { interruptForCall, isAnswered, isGraphInterrupt, rejectAnswer, type GraphInterrupt } from './interrupt';
import type { Message, NewMessage, ToolCall } from './messages';
import type { NodeOptions, WorkflowNode } from './node-definition';
import type { ApprovalDecision } from './question';
import { briefDenial, ruledCalls, rulingOf } from './ruled-call';
import type { Tool } from './tool';
import { openToolCalls } from './tool-node';

/** How an approval gate is set up. */
export interface ApprovalGateOptions<A extends string = string, D extends string = string> extends Omit<
  NodeOptions,
  'activity' | 'ends'
> {
  /** Where the run goes when a call may run: the tool node. */
  readonly approved: A;
  /** Where it goes when every call was denied, or there is none; default END. */
  readonly denied?: D;
  /** The tools that need an approval; calls of others pass. Default: every tool. */
  readonly tools?: readonly Tool[];
  /** By tool name, before `tools`: whether its calls need an approval, what may be decided, until when, what is shown. */
  readonly policy?: ApprovalPolicy;
  /** What the approver is shown; default `{ tool, args }`. */
  readonly ask?: (call: ToolCall) => unknown;
  /** The state key of the conversation; default `messages`. */
  readonly messages?: string;
}

const OPTIONS = ['approved', 'denied', 'tools', 'policy', 'ask', 'messages', 'reads', 'defer'];

/**
 * Makes a node that lets no tool call pass before a person has approved that very call.
 *
 * One question for each open call of the last `ai` message, bound to its name and arguments. The gate lives in workflow
 * code: it costs no activity and reruns nothing. What is not run is answered with a tool message, in the place of the
 * call: a denial says so (`denied by approver`) with the reason, a response is the result. An edited call runs with the
 * new arguments, which must fit the tool, and the model is told what ran. The run moves on once every call is decided,
 * and the tool node is handed the very calls that were shown: what else happens to the conversation changes nothing.
 *
 * @throws {GraphDefinitionError} `INVALID_OPTION` for an option there is not, and for a policy that cannot be; when the
 *   graph is compiled also for a tool name that the tool node does not have.
 * @example
 * .addNode('approval_gate', approvalGate({
 *   approved: 'tools',
 *   policy: { send_mail: { allow: ['approve', 'edit', 'deny'], deadline: '1 hour' }, read_file: false },
 * }))
 */
export function approvalGate<const A extends string, const D extends string = typeof END>(
  options: ApprovalGateOptions<A, D>,
): { kind: 'workflow'; fn: (state: any) => Command<any>; Returns?: Command<any, A | D> } {
  checkKeys('An approval gate', options, OPTIONS);
  const { approved, denied = END, messages = 'messages', policy = {}, tools: _, ask: __, ...rest } = options;
  checkPolicy(policy);
  const before = (tools: readonly Tool[]) => bodyOf({ ...options, denied, messages, policy }, tools);
  const fn = before([]);
  const node: WorkflowNode = {
    ...rest,
    kind: 'workflow',
    fn,
    ends: [...new Set([approved, denied])],
    gate: { approved, messages, policy, before },
  };
  return node as { kind: 'workflow'; fn: typeof fn };
}

type Settings = ApprovalGateOptions & Required<Pick<ApprovalGateOptions, 'denied' | 'messages' | 'policy'>>;
type State = Readonly<Record<string, unknown>>;

function bodyOf(settings: Settings, tools: readonly Tool[]): (state: State) => Command {
  const { approved, denied, messages } = settings;
  return (state) => {
    const calls = openToolCalls((state[messages] ?? []) as readonly Message[]);
    const decisions = decideEach(calls, settings, state);
    checkEdits(calls, decisions, tools);
    const rulings = decisions.map(rulingOf);
    const isOver = rulings.every((ruling) => ruling?.kind === 'settled' && ruling.status === 'error');
    // The very calls that were shown, not whatever the conversation says by then.
    if (!isOver) return new Command({ goto: new Send(approved, ruledCalls(messages, calls, rulings)) });
    const refusals = calls.map((call, index) => refusal(call, decisions[index], denied === END));
    return new Command({ goto: denied, ...(refusals.length > 0 && { update: { [messages]: refusals } }) });
  };
}

// All questions are asked in one tick, so they belong to one pause.
function decideEach(
  calls: readonly ToolCall[],
  settings: Settings,
  state: State,
): readonly (ApprovalDecision | undefined)[] {
  let pause: GraphInterrupt | undefined;
  const decisions = calls.map((call, index) => {
    try {
      return decide(call, keyOf(call, index, calls), settings, state);
    } catch (thrown) {
      if (!isGraphInterrupt(thrown)) throw thrown;
      pause = thrown;
      return undefined;
    }
  });
  if (pause) throw pause;
  return decisions;
}

function decide(call: ToolCall, key: string, settings: Settings, state: State): ApprovalDecision | undefined {
  const rule = policyOf(settings.policy, call.name) ?? isGated(call, settings);
  if (rule === false) return undefined;
  const { ask = showCall } = settings;
  if (rule === true) return interruptForCall(ask(call), { key });
  const { allow, deadline, when, describe = ask } = rule;
  // One that was asked about stays decided, whatever "when" says now.
  if (when && !isAnswered(key) && !when(call, state)) return undefined;
  const { name: tool, args } = call;
  return interruptForCall(describe(call), {
    key,
    ...(allow && { allow }),
    ...(deadline !== undefined && { deadline }),
    ...(describe !== showCall && { call: { tool, args } }),
  });
}

function isGated({ name }: ToolCall, { tools }: Settings): boolean {
  return !tools || tools.some((tool) => tool.name === name);
}

function showCall({ name, args }: ToolCall): unknown {
  return { tool: name, args };
}

// Whoever decided was told already where the graph was at hand.
function checkEdits(
  calls: readonly ToolCall[],
  decisions: readonly (ApprovalDecision | undefined)[],
  tools: readonly Tool[],
): void {
  for (const [index, call] of calls.entries()) {
    const decision = decisions[index];
    const misfit = decision?.type === 'edit' ? argsMismatch(tools, call.name, decision.args) : undefined;
    if (misfit === undefined) continue;
    rejectAnswer(`the edited arguments do not fit ${call.name}: ${misfit}`, { key: keyOf(call, index, calls) });
  }
}

// Providers choose call ids, and not always distinct ones; a question's key has a narrower alphabet.
function keyOf({ id }: ToolCall, index: number, calls: readonly ToolCall[]): string {
  const again = calls.slice(0, index).some((other) => other.id === id);
  return `call:${id.replace(/[\s~]/gu, '_').slice(0, 150)}${again ? `:${index}` : ''}`;
}

function refusal({ id, name }: ToolCall, decision: ApprovalDecision | undefined, isEnd: boolean): NewMessage {
  const ruling = rulingOf(decision);
  const said = ruling?.kind === 'settled' ? ruling.content : '';
  const content = isEnd && decision?.type === 'deny' ? briefDenial(decision.note) : said;
  return { role: 'tool', name, tool_call_id: id, content, status: 'error' };
}
