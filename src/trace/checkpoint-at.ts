import type { RunView } from '../graph/run-view';
import { standingOf, type Standing } from './memo-of';
import type { Moment } from './moment';
import { firstPayload, jsonOf } from './payload';
import type { Recorded } from './recorded';
import type { RunEvents } from './run-events';
import type { Checkpoint } from './trace';
import { defined, objectOf } from './untrusted';
import type { QuestionPlaced } from './wait-entry';

/** All that may tell what the state was where a run stopped. */
export interface CheckpointSources {
  readonly run: RunEvents;
  /** The place among the events of the one that stopped it. */
  readonly index: number;
  readonly at: Moment;
  /** What it published there. */
  readonly shown?: Standing;
  /** What the graph makes of its events. */
  readonly view?: RunView;
  readonly result?: Recorded;
  readonly open: readonly QuestionPlaced[];
}

/** The state of a run where it stopped, from whichever source has it. */
export function checkpointAt({ run, index, at, shown, view, result, open }: CheckpointSources): Checkpoint {
  const [source, values] = valuesFrom({ run, index, at, shown, view, result, open });
  const next = shown?.next ?? view?.next ?? [...new Set(open.map(({ node }) => node))];
  return defined({
    at: at.iso,
    step: shown?.step ?? view?.step,
    values,
    source,
    next: result ? [] : next,
    questions: open.map(({ id, node, value }) => ({ id, node, value })),
  });
}

function valuesFrom({ run, index, shown, view, result }: CheckpointSources): [Checkpoint['source'], Recorded] {
  if (result) return ['result', result];
  if (shown?.values.kind === 'json') return ['memo', shown.values];
  const reply = replyAfter(run, index);
  if (reply) return ['reply', reply];
  if (view) return ['graph', { kind: 'json', value: view.values }];
  const missing = {
    kind: 'missing',
    reason: 'No event holds the values of this stop. Give the graph to compute them.',
  } as const;
  return ['nowhere', shown?.values.kind === 'missing' ? { ...missing, ...shown.values } : missing];
}

/** The values told to a caller who waited for this very stop. */
function replyAfter(run: RunEvents, index: number): Recorded | undefined {
  const after = run.events.findIndex(({ kind }, at) => at > index && kind === 'workflowTaskScheduled');
  const until = after < 0 ? run.events.length : after;
  for (const { kind: event, attributes } of run.events.slice(index, until)) {
    if (event !== 'workflowExecutionUpdateCompleted') continue;
    const reply = objectOf(jsonOf(firstPayload(objectOf(attributes.outcome).success)));
    const { kind, view } = objectOf(reply.kind === undefined ? reply.stop : reply);
    const { values } = standingOf(objectOf(view));
    if (kind === 'paused' && values.kind === 'json') return values;
  }
  return undefined;
}
