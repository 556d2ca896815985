import { GraphDefinitionError } from './errors';
import type { ToolCall } from './messages';
import type { Duration } from './node-definition';
import type { ApprovalAction } from './question';
import { actionsOf, deadlineOf } from './question-terms';

/** What is asked about the calls of one tool. `S` is the state as nodes read it. */
export interface CallPolicy<S = any> {
  /** What may be decided; default approve and deny. */
  readonly allow?: readonly ApprovalAction[];
  /** How long a decision is waited for; default for ever. Then the call is not run, and the model is told why. */
  readonly deadline?: Duration;
  /** Which calls are asked about; default all. Pure: it runs in workflow code. */
  readonly when?: (call: ToolCall, state: S) => boolean;
  /** What the approver is shown; default `{ tool, args }`. Pure, and JSON. */
  readonly describe?: (call: ToolCall) => unknown;
}

/** Which tools' calls need an approval, by the tools' names: `true` and `false`, or how they are asked about. */
export type ApprovalPolicy<S = any, N extends string = string> = {
  readonly [K in N]?: boolean | CallPolicy<S>;
};

const OPTIONS = ['allow', 'deadline', 'when', 'describe'];

/** The policy of a tool; undefined where there is none. */
export function policyOf(policy: ApprovalPolicy, tool: string): boolean | CallPolicy | undefined {
  return Object.hasOwn(policy, tool) ? policy[tool] : undefined;
}

/**
 * Refuses a policy by which something could not be decided, or would pass unasked by a slip of the pen.
 *
 * @throws {GraphDefinitionError} `INVALID_OPTION`.
 */
export function checkPolicy(policy: ApprovalPolicy): void {
  for (const [tool, rule] of Object.entries(policy)) {
    const whose = `The approval policy of tool "${tool}"`;
    if (typeof rule === 'boolean') continue;
    if (typeof rule !== 'object' || rule === null) {
      throw invalid(`${whose} is ${String(rule)}. It must be true, false, or an object of ${OPTIONS.join(', ')}.`);
    }
    checkKeys(whose, rule, OPTIONS);
    if (rule.allow !== undefined) actionsOf(whose, rule.allow);
    if (rule.deadline !== undefined) deadlineOf(whose, rule.deadline);
    for (const name of ['when', 'describe'] as const) {
      if (rule[name] !== undefined && typeof rule[name] !== 'function') {
        throw invalid(`${whose} has a "${name}" that is no function.`);
      }
    }
  }
}

/** Refuses names of tools that are not there: a gate under such a name would guard nothing. */
export function checkPolicyNames(whose: string, policy: ApprovalPolicy, tools: readonly string[]): void {
  const unknown = Object.keys(policy).find((name) => !tools.includes(name));
  if (unknown === undefined) return;
  const known = tools.join(', ') || 'none';
  throw invalid(
    `${whose} has an approval policy for "${unknown}", and there is no such tool. The tools are: ${known}.`,
  );
}

/** Refuses options that are none. @throws {GraphDefinitionError} `INVALID_OPTION`. */
export function checkKeys(whose: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw invalid(`${whose} has an option "${unknown}", which there is not. There is: ${known.join(', ')}.`);
}

function invalid(message: string): GraphDefinitionError {
  return new GraphDefinitionError('INVALID_OPTION', message);
}
