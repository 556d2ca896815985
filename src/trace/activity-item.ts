import type { Json } from '../graph/json';
import { nodePathOf } from '../graph/task';
import { courseOf, type ActivityCourse, type ActivityEvents } from './activity-events';
import type { ForeignActivity, NodeVisit, ToolRun, Turn } from './item';
import { isLocal } from './local-activities';
import type { Clock } from './moment';
import { outcomeOf } from './node-outcome';
import { firstPayload, jsonOf, payloadsOf } from './payload';
import type { Recorded } from './recorded';
import { turnOf } from './turn-item';
import { arrayOf, defined, numberOf, objectOf, textOf, type Loose } from './untrusted';

/** An activity of a graph, as far as it can be read whatever kind of node it is. */
export interface NodeActivityRead {
  readonly common: ActivityCourse & {
    readonly id: string;
    readonly node: string;
    readonly task: string;
    readonly step: number;
    readonly visit: number;
    readonly idempotencyKey?: string;
  };
  readonly input: Recorded;
  /** What the workflow told beside the input. */
  readonly call: Loose;
  readonly result: Recorded | undefined;
  /** The result as an object; empty where it is none, or cannot be read. */
  readonly ended: Loose;
}

const NO_INPUT: Recorded = { kind: 'missing', reason: 'The activity was scheduled without an input.' };

const NOT_TOLD: Recorded = {
  kind: 'missing',
  reason: 'A local activity is on record with what it was given only once it has completed.',
};

/** An activity as an item of the trace: a turn, a tool call, a visit of a node, or none of the graph’s. */
export function activityItemOf(
  graph: string,
  activity: ActivityEvents,
  clock: Clock,
): Turn | ToolRun | NodeVisit | ForeignActivity {
  const { activityId, activityType } = activity.scheduled.attributes;
  const id = textOf(activityId) ?? activity.scheduled.id;
  const type = textOf(objectOf(activityType).name) ?? 'unknown';
  const course = courseOf(activity, clock);
  const local = isLocal(activity.scheduled);
  const [input = local ? NOT_TOLD : NO_INPUT, told] = payloadsOf(activity.scheduled.attributes.input);
  const call = objectOf(jsonOf(told));
  const [, task = '', step, visit] = /^((?:[^#/]+\/)*(\d+)\.[^.#/]+[^#/]*)#(\d+)$/.exec(id) ?? [];
  // The type of a subgraph's node begins with that graph's name.
  const isOurs = type.startsWith(`${graph}.`) || (task.includes('/') && textOf(call.task) === task);
  if (task === '' || !isOurs) return foreignOf(type, id, activity, course);
  const result = firstPayload(activity.closed?.attributes.result);
  const common = { id, node: nodePathOf(task), task, step: Number(step), visit: Number(visit), ...course };
  const idempotencyKey = textOf(call.idempotencyKey);
  const ended = objectOf(jsonOf(result));
  const read = { common: { ...common, ...(idempotencyKey && { idempotencyKey }) }, input, call, result, ended };
  const name = type.slice(type.indexOf('.') + 1);
  if (name.startsWith('tool:')) return toolOf(name.slice('tool:'.length), read);
  const isModel = objectOf(ended.record).kind === 'model' || objectOf(call.model) === call.model;
  return isModel ? turnOf(read) : visitOf(read, local ? 'local' : 'activity');
}

function toolOf(tool: string, { common, input, ended }: NodeActivityRead): ToolRun {
  const record = objectOf(ended.record);
  const given = objectOf(jsonOf(input));
  return defined({
    kind: 'tool' as const,
    ...common,
    tool,
    callId: textOf(record.callId) ?? textOf(given.id),
    given: input.kind === 'json' ? ({ kind: 'json', value: (given.args ?? null) as Json } as const) : input,
    edited: objectOf(given.edited) === given.edited || undefined,
    args: record.args as Json | undefined,
    result: record.result as Json | undefined,
    error: textOf(record.error),
    toolMs: numberOf(record.durationMs),
  });
}

function visitOf({ common, input, call, result }: NodeActivityRead, where: NodeVisit['where']): NodeVisit {
  return defined({
    kind: 'node' as const,
    where,
    ...common,
    input,
    sent: call.send === true,
    answers: answersOf(call.answers),
    once: objectOf(call.once) as NodeVisit['once'],
    outcome: result && outcomeOf(result),
  });
}

/** The answers a node was handed, as its call lists them. */
export function answersOf(value: unknown): NodeVisit['answers'] {
  return arrayOf(value).map((one) => {
    const { id, digest, value: answer, by, note, via, decision } = objectOf(one);
    return defined({
      id: textOf(id) ?? '',
      digest: textOf(digest),
      value: (answer ?? null) as Json,
      by: textOf(by),
      note: textOf(note),
      via: textOf(via),
      decision: textOf(decision),
    });
  });
}

function foreignOf(
  type: string,
  id: string,
  { scheduled, closed }: ActivityEvents,
  { maximumAttempts: _most, taskQueue: _queue, ...course }: ActivityCourse,
): ForeignActivity {
  return defined({
    kind: 'activity' as const,
    type,
    id,
    ...course,
    input: payloadsOf(scheduled.attributes.input),
    result: firstPayload(closed?.attributes.result),
  });
}
