import { recordedAround, type ChildReport } from '../graph/child-report';
import { readDecision, type Decision } from '../graph/decision';
import { isPayloadDecision, PAYLOAD_DECISIONS, requestOfPayload } from '../graph/decision-payload';
import { DecisionRefusedError, messageOf } from '../graph/errors';
import type { Json } from '../graph/json';
import type { DecisionMade, VerdictShown } from './decision-made';
import { eventIdOf, type HistoryEvent } from './history-event';
import { firstPayload, jsonOf, payloadsOf } from './payload';
import { failureOf } from './read-failure';
import type { Recorded } from './recorded';
import { defined, objectOf, textOf, textsOf } from './untrusted';

/** A decision as it came in, with the verdict where the history has it. */
export interface DecisionArrived {
  readonly event: HistoryEvent;
  readonly made: Omit<DecisionMade, 'verdict' | 'verdictFrom' | 'offsetMs'>;
  /** As the engine takes it; missing where it could not be read. */
  readonly decision?: Decision;
  readonly verdict?: VerdictShown;
  readonly verdictFrom?: 'history' | 'inference';
}

/** A signal or update, whichever event brought it. */
export interface Message {
  readonly via: 'signal' | 'update';
  readonly name: string;
  readonly args: readonly Recorded[];
  readonly identity?: string;
}

const SIGNALS = [...PAYLOAD_DECISIONS, 'resume', 'passedOn'];
const UPDATES = ['decide', 'resume'];

/** The message an event brings, if it brings one. */
export function messageIn({ kind, attributes }: HistoryEvent): Message | undefined {
  if (kind === 'workflowExecutionSignaled') {
    const { signalName, input, identity } = attributes;
    return defined({
      via: 'signal',
      name: textOf(signalName) ?? '',
      args: payloadsOf(input),
      identity: textOf(identity),
    });
  }
  if (kind !== 'workflowExecutionUpdateAccepted') return undefined;
  const { meta, input } = objectOf(attributes.acceptedRequest);
  const { name, args } = objectOf(input);
  const { identity } = objectOf(meta);
  return defined({ via: 'update', name: textOf(name) ?? '', args: payloadsOf(args), identity: textOf(identity) });
}

/** True for a message that decides. */
export function decides({ via, name }: Message): boolean {
  return (via === 'signal' ? SIGNALS : UPDATES).includes(name);
}

/** The decisions of a run, by the id of the event that brought them. */
export function decisionsOf(events: readonly HistoryEvent[]): ReadonlyMap<string, DecisionArrived> {
  const replies = repliesOf(events);
  const arrived = new Map<string, DecisionArrived>();
  for (const event of events) {
    const message = messageIn(event);
    if (message && decides(message)) arrived.set(event.id, decisionOf(event, message, replies.get(event.id)));
  }
  return arrived;
}

/** The decisions that a child workflow reports: made on its own thread, and accepted there. */
export function decisionsReported(
  { task, records }: ChildReport,
  event: HistoryEvent,
): readonly (Pick<DecisionArrived, 'made'> & { readonly verdict: VerdictShown })[] {
  return records.map((record) => {
    const { decision, verdict } = recordedAround(task, record);
    const { type, by, note, question, node, digest, decisionId, via } = decision;
    const door = via === 'update' || via === 'signal' ? 'childReport' : 'timer';
    const said = defined({ type, value: saidIn(decision), by, note, question, node, digest, decisionId });
    const doors = via === 'update' || via === 'signal' ? via : ('deadline' as const);
    return {
      made: { ...said, via: doors, door, eventId: event.id, at: event.at.iso },
      verdict: verdictOf(verdict) as VerdictShown,
    };
  });
}

/** The completions of updates, by the id of the event that accepted them. */
export function repliesOf(events: readonly HistoryEvent[]): ReadonlyMap<string, HistoryEvent> {
  const completed = events.filter(({ kind }) => kind === 'workflowExecutionUpdateCompleted');
  return new Map(completed.map((event) => [eventIdOf(event.attributes.acceptedEventId), event]));
}

function decisionOf(event: HistoryEvent, message: Message, reply: HistoryEvent | undefined): DecisionArrived {
  const { name: door, identity } = message;
  // What the run around passed on came through a door of that run first.
  const via = objectOf(jsonOf(message.args[0])).via === 'update' && door === 'passedOn' ? 'update' : message.via;
  const common = { via, door, eventId: event.id, at: event.at.iso, ...(identity && { identity }) };
  const recorded = reply && recordedVerdict(reply);
  const known = recorded && { verdict: recorded, verdictFrom: 'history' as const };
  if (message.args.some(({ kind }) => kind !== 'json')) {
    const type = isPayloadDecision(door) ? door : 'unreadable';
    return { event, made: { ...common, type }, ...known };
  }
  const request = requestOf(message);
  try {
    const decision = readDecision(request, via);
    const { type, by, note, question, node, digest, decisionId } = decision;
    const value = saidIn(decision);
    const said = defined({ type, value, by, note, question, node, digest, decisionId });
    return { event, made: { ...common, ...said }, decision, ...known };
  } catch (error) {
    const code = error instanceof DecisionRefusedError ? error.code : 'DECISION_MALFORMED';
    const refused = { kind: 'refused', code, message: messageOf(error) } as const;
    const made = { ...common, type: 'unreadable' as const, value: (request ?? null) as Json };
    return { event, made, verdict: refused, verdictFrom: 'inference', ...known };
  }
}

// The doors read their payloads so: a bare text is a note, and what they are called says what was decided.
function requestOf({ via, name, args }: Message): unknown {
  const [first, second] = args.map(jsonOf);
  if (via === 'update' && name === 'decide') return first;
  if (name === 'passedOn') return objectOf(first).request;
  if (name === 'resume') {
    const details = second ?? {};
    return typeof details === 'object' && !Array.isArray(details)
      ? { ...details, type: 'resume', value: first ?? null }
      : details;
  }
  return isPayloadDecision(name) ? requestOfPayload(name, first) : first;
}

function saidIn(decision: Decision): Json | undefined {
  switch (decision.type) {
    case 'resume':
      return decision.value;
    case 'edit':
      return decision.args;
    case 'respond':
      return decision.response;
    default:
      return undefined;
  }
}

function recordedVerdict({ attributes }: HistoryEvent): VerdictShown | undefined {
  const { success, failure } = objectOf(attributes.outcome);
  const refused = failureOf(failure);
  if (refused) return { kind: 'refused', code: refused.code ?? 'UNKNOWN', message: refused.message };
  return verdictOf(objectOf(jsonOf(firstPayload(success))).verdict);
}

/** A verdict as a reply or the engine gives it. */
export function verdictOf(value: unknown): VerdictShown | undefined {
  const { kind, questions, until, code, message } = objectOf(value);
  switch (kind) {
    case 'accepted':
      return { kind, questions: textsOf(questions) };
    case 'kept':
      return { kind, until: textOf(until) ?? '' };
    case 'refused':
      return { kind, code: textOf(code) ?? 'UNKNOWN', message: textOf(message) ?? '' };
    default:
      return undefined;
  }
}
