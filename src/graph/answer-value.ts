import { answerMisfit } from './answer-schema';
import type { AnyGraph } from './compiled-graph';
import type { Decision } from './decision';
import { editMismatch } from './edit-mismatch';
import { isJsonObject, toJson, type Json, type JsonObject } from './json';
import { DEFAULT_ACTIONS, type ApprovalAction, type ApprovalDecision, type Question } from './question';

/** What a decision comes to at a question: the answer its node is handed, or why it is none. */
export type AnswerValue =
  | { readonly value: Json; readonly expired?: string; readonly refused?: undefined }
  | { readonly refused: string; readonly value?: undefined };

/** Reads a decision as an answer to this question; `value` is what a resume answers it with. */
export function valueFor(
  graph: AnyGraph,
  question: Question,
  decision: Decision,
  value: Json | undefined,
): AnswerValue {
  if (question.kind === 'approval') return approvalValue(graph, question, decision, value);
  if (question.kind === 'breakpoint') return breakpointValue(question, decision);
  switch (decision.type) {
    case 'resume':
      return fitting(question, value ?? null);
    case 'approve':
    case 'deny':
      return fitting(question, decision.type === 'approve');
    case 'expire':
      return question.otherwise === undefined ? { value: null, expired: decision.due } : { value: question.otherwise };
    case 'edit':
    case 'respond':
      return {
        refused: `Question ${question.id} asks for an answer, not for an approval: approve, deny or resume it; there is nothing to ${decision.type}.`,
      };
    default:
      return decision satisfies never;
  }
}

// What only the node can tell, it tells by sending the answer back.
function fitting({ id, schema }: Question, value: Json): AnswerValue {
  const misfit = answerMisfit(schema, value);
  return misfit === undefined ? { value } : { refused: `The answer does not fit question ${id}: ${misfit}.` };
}

function breakpointValue({ id }: Question, { type }: Decision): AnswerValue {
  if (type === 'approve' || type === 'resume') return { value: true };
  return { refused: `Question ${id} is a breakpoint, which can only be passed. To stop the run, cancel it.` };
}

function approvalValue(graph: AnyGraph, question: Question, decision: Decision, value: Json | undefined): AnswerValue {
  if (decision.type === 'expire') return { value: { type: 'timeout' } };
  const allowed = question.allow ?? DEFAULT_ACTIONS;
  const ruling = decision.type === 'resume' ? rulingIn(value) : rulingOf(decision);
  if (!ruling) return { refused: `Question ${question.id} asks for an approval: ${inWords(allowed)}.` };
  if (!allowed.includes(ruling.type)) {
    const refused = `Question ${question.id} does not take "${ruling.type}". It allows: ${allowed.join(', ')}.`;
    return { refused };
  }
  const misfit = ruling.type === 'edit' ? editMismatch(graph, question, ruling.args) : undefined;
  if (misfit !== undefined) {
    return { refused: `The edited arguments for question ${question.id} do not fit the tool: ${misfit}.` };
  }
  const note = decision.note ?? (isJsonObject(value) && typeof value.note === 'string' ? value.note : undefined);
  const whole: ApprovalDecision = { ...ruling, ...(decision.by && { by: decision.by }), ...(note && { note }) };
  return { value: toJson(whole) };
}

type Ruling =
  | { readonly type: 'approve' | 'deny' }
  | { readonly type: 'edit'; readonly args: Json }
  | { readonly type: 'respond'; readonly response: Json };

function rulingOf(decision: Extract<Decision, { readonly type: ApprovalAction }>): Ruling {
  switch (decision.type) {
    case 'approve':
    case 'deny':
      return { type: decision.type };
    case 'edit':
      return { type: 'edit', args: decision.args };
    case 'respond':
      return { type: 'respond', response: decision.response };
    default:
      return decision satisfies never;
  }
}

// What it says beside its type must be known: "tool" or "name" beside new arguments would be somebody's wish to run another.
function rulingIn(value: Json | undefined): Ruling | undefined {
  if (typeof value === 'boolean') return { type: value ? 'approve' : 'deny' };
  if (!isJsonObject(value)) return undefined;
  const { type, args, response } = value;
  if (type === 'approve' || type === 'deny') return { type };
  if (type === 'edit' && args !== undefined && saysOnly(value, 'args')) return { type, args };
  if (type === 'respond' && response !== undefined && saysOnly(value, 'response')) return { type, response };
  return undefined;
}

function saysOnly(value: JsonObject, what: string): boolean {
  return Object.keys(value).every((key) => ['type', 'by', 'note', what].includes(key));
}

const WORDS: Readonly<Record<ApprovalAction, string>> = {
  approve: 'approve it',
  deny: 'deny it',
  edit: 'edit its arguments ({ type: "edit", args })',
  respond: 'respond in its place ({ type: "respond", response })',
};

function inWords(allowed: readonly ApprovalAction[]): string {
  return allowed.map((action) => WORDS[action]).join(' or ');
}
