import { CancellationScope, condition, setHandler } from '@temporalio/workflow';
import {
  readDecision,
  type Decision,
  type DecisionDetails,
  type DecisionRequest,
  type Verdict,
} from '../graph/decision';
import { requestOfPayload } from '../graph/decision-payload';
import { AbeyanceError, DecisionRefusedError, ThreadError } from '../graph/errors';
import { sendableRecords } from '../graph/compact-snapshot';
import type { StateEdit } from '../graph/edit-state';
import type { Json } from '../graph/json';
import type { RolledOver, Stop } from '../graph/run-view';
import { toFailure } from './failures';
import type { GraphRun } from './graph-run';
import {
  approveSignal,
  childReportSignal,
  decideUpdate,
  decisionsQuery,
  denySignal,
  editSignal,
  graphQuery,
  passedOnSignal,
  pendingQuery,
  respondSignal,
  resumeSignal,
  resumeUpdate,
  snapshotQuery,
  stateQuery,
  untilStoppedUpdate,
  updateStateUpdate,
  type DecisionReply,
  type Expected,
  type PassedOnPayload,
  type Waiting,
} from './messages';
import { turn } from './turn';

const PAYLOAD = 'Payload optional: { question?, node?, digest?, by?, note?, decisionId? }.';

/**
 * Opens every door of a run. To be called before anything is awaited: messages that are there already come in at once.
 *
 * Handlers only hand decisions to the loop, for a message can overtake the result that makes sense of it. Validators
 * refuse what no later event could make right.
 */
export function openDoors(run: GraphRun): void {
  openSignals(run);
  openUpdates(run);
  setHandler(stateQuery, () => run.shown(), { description: 'Where the run stands.' });
  setHandler(pendingQuery, () => run.shown().questions, { description: 'The open questions.' });
  setHandler(decisionsQuery, () => sendableRecords(run.decisions()), {
    description: 'Every decision and what became of it.',
  });
  setHandler(snapshotQuery, () => run.snapshot(), { description: 'The whole run, for one that takes it up.' });
  setHandler(graphQuery, () => run.graph.describe(), { description: 'The nodes and edges of the graph.' });
}

function openSignals(run: GraphRun): void {
  const receive = (type: Decision['type'], request: () => unknown): void => {
    try {
      void run.decide(readDecision(request(), 'signal'));
    } catch (error) {
      run.recordUnreadable(type, refusalOf(error));
    }
  };
  setHandler(approveSignal, (payload) => receive('approve', () => requestOfPayload('approve', payload)), {
    description: `Approves the open question. ${PAYLOAD}`,
  });
  setHandler(denySignal, (payload) => receive('deny', () => requestOfPayload('deny', payload)), {
    description: `Denies the open question. ${PAYLOAD}`,
  });
  setHandler(editSignal, (payload) => receive('edit', () => requestOfPayload('edit', payload)), {
    description:
      'Approves with other arguments, where the question allows it. Payload: { args, question?, by?, note?, … }.',
  });
  setHandler(respondSignal, (payload) => receive('respond', () => requestOfPayload('respond', payload)), {
    description:
      'Answers in the place of the call, where the question allows it. Payload: the text, or { response, question?, by?, … }.',
  });
  setHandler(resumeSignal, (value, details) => receive('resume', () => resumeRequest(value, details)), {
    description: 'Answers the open question with the first argument, or with a map of question ids to answers.',
  });
  setHandler(passedOnSignal, (payload) => receivePassedOn(run, payload), {
    description: 'Internal: a decision that the run around this one passes on.',
  });
  setHandler(childReportSignal, (report) => run.hear(report), {
    description: 'Internal: where a subgraph that runs as a child workflow stands.',
  });
}

async function receivePassedOn(run: GraphRun, payload: PassedOnPayload): Promise<void> {
  try {
    await run.decidePassedOn(payload);
  } catch (error) {
    run.recordUnreadable('resume', refusalOf(error));
  }
}

function openUpdates(run: GraphRun): void {
  setHandler(
    decideUpdate,
    async (request: DecisionRequest, waiting: Waiting | undefined) =>
      reply(run, readDecision(request, 'update'), waiting?.waitFor === 'stop'),
    {
      validator: (request, waiting) =>
        checked(() => {
          expectGraph(run, waiting);
          readDecision(request, 'update');
        }),
      description: 'Decides a question; refuses what cannot be right.',
    },
  );
  setHandler(
    resumeUpdate,
    async (value: Json, details: DecisionDetails | undefined) =>
      reply(run, readDecision(resumeRequest(value, details), 'update'), true),
    {
      validator: (value, details) => checked(() => readDecision(resumeRequest(value, details), 'update')),
      description: 'Answers, and replies where the run stops next.',
    },
  );
  setHandler(updateStateUpdate, (edit: StateEdit | null | undefined) => run.edit((edit ?? {}) as StateEdit), {
    validator: (_, expected) => checked(() => expectGraph(run, expected)),
    description: 'Writes to the state while the run waits.',
  });
  setHandler(untilStoppedUpdate, async (_expected: Expected | undefined) => stopOf(run), {
    validator: (expected) => checked(() => expectGraph(run, expected)),
    description: 'Replies when the run waits or has ended.',
  });
}

function resumeRequest(value: Json | undefined, details: DecisionDetails | null | undefined): unknown {
  if (!isDetails(details)) return details;
  return { ...details, type: 'resume', value: value ?? null };
}

// Spread, a text would become one key for each of its characters, and a number would vanish.
function isDetails(details: unknown): details is DecisionDetails | null | undefined {
  return details === undefined || details === null || (typeof details === 'object' && !Array.isArray(details));
}

async function reply(run: GraphRun, decision: Decision, untilStop: boolean): Promise<DecisionReply> {
  const verdict = await run.decide(decision);
  if (verdict.kind === 'refused')
    throw toFailure(new DecisionRefusedError(verdict.code, verdict.message, verdict.open));
  return untilStop ? { verdict, stop: await stopOf(run) } : { verdict };
}

// A run that is cancelled stops too, and its callers are told so. What came together with the question may end a pause.
async function stopOf(run: GraphRun): Promise<Stop | RolledOver> {
  let reached: Stop | RolledOver | undefined;
  await CancellationScope.nonCancellable(async () => {
    await turn();
    await condition(() => (reached = run.reached) !== undefined);
  });
  return reached as unknown as Stop | RolledOver;
}

function expectGraph(run: GraphRun, expected: Partial<Expected> | undefined): void {
  if (expected?.graph === undefined || expected.graph === run.graph.name) return;
  const message = `This thread runs graph "${run.graph.name}", not "${expected.graph}". Use another thread id.`;
  throw new ThreadError('THREAD_OF_OTHER_GRAPH', message, '');
}

function checked(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw error instanceof AbeyanceError ? toFailure(error) : error;
  }
}

function refusalOf(error: unknown): Extract<Verdict, { kind: 'refused' }> {
  const { code, message } =
    error instanceof DecisionRefusedError ? error : new DecisionRefusedError('DECISION_MALFORMED', String(error));
  return { kind: 'refused', code, message, open: [] };
}
