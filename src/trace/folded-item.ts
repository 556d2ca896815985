import type { FoldedVisit } from './fold-run';
import { nodePathOf } from '../graph/task';
import { answersOf } from './activity-item';
import type { NodeVisit } from './item';
import { spanOf, type Clock, type Moment } from './moment';
import { outcomeOf } from './node-outcome';

/** A visit that ran in workflow code, which only the graph can tell of. It took no time of the run's. */
export function visitItemOf(visit: FoldedVisit, at: Moment, clock: Clock): NodeVisit {
  const { task, step, visit: count, eventId, input, answers, outcome } = visit;
  return {
    kind: 'node',
    where: 'workflow',
    id: `${task}#${count}`,
    eventId,
    node: nodePathOf(task),
    task,
    step,
    visit: count,
    status: 'completed',
    span: spanOf(clock, at, at),
    attempts: [],
    input: { kind: 'json', value: input },
    sent: false,
    answers: answersOf(answers),
    once: {},
    outcome: outcomeOf({ kind: 'json', value: outcome as never }),
  };
}
