import { z } from 'zod';
import type { Command } from './commands';
import { DecisionRefusedError, StateError, messageOf, type OpenQuestion } from './errors';
import type { ErrorCode } from './errors';
import { explainMismatch } from './explain-mismatch';
import { isJsonObject, toJson, type Json, type JsonObject } from './json';
import { parseQuestionId } from './question';
import { bytesOf, inMegabytes } from './size-limit';
import type { Fields, StateSchema } from './state-schema';
import { encodeUpdate } from './write-state';

const MAX_DECISION_BYTES = 1_500_000;

/** What a decision may say beside its answer. Every part is optional. */
const DecisionDetails = z.strictObject({
  /** The question decided; without it the decision is for the only open one. */
  question: z.string().min(1).max(1000).optional(),
  /** The node whose question is decided, also before it has asked. */
  node: z.string().min(1).max(500).optional(),
  /** The question's digest as it was shown: the decision is refused if the question has changed. */
  digest: z.string().min(1).max(100).optional(),
  /** Who decides. */
  by: z.string().min(1).max(500).optional(),
  /** Why. */
  note: z.string().max(20_000).optional(),
  /** Written to the state before the answer is handed over, as `updateState` does; the two come in together or not at all. */
  update: z.record(z.string(), z.json()).optional(),
  /** Makes the decision safe to send again: the same id has one effect and one reply. */
  decisionId: z.string().min(1).max(500).optional(),
});

/** What a decision may say beside its answer. */
export type DecisionDetails = z.output<typeof DecisionDetails>;

const DecisionRequest = z.discriminatedUnion('type', [
  DecisionDetails.extend({ type: z.literal('approve') }),
  DecisionDetails.extend({ type: z.literal('deny') }),
  DecisionDetails.extend({ type: z.literal('edit'), args: z.json() }),
  DecisionDetails.extend({ type: z.literal('respond'), response: z.json() }),
  DecisionDetails.extend({ type: z.literal('resume'), value: z.json() }),
]);

/** A decision as a client sends it through the `decide` update. */
export type DecisionRequest = z.output<typeof DecisionRequest>;

/** The end of a wait that nobody ended in time. The engine's own: nobody can send one. */
export interface Expiry extends DecisionDetails {
  readonly type: 'expire';
  readonly question: string;
  /** When the question expired, ISO 8601. */
  readonly due: string;
}

/** A decision on its way into the engine. */
export type Decision = (DecisionRequest | Expiry) & {
  /** The door it came through: `signal`, `update` or `memory`; `deadline` where nobody came. */
  readonly via: string;
};

/** What became of a decision. */
export type Verdict =
  | { readonly kind: 'accepted'; readonly questions: readonly string[] }
  | { readonly kind: 'kept'; readonly until: string }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly message: string;
      readonly open: readonly OpenQuestion[];
    };

/** A decision with its verdict: one line of the audit. */
export interface DecisionRecord {
  readonly decision: Decision;
  /** Of what was decided: the same decision id with another digest is refused. */
  readonly digest: string;
  readonly verdict: Verdict;
  /** When the verdict fell, ISO 8601. */
  readonly at: string;
  /** Set where the node sent the answer back after all: its question opened again. */
  readonly sentBack?: { readonly question: string; readonly reason: string };
  /** True where the answer was too large to be taken over into the thread's next run. */
  readonly omitted?: true;
}

/**
 * Reads a decision that came from outside.
 *
 * @throws {DecisionRefusedError} `DECISION_MALFORMED`, saying what is wrong with it.
 */
export function readDecision(request: unknown, via: string): Decision {
  const json = bounded(request);
  const parsed = DecisionRequest.safeParse(json);
  if (!parsed.success) throw malformed(explainMismatch(parsed.error));
  const { question, node } = parsed.data;
  if (question !== undefined && node !== undefined) throw malformed('it names a question and a node; name one');
  // Not what zod made of it: that lacks keys named "__proto__", which JSON has.
  const decision: Decision = { ...(json as unknown as DecisionRequest), via };
  answersById(decision);
  return decision;
}

// Before the schema looks at it: nothing here may fail, or grow, inside the run.
function bounded(request: unknown): Json {
  let json: Json;
  try {
    json = toJson(request);
  } catch (error) {
    throw malformed(messageOf(error));
  }
  const bytes = bytesOf(json);
  if (bytes <= MAX_DECISION_BYTES) return json;
  const message = `The decision takes ${inMegabytes(bytes)}; at most ${inMegabytes(MAX_DECISION_BYTES)} can be carried. Send an id instead of the thing. Nothing changed.`;
  throw new DecisionRefusedError('ANSWER_TOO_LARGE', message);
}

/**
 * The answers of a resume by question id, or undefined where it is one plain answer, as one that names its target is.
 *
 * @throws {DecisionRefusedError} `DECISION_MALFORMED` where some keys are question ids and some are not.
 */
export function answersById(decision: DecisionRequest | Expiry): JsonObject | undefined {
  const named = decision.question !== undefined || decision.node !== undefined;
  return decision.type === 'resume' && !named ? answerMap(decision.value) : undefined;
}

function answerMap(value: Json): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const keys = Object.keys(value);
  const ids = keys.filter((key) => parseQuestionId(key) !== undefined);
  if (ids.length === 0) return undefined;
  if (ids.length < keys.length) {
    const others = keys.filter((key) => !ids.includes(key)).join(', ');
    throw malformed(`some of its keys are question ids and some are not (${others})`);
  }
  return value;
}

/** The answer in a client's command, and what comes with it. */
export interface AnswerInCommand {
  readonly answer: unknown;
  readonly details: DecisionDetails | undefined;
}

/**
 * The answer in a client's command, and the update that comes with it.
 *
 * @throws {DecisionRefusedError} `DECISION_MALFORMED` where it resumes nothing, or goes somewhere.
 * @throws {StateError} where the update does not fit the state.
 */
export function answerIn(
  schema: StateSchema<Fields>,
  { resumes, resume, update, goto, graph }: Command<any, any, any>,
): AnswerInCommand {
  if (resumes && goto === undefined && graph === undefined) {
    const encoded = update === undefined ? undefined : (encodeUpdate(schema, update, 'update') as Mutable);
    return { answer: resume, details: encoded && { update: encoded } };
  }
  const message =
    'A client may send a Command with resume, and an update beside it. To go somewhere, use updateState with asNode. Nothing changed.';
  throw new DecisionRefusedError('DECISION_MALFORMED', message);
}

type Mutable = NonNullable<DecisionDetails['update']>;

/** An answer as it is sent; none is `null`. @throws {StateError} `STATE_NOT_JSON`. */
export function encodeAnswer(value: unknown): Json {
  try {
    return value === undefined ? null : toJson(value);
  } catch (error) {
    const message = `The answer cannot be sent: ${messageOf(error)}. Answer with plain JSON.`;
    throw new StateError('STATE_NOT_JSON', message, 'answer', undefined, { cause: error });
  }
}

function malformed(why: string): DecisionRefusedError {
  // It may quote keys of any length, and is kept on record.
  const brief = why.length > 500 ? `${why.slice(0, 500)}…` : why;
  const message = `The decision cannot be read: ${brief}. Nothing changed.`;
  return new DecisionRefusedError('DECISION_MALFORMED', message);
}
