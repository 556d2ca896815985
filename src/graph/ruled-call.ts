import { isJsonObject, type Json, type JsonObject } from './json';
import type { Message, NewMessage, ToolCall } from './messages';
import type { ApprovalDecision } from './question';

/** What a gate ruled on one call that a person decided. */
export type Ruling = SettledCall | EditedCall;

/** The call does not run: this is what the model is told instead of a result. */
export interface SettledCall {
  readonly kind: 'settled';
  readonly content: string;
  readonly status: NonNullable<NewMessage['status']>;
}

/** The call runs with other arguments than the model gave. */
export interface EditedCall {
  readonly kind: 'edited';
  readonly args: Json;
  /** Why, where somebody said. */
  readonly note?: string;
}

/** What a decision means for a call; undefined where it runs as it is. */
export function rulingOf(decision: ApprovalDecision | undefined): Ruling | undefined {
  switch (decision?.type) {
    case undefined:
    case 'approve':
      return undefined;
    case 'deny':
      return { kind: 'settled', content: denial(decision.note), status: 'error' };
    case 'timeout':
      return { kind: 'settled', content: 'not run: nobody decided in time', status: 'error' };
    case 'edit':
      return { kind: 'edited', args: decision.args, ...(decision.note && { note: decision.note }) };
    case 'respond': {
      const { response } = decision;
      const content = typeof response === 'string' ? response : JSON.stringify(response);
      return { kind: 'settled', content, status: 'success' };
    }
    default:
      return decision satisfies never;
  }
}

/** How a denial begins, and all of it where no model reads on. */
export function briefDenial(note: string | undefined): string {
  return note ? `denied by approver: ${note}` : 'denied by approver';
}

// A bare "no" reads like the tool's own answer: a model then reports the deed as done.
function denial(note: string | undefined): string {
  return `${briefDenial(note)}\nA human rejected this call; it was not run.`;
}

/** The input a gate sends its tool node: the very calls that were shown, and what was ruled on each. */
export function ruledCalls(
  messages: string,
  calls: readonly ToolCall[],
  rulings: readonly (Ruling | undefined)[],
): JsonObject {
  const shown = calls.map((call, index) => {
    const ruling = rulings[index];
    return ruling?.kind === 'edited' ? { ...call, args: ruling.args as ToolCall['args'] } : call;
  });
  const message: Message = { id: 'approved', role: 'ai', content: '', tool_calls: shown };
  const isRuled = rulings.some((ruling) => ruling !== undefined);
  return {
    [messages]: [{ ...message }] as Json,
    ...(isRuled && { [RULINGS]: rulings.map((ruling) => (ruling ? { ...ruling } : null)) }),
  };
}

// No key of a state can be meant by it.
const RULINGS = 'abeyance:rulings';

/** What was ruled on each call of a tool node's input, by the place of the call. */
export function rulingsIn(input: Json | undefined): readonly (Ruling | undefined)[] {
  const rulings = isJsonObject(input) ? input[RULINGS] : undefined;
  return Array.isArray(rulings) ? rulings.map((ruling) => (ruling ?? undefined) as Ruling | undefined) : [];
}

/** A call as its tool is given it: one that a person changed says so. */
export type GivenCall = ToolCall & { readonly edited?: { readonly note?: string } };

/** The call as it goes to its tool. */
export function givenCall(call: ToolCall, ruling: Ruling | undefined): GivenCall {
  if (ruling?.kind !== 'edited') return call;
  return { ...call, edited: { ...(ruling.note && { note: ruling.note }) } };
}

/** What the model is told of a call that has ended. It asked for something else, and must not ask for it again. */
export function afterEdit({ name, args, edited }: GivenCall, content: string): string {
  if (!edited) return content;
  const why = edited.note ? ` Their reason: ${edited.note}` : '';
  return `A human changed the arguments of this call before it ran.${why}\nWhat ran: ${name}(${JSON.stringify(args)})\n${content}`;
}
