import { approvalGate } from './approval-gate';
import { checkKeys, checkPolicy, checkPolicyNames, type ApprovalPolicy } from './approval-policy';
import { END, START } from './commands';
import type { CompiledGraph } from './compiled-graph';
import { MessagesValue, type Message } from './messages';
import { modelNode } from './model-node';
import type { NodeActivityOptions } from './node-definition';
import { StateGraph } from './state-graph';
import { StateSchema, type Fields, type StateOf } from './state-schema';
import type { Tool } from './tool';
import { openToolCalls, toolNode } from './tool-node';

/** What an agent's state has at least: its conversation. */
export type AgentFields = Fields & { readonly messages: typeof MessagesValue };

/** The nodes of an agent: the gate where `interruptOn` names a tool, the tools where there are any. */
export type AgentNodes = {
  readonly agent: { readonly kind: 'model'; readonly reads: string };
  readonly approval_gate: { readonly kind: 'workflow'; readonly reads: string };
  readonly tools: { readonly kind: 'tools'; readonly reads: string };
};

const OPTIONS = ['name', 'model', 'tools', 'interruptOn', 'systemPrompt', 'state', 'recursionLimit', 'activity'];

/** How an agent is made. */
export interface AgentOptions<Name extends string, F extends AgentFields, T extends Tool> {
  /** The graph's name: its workflow is exported under it. */
  readonly name: Name;
  /** The name a model is registered under in the worker's plugin. */
  readonly model: string;
  readonly tools: readonly T[];
  /** Which tools' calls need a person, by tool name: `true`, or how they are asked about. Calls of others run unasked. */
  readonly interruptOn?: ApprovalPolicy<StateOf<F>, T['name']>;
  /** Sent before the conversation, and not kept in it. */
  readonly systemPrompt?: string;
  /** The state, with `messages: MessagesValue` in it; default that alone. */
  readonly state?: StateSchema<F>;
  /** The most supersteps one run may take; default 25. A model call, a gate and a round of tools are one each. */
  readonly recursionLimit?: number;
  /** Activity options of its model and tool calls. */
  readonly activity?: NodeActivityOptions;
}

/**
 * Makes an agent: a model that calls tools until it has nothing more to call, and a person before the tools that need one.
 *
 * The graph is `agent → approval_gate → tools → agent`, of `modelNode`, `approvalGate` and `toolNode`, compiled like any
 * other. What a person denies goes back to the model with the reason, and so does what nobody decided in time.
 *
 * @throws {GraphDefinitionError} `INVALID_OPTION` for an option there is not, and when `interruptOn` names a tool that is
 *   not there or asks for what cannot be; else as `StateGraph.compile`.
 * @example
 * export const clerk = createAgent({
 *   name: 'clerk',
 *   model: 'planner',
 *   tools: [readFile, sendMail],
 *   interruptOn: { send_mail: { allow: ['approve', 'edit', 'deny'], deadline: '1 hour' } },
 * });
 */
export function createAgent<
  const Name extends string,
  const T extends Tool,
  F extends AgentFields = { readonly messages: typeof MessagesValue },
>(options: AgentOptions<Name, F, T>): CompiledGraph<Name, F, AgentNodes> {
  checkKeys('createAgent', options, OPTIONS);
  const { name, model, tools, interruptOn = {}, systemPrompt, recursionLimit, activity } = options;
  const policy: ApprovalPolicy = interruptOn;
  checkPolicy(policy);
  checkPolicyNames(`Agent "${name}"`, policy, toolNames(tools));
  const gated = tools.filter((tool) => Object.hasOwn(policy, tool.name) && policy[tool.name] !== false);
  const schema = (options.state ?? new StateSchema({ messages: MessagesValue })) as StateSchema<any>;
  const graph = new StateGraph<any, any>(schema);
  graph.addNode('agent', modelNode({ model, tools, ...(systemPrompt !== undefined && { system: systemPrompt }) }));
  graph.addEdge(START, 'agent');
  if (tools.length === 0) graph.addEdge('agent', END);
  else addTools(graph, tools, gated, policy);
  const compiled: unknown = graph.compile({
    name,
    ...(recursionLimit !== undefined && { recursionLimit }),
    ...(activity && { activity }),
  });
  return compiled as CompiledGraph<Name, F, AgentNodes>;
}

function addTools(
  graph: StateGraph<any, any>,
  tools: readonly Tool[],
  gated: readonly Tool[],
  policy: ApprovalPolicy,
): void {
  const first = gated.length > 0 ? 'approval_gate' : 'tools';
  if (gated.length > 0) {
    graph.addNode('approval_gate', approvalGate({ approved: 'tools', denied: 'agent', tools: gated, policy }));
  }
  graph.addNode('tools', toolNode({ tools }));
  const asksForTools = ({ messages }: { readonly messages: readonly Message[] }): boolean =>
    openToolCalls(messages).length > 0;
  graph.addConditionalEdges('agent', (state: any) => (asksForTools(state) ? first : END), [first, END]);
  graph.addEdge('tools', 'agent');
}

function toolNames(tools: readonly Tool[]): readonly string[] {
  return tools.map(({ name }) => name);
}
