import { spanOf, type Clock } from './moment';
import { firstPayload, payloadsOf } from './payload';
import { failureOf, nearestCause } from './read-failure';
import { endOf, type RunReader } from './read-run';
import type { Recorded } from './recorded';
import type { StopBuilder } from './stop-builder';
import type { Run } from './trace';
import { defined, objectOf, textOf, type Loose } from './untrusted';

const NO_INPUT: Recorded = { kind: 'missing', reason: 'The run was started without an input.' };

/** A run that has been read, as the trace shows it. */
export function buildRun({ run, fold }: RunReader, stops: readonly StopBuilder[], clock: Clock): Run {
  const { input, taskQueue, identity, continuedExecutionRunId, parentWorkflowExecution } = run.first.attributes;
  const end = endOf(run);
  const [given = NO_INPUT, carry] = payloadsOf(input);
  const isPaused = stops.at(-1)?.isPaused === true;
  return defined({
    runId: run.runId,
    number: 0,
    graph: run.graph,
    status: end ? ended(end.how) : isPaused ? 'waiting' : 'running',
    span: spanOf(clock, run.first.at, end?.event.at),
    input: given,
    carry,
    result: end?.how === 'done' ? firstPayload(end.event.attributes.result) : undefined,
    failure: nearestCause(failureOf(end?.event.attributes.failure)) ?? endedBadly(end?.how, end?.event.attributes),
    stops: stops.map((stop, index) => stop.build(clock, index + 1)),
    taskQueue: textOf(objectOf(taskQueue).name),
    startedBy: textOf(identity),
    previousRunId: textOf(continuedExecutionRunId),
    nextRunId: textOf(end?.event.attributes.newExecutionRunId),
    parent: parentOf(objectOf(parentWorkflowExecution)),
    events: run.recorded,
    folded: fold !== undefined && fold.broken === undefined,
  });
}

type Ended = NonNullable<ReturnType<typeof endOf>>['how'];

function ended(how: Ended): Run['status'] {
  return how === 'paused' ? 'waiting' : how;
}

function endedBadly(how: Ended | undefined, attributes: Loose | undefined): Run['failure'] {
  const reason = textOf(attributes?.reason);
  switch (how) {
    case 'cancelled':
      return { kind: 'cancelled', code: 'RUN_CANCELLED', message: 'The run was cancelled.', causes: [] };
    case 'terminated':
      return {
        kind: 'terminated',
        code: 'RUN_TERMINATED',
        message: `The run was terminated${reason ? `: ${reason}` : '.'}`,
        causes: [],
      };
    case 'timed-out':
      return { kind: 'timeout', code: 'RUN_TERMINATED', message: 'The run timed out.', causes: [] };
    default:
      return undefined;
  }
}

function parentOf({ workflowId, runId }: Loose): Run['parent'] {
  const id = textOf(workflowId);
  return id === undefined ? undefined : { workflowId: id, runId: textOf(runId) ?? '' };
}
