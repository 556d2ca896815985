import type { z } from 'zod';
import { millisecondsOf } from './duration';
import { GraphDefinitionError, StateError, messageOf } from './errors';
import { explainMismatch } from './explain-mismatch';
import { toJson, type Json } from './json';
import type { Duration } from './node-definition';
import { APPROVAL_ACTIONS, DEFAULT_ACTIONS, type ApprovalAction, type AskedQuestion, type CallShown } from './question';
import { bytesOf } from './size-limit';

/** By this summary the timer of a question's deadline is known among others. */
export const EXPIRY_TIMER = 'a question expires';

// Beside any state: the end of a wait must not fail on the size of its answer.
const MAX_OTHERWISE = 8_000;
const MAX_DEADLINE = 100 * 365.25 * 86_400_000;

/** What a question says beside what it asks. */
export interface TermsAsked {
  readonly approval?: boolean;
  readonly schema?: z.ZodType | undefined;
  readonly allow?: readonly ApprovalAction[];
  readonly deadline?: Duration;
  readonly otherwise?: unknown;
  readonly call?: CallShown;
}

/**
 * Reads and checks the terms of a question.
 *
 * @throws {GraphDefinitionError} `INVALID_OPTION`, naming the node and what is wrong.
 * @throws {StateError} `STATE_NOT_JSON` when `otherwise` cannot be recorded.
 */
export function termsOf(
  node: string,
  asked: TermsAsked,
): Pick<AskedQuestion, 'allow' | 'deadline' | 'otherwise' | 'call'> {
  const whose = `A question of node "${node}"`;
  const { approval, allow, deadline, otherwise, call } = asked;
  if (allow !== undefined && !approval) throw invalid(whose, 'allow', 'only an approval takes it: approval: true');
  if (otherwise !== undefined && approval) {
    throw invalid(whose, 'otherwise', 'an approval that expires is handed { type: "timeout" }');
  }
  if (otherwise !== undefined && deadline === undefined) throw invalid(whose, 'otherwise', 'it needs a deadline');
  const actions = allow && actionsOf(whose, allow);
  return {
    ...(actions && { allow: actions }),
    ...(deadline !== undefined && { deadline: deadlineOf(whose, deadline) }),
    ...(otherwise !== undefined && { otherwise: answerOf(whose, node, otherwise, asked.schema) }),
    ...(call && { call }),
  };
}

/**
 * What an approval allows, in one order and each once; undefined where that is the default.
 *
 * @throws {GraphDefinitionError} `INVALID_OPTION`.
 */
export function actionsOf(whose: string, allow: readonly ApprovalAction[]): readonly ApprovalAction[] | undefined {
  const known = APPROVAL_ACTIONS.join(', ');
  if (!Array.isArray(allow) || allow.length === 0) {
    throw invalid(whose, 'allow', `nothing could be decided. Name some of: ${known}`);
  }
  const unknown = (allow as readonly ApprovalAction[]).find((action) => !APPROVAL_ACTIONS.includes(action));
  if (unknown !== undefined) throw invalid(whose, 'allow', `there is no "${String(unknown)}". There is: ${known}`);
  const actions = APPROVAL_ACTIONS.filter((action) => allow.includes(action));
  return actions.join() === DEFAULT_ACTIONS.join() ? undefined : actions;
}

/** How many ms a deadline leaves. @throws {GraphDefinitionError} `INVALID_OPTION`. */
export function deadlineOf(whose: string, deadline: Duration): number {
  const ms = millisecondsOf(deadline);
  if (ms !== undefined && ms > 0 && ms <= MAX_DEADLINE) return Math.ceil(ms);
  const why = `${JSON.stringify(deadline)} is neither a positive number of ms nor a duration such as '1 hour', of a hundred years at most`;
  throw invalid(whose, 'deadline', why);
}

function answerOf(whose: string, node: string, otherwise: unknown, schema: z.ZodType | undefined): Json {
  let answer: Json;
  try {
    answer = toJson(otherwise);
  } catch (error) {
    const message = `${whose} has an "otherwise" that cannot be recorded: ${messageOf(error)}. Answer with plain JSON.`;
    throw new StateError('STATE_NOT_JSON', message, node, undefined, { cause: error });
  }
  if (bytesOf(answer) > MAX_OTHERWISE) throw invalid(whose, 'otherwise', `it takes over ${MAX_OTHERWISE} bytes`);
  const parsed = schema?.safeParse(answer);
  if (parsed?.success === false) {
    throw invalid(whose, 'otherwise', `it does not fit the schema of the answer: ${explainMismatch(parsed.error)}`);
  }
  return answer;
}

function invalid(whose: string, option: string, why: string): GraphDefinitionError {
  return new GraphDefinitionError('INVALID_OPTION', `${whose} cannot have this "${option}": ${why}.`);
}
