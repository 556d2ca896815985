import { AbeyanceError, GraphDefinitionError, GraphRunError, messageOf } from '../graph/errors';
import { explainMismatch } from '../graph/explain-mismatch';
import { toJson, type Json } from '../graph/json';
import type { ToolCall } from '../graph/messages';
import type { ToolsNode } from '../graph/node-definition';
import type { NodeRun } from '../graph/node-run';
import { attempt } from '../graph/run-body';
import { badCallOutcome, toolErrorOutcome, toolOutcome } from '../graph/tool-messages';
import type { NodeResult, ToolRecord } from './call-record';
import type { ToolContext, ToolImplementation } from './implement-tool';

/** A tool call: what was asked for, and who runs it. */
export interface ToolCallRun {
  readonly tools: ReadonlyMap<string, ToolImplementation>;
  readonly node: Pick<ToolsNode, 'messages' | 'onToolError'>;
  readonly call: ToolCall;
  readonly run: NodeRun;
}

/**
 * Runs one tool call and gives its result as a tool message, with the record of the call. Needs no Temporal.
 *
 * Arguments that do not fit the schema, and errors of the tool itself, become an error message for the model.
 */
export async function callTool({ tools, node, call, run }: ToolCallRun): Promise<NodeResult> {
  const implementation = tools.get(call.name);
  if (!implementation) throw new GraphDefinitionError('MISSING_IMPLEMENTATION', missingTool(call.name, tools));
  const started = performance.now();
  const record = (rest: Partial<ToolRecord>): ToolRecord => ({
    kind: 'tool',
    tool: call.name,
    callId: call.id,
    given: call.args,
    ...rest,
    attempt: run.info.attempt,
    durationMs: Math.round((performance.now() - started) * 1000) / 1000,
  });
  const parsed = parseArgs(implementation, call);
  if ('error' in parsed) return { ...badCallOutcome(node, call, parsed.error), record: record(parsed) };
  const read = recordable(parsed.args);
  let ended: Awaited<ReturnType<typeof attempt>>;
  let result: Json;
  try {
    ended = await attempt(run, () => implementation.body(parsed.args, contextOf(run, call)));
    if (ended.kind !== 'returned') return ended;
    result = ended.value === undefined ? null : toJson(ended.value);
  } catch (thrown) {
    const error = messageOf(thrown);
    const passes = node.onToolError === 'fail' || thrown instanceof AbeyanceError || run.ports.signal.aborted;
    if (passes) throw failureOf(call, thrown);
    return { ...toolErrorOutcome(node, call, error), record: record({ ...read, error }) };
  }
  return { ...toolOutcome(node, call, result), record: record({ ...read, result }) };
}

/** What is wrong where no tool goes by a name. */
export function missingTool(name: string, tools: ReadonlyMap<string, ToolImplementation>): string {
  const known = [...tools.keys()].join(', ') || 'none';
  return `No tool is implemented as "${name}"; implemented: ${known}. Add it: tools: [implementTool(…)].`;
}

function parseArgs(
  { tool }: ToolImplementation,
  { args }: ToolCall,
): { readonly args: unknown } | { readonly error: string } {
  if (typeof args === 'string') return { error: `the arguments are not valid JSON: ${args.slice(0, 200)}` };
  const parsed = tool.schema.safeParse(args);
  if (parsed.success) return { args: parsed.data };
  return { error: `the arguments do not fit: ${explainMismatch(parsed.error)}` };
}

// A schema may read the arguments as what JSON cannot carry, a Date say; what the model gave is on record all the same.
function recordable(args: unknown): Pick<ToolRecord, 'args'> {
  try {
    return { args: toJson(args) };
  } catch {
    return {};
  }
}

function contextOf({ info, ports }: NodeRun, { id }: ToolCall): ToolContext {
  const { threadId, attempt: tries, idempotencyKey } = info;
  return { threadId, callId: id, attempt: tries, idempotencyKey, signal: ports.signal };
}

function failureOf({ name }: ToolCall, thrown: unknown): unknown {
  return thrown instanceof Error
    ? thrown
    : new GraphRunError('NODE_FAILED', `Tool "${name}" threw ${messageOf(thrown)}`);
}
