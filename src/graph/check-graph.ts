import { checkPolicyNames } from './approval-policy';
import { END, START } from './commands';
import { checkActivityOptions } from './check-activity-options';
import { millisecondsOf } from './duration';
import { GraphDefinitionError } from './errors';
import type { NodeDefinition, NodeKind } from './node-definition';
import type { CompileOptions, GraphShape } from './state-graph';
import type { Fields, StateSchema } from './state-schema';

const EXPORTABLE = /^[A-Za-z_$][\w$]*$/;
const MAX_NAME = 200;
// These separate the parts of task, activity and question ids.
const SEPARATORS = /[.:/#|~+\s\p{Cc}]/u;

/** Refuses a node name that ids could not be built from. */
export function checkNodeName(name: string): void {
  if (name === START || name === END) {
    throw new GraphDefinitionError('INVALID_NAME', `"${name}" is reserved. Give the node another name.`);
  }
  if (name.length > MAX_NAME) {
    throw new GraphDefinitionError(
      'INVALID_NAME',
      `A node's name has ${name.length} characters; ids are built from it. Use at most ${MAX_NAME}.`,
    );
  }
  if (name === '' || SEPARATORS.test(name)) {
    const message = `"${name}" cannot name a node: ids are built from it. Leave out spaces and . : / # | ~ +`;
    throw new GraphDefinitionError('INVALID_NAME', message);
  }
}

/** Refuses a graph that could only fail when it runs. */
export function checkGraph(options: CompileOptions<string>, schema: StateSchema<Fields>, shape: GraphShape): void {
  checkOptions(options);
  checkActivityOptions(`Graph "${options.name}"`, options.activity);
  for (const [name, { activity }] of shape.nodes) checkActivityOptions(`Node "${name}"`, activity);
  checkPlaces(shape);
  checkNames(shape);
  checkGates(schema, shape);
  checkMessageKeys(schema, shape);
  checkReads(schema, shape);
  checkSubgraphs(schema, shape);
  checkInputs(shape);
  checkCaching(shape);
  checkBreakpoints(shape, breakpointsOf(options.interruptBefore), breakpointsOf(options.interruptAfter));
  checkReachable(shape);
}

const PLACES: Partial<Record<NodeKind, readonly string[]>> = { activity: ['local'], graph: ['inline', 'child'] };

function checkPlaces({ nodes }: GraphShape): void {
  for (const [name, node] of nodes) {
    const { run } = node as { readonly run?: string };
    if (run === undefined) continue;
    if (!PLACES[node.kind]?.includes(run)) {
      const message = `Node "${name}" has run: ${JSON.stringify(run)}. Only a plain activity node can be told 'local', and a subgraph 'inline' or 'child'.`;
      throw new GraphDefinitionError('INVALID_OPTION', message);
    }
    if (run === 'local') checkLocal(name, node);
  }
}

// What runs in the worker that steps the graph has no task queue, and no server that listens for its heartbeats.
function checkLocal(name: string, { activity }: NodeDefinition): void {
  const option = (['taskQueue', 'heartbeatTimeout'] as const).find((one) => activity?.[one] !== undefined);
  if (option === undefined) return;
  const message = `Node "${name}" runs locally and has ${option}, which local activities do not have. Take run: 'local' or ${option} away.`;
  throw new GraphDefinitionError('INVALID_OPTION', message);
}

function checkCaching({ nodes }: GraphShape): void {
  for (const [name, { cache }] of nodes) {
    if (cache?.ttl === undefined || millisecondsOf(cache.ttl) !== undefined) continue;
    const message = `Node "${name}" caches for "${cache.ttl}", which is no duration. Give milliseconds, or a text such as '10 minutes'.`;
    throw new GraphDefinitionError('INVALID_OPTION', message);
  }
}

// Reached by an edge, such a node would see the state, which it does not know.
function checkInputs({ nodes, edges, joins }: GraphShape): void {
  const targets = [...edges, ...joins].map(({ to }) => to);
  for (const [name, node] of nodes) {
    if (node.kind === 'graph' || !node.input || !targets.includes(name)) continue;
    const message = `Node "${name}" takes an input of its own, so only a Send reaches it, and an edge leads there. Take the edge or the input away.`;
    throw new GraphDefinitionError('INVALID_OPTION', message);
  }
}

/** Breakpoints as they are kept: names, or `*` alone for every node. */
export function breakpointsOf(nodes: readonly string[] | '*' | undefined): readonly string[] {
  return nodes === '*' ? ['*'] : (nodes ?? []);
}

/** Refuses a breakpoint at no node. @throws {GraphDefinitionError} `UNKNOWN_NODE`. */
export function checkBreakpoints({ nodes }: GraphShape, ...lists: readonly (readonly string[])[]): void {
  for (const path of lists.flat()) {
    if (path === '*' || isNodeAt(nodes, path)) continue;
    const message = `A breakpoint names "${path}", which is no node. The nodes are: ${[...nodes.keys()].join(', ')}.`;
    throw new GraphDefinitionError('UNKNOWN_NODE', message);
  }
}

function isNodeAt(nodes: GraphShape['nodes'], path: string): boolean {
  const [first = '', ...rest] = path.split('/');
  const node = nodes.get(first);
  if (rest.length === 0) return node !== undefined;
  return node?.kind === 'graph' && isNodeAt(node.graph.shape.nodes, rest.join('/'));
}

// A subgraph that shares nothing would run on nothing and leave nothing.
function checkSubgraphs(schema: StateSchema<Fields>, { nodes }: GraphShape): void {
  for (const [name, node] of nodes) {
    if (node.kind !== 'graph' || (node.input && node.output)) continue;
    if (Object.keys(node.graph.schema.fields).some((key) => Object.hasOwn(schema.fields, key))) continue;
    const message = `The subgraph "${name}" shares no state key with the graph around it. Give it input and output: subgraph(${node.graph.name}, { input, output }).`;
    throw new GraphDefinitionError('INVALID_STATE_SCHEMA', message);
  }
}

function checkOptions({ name, recursionLimit }: CompileOptions<string>): void {
  if (typeof name !== 'string' || !EXPORTABLE.test(name) || name.length > MAX_NAME) {
    const message = `"${String(name)}" cannot name a graph: its workflow is exported under that name. Use letters, digits, "_" and "$".`;
    throw new GraphDefinitionError('INVALID_NAME', message);
  }
  if (recursionLimit !== undefined) checkRecursionLimit(recursionLimit);
}

/** Refuses what a run of the graph cannot be told. @throws {GraphDefinitionError} `INVALID_OPTION`, `UNKNOWN_NODE`. */
export function checkRunOptions(
  shape: GraphShape | undefined,
  {
    recursionLimit,
    interruptBefore,
    interruptAfter,
  }: Pick<CompileOptions<string>, 'recursionLimit' | 'interruptBefore' | 'interruptAfter'>,
): void {
  if (recursionLimit !== undefined) checkRecursionLimit(recursionLimit);
  if (shape) checkBreakpoints(shape, breakpointsOf(interruptBefore), breakpointsOf(interruptAfter));
}

/** Refuses a limit that would be none. @throws {GraphDefinitionError} `INVALID_OPTION`. */
export function checkRecursionLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1) return;
  throw new GraphDefinitionError('INVALID_OPTION', `recursionLimit must be a whole number from 1, not ${limit}.`);
}

function checkNames({ nodes, edges, joins, branches }: GraphShape): void {
  const known = (name: string, where: string, ...also: readonly string[]): void => {
    if (nodes.has(name) || also.includes(name)) return;
    const message = `${where} names "${name}", which is no node. The nodes are: ${[...nodes.keys()].join(', ') || 'none yet'}.`;
    throw new GraphDefinitionError('UNKNOWN_NODE', message);
  };
  for (const { from, to } of edges) {
    known(from, `The edge "${from}" → "${to}"`, START);
    known(to, `The edge "${from}" → "${to}"`, END);
  }
  for (const { from, to } of joins) {
    if (from.length === 0) {
      throw new GraphDefinitionError(
        'UNKNOWN_NODE',
        `The edge [] → "${to}" starts nowhere. Name a node before the arrow.`,
      );
    }
    for (const name of from) known(name, `The edge [${from.join(', ')}] → "${to}"`);
    known(to, `The edge [${from.join(', ')}] → "${to}"`, END);
  }
  for (const { from, ends } of branches) {
    known(from, `The conditional edge from "${from}"`, START);
    for (const name of ends ?? []) known(name, `The conditional edge from "${from}"`, END);
  }
  for (const [node, { ends }] of nodes) {
    for (const name of ends ?? []) known(name, `The ends of "${node}"`, END);
  }
}

function checkMessageKeys(schema: StateSchema<Fields>, { nodes }: GraphShape): void {
  for (const [name, node] of nodes) {
    if (node.kind !== 'model' && node.kind !== 'tools') continue;
    if (Object.hasOwn(schema.fields, node.messages)) continue;
    const message = `Node "${name}" keeps its conversation under "${node.messages}", which the state does not have. Add it: ${node.messages}: MessagesValue.`;
    throw new GraphDefinitionError('INVALID_STATE_SCHEMA', message);
  }
}

// What a gate lets pass is handed to the tool node itself, which takes nothing else for approved.
function checkGates(schema: StateSchema<Fields>, { nodes }: GraphShape): void {
  for (const [name, node] of nodes) {
    if (node.kind !== 'workflow' || !node.gate) continue;
    const { approved, messages, policy } = node.gate;
    const target = nodes.get(approved);
    if (Object.hasOwn(schema.fields, messages) && target?.kind === 'tools' && target.messages === messages) {
      const tools = target.tools.map((tool) => tool.name);
      checkPolicyNames(`The gate "${name}" in front of "${approved}"`, policy, tools);
      continue;
    }
    const message = `The gate "${name}" sends approved calls to "${approved}", which must be a tool node with the same conversation, "${messages}". Make it toolNode({ tools: […] }).`;
    throw new GraphDefinitionError('INVALID_OPTION', message);
  }
}

function checkReads(schema: StateSchema<Fields>, { nodes }: GraphShape): void {
  for (const [name, { reads }] of nodes) {
    const unknown = reads?.find((key) => !Object.hasOwn(schema.fields, key));
    if (unknown === undefined) continue;
    const message = `Node "${name}" reads "${unknown}", which the state does not have. It has: ${Object.keys(schema.fields).join(', ')}.`;
    throw new GraphDefinitionError('INVALID_STATE_SCHEMA', message);
  }
}

function checkReachable(shape: GraphShape): void {
  const { nodes, branches } = shape;
  const reached = new Set<string>();
  const open = [START];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (reached.has(at)) continue;
    reached.add(at);
    open.push(...targetsOf(at, shape, nodes.get(at)));
  }
  // A router that does not declare its ends may go anywhere.
  if (branches.some(({ from, ends }) => ends === undefined && reached.has(from))) return;
  if (![...reached].some((name) => nodes.has(name))) {
    throw new GraphDefinitionError(
      'NO_ENTRY_POINT',
      'Nothing leads from START to a node. Add an edge: .addEdge(START, …).',
    );
  }
  const lost = [...nodes.keys()].filter((name) => !reached.has(name));
  if (lost.length === 0) return;
  const message = `Nothing leads to ${lost.map((name) => `"${name}"`).join(', ')}. Add an edge, or name it in the "ends" of the node whose command goes there.`;
  throw new GraphDefinitionError('UNREACHABLE_NODE', message);
}

function targetsOf(at: string, { edges, joins, branches }: GraphShape, node: NodeDefinition | undefined): string[] {
  return [
    ...edges.filter(({ from }) => from === at).map(({ to }) => to),
    ...joins.filter(({ from }) => from.includes(at)).map(({ to }) => to),
    ...branches.filter(({ from }) => from === at).flatMap(({ ends }) => ends ?? []),
    ...(node?.ends ?? []),
  ];
}
