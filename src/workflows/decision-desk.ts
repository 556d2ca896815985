import { log, workflowInfo } from '@temporalio/workflow';
import type { Decision, Verdict } from '../graph/decision';
import type { StateEdit } from '../graph/edit-state';
import type { GraphEngine } from '../graph/engine';
import { messageOf, ThreadError } from '../graph/errors';
import type { ChildRuns } from './child-runs';
import { isPast, now } from './clock';
import { toFailure, toRunFailure } from './failures';
import type { Desk } from './inbox';
import type { ReportToParent } from './report-to-parent';

/** Whose decisions are judged, and who is told of them. */
export interface JudgedRun {
  readonly engine: GraphEngine;
  readonly children: ChildRuns;
  readonly report: ReportToParent | undefined;
  /** True for a decision that the run around this one passed on. */
  readonly isPassedOn: (decision: Decision) => boolean;
  /** True while the run rolls over, when nobody else tells what was judged. */
  readonly isRollingOver: () => boolean;
  /** The run does not stand any more as it did. */
  readonly onMove: () => void;
  /** The state is another, and what is shown of it. */
  readonly onEdit: () => void;
}

/** Judges what comes in to a run: its own decisions at once, those for a child's question by way of the child. */
export class DecisionDesk implements Desk {
  constructor(private readonly run: JudgedRun) {}

  /** The verdict, or the promise of a child's. */
  judge(decision: Decision): Verdict | Promise<Verdict> {
    const { engine, children, onMove } = this.run;
    // An update is judged when it comes. A signal may have waited in the history, so the timer's word is awaited. First of
    // all, for what expires here may leave a bare decision to a child's question, which is not to be answered here.
    if (decision.via === 'update' && isPast(engine.nextExpiry())) {
      engine.expire(now());
      onMove();
    }
    const elsewhere = orRefused(() => children.passOn(engine, decision, now()));
    if (!elsewhere) return this.judgeHere(decision);
    onMove();
    return elsewhere;
  }

  /** Writes to the state from outside. @throws the failure its sender is told. */
  edit(edit: StateEdit): void {
    const { engine, onEdit } = this.run;
    if (engine.status === 'running') {
      const { workflowId } = workflowInfo();
      const message = `Thread "${workflowId}" is running. Update its state while it waits, or when it has ended.`;
      throw toFailure(new ThreadError('THREAD_BUSY', message, workflowId));
    }
    try {
      engine.edit(edit, now());
    } catch (error) {
      throw toRunFailure(error);
    }
    onEdit();
  }

  private judgeHere(decision: Decision): Verdict {
    const { engine, report, isPassedOn, isRollingOver, onMove } = this.run;
    const verdict = orRefused(() => {
      const isGone = isPassedOn(decision) && engine.foresee(decision).kind === 'kept';
      return isGone ? NO_LONGER_OPEN : engine.decide(decision, now());
    });
    report?.judged(decision, verdict);
    if (isRollingOver()) report?.tell();
    if (verdict.kind === 'accepted') onMove();
    if (verdict.kind === 'refused' && decision.via === 'signal')
      log.warn('a decision was refused', { reason: verdict.message });
    return verdict;
  }
}

/** Judges what comes when the run has ended: refuses it. */
export const closedDesk: Desk = {
  judge: () => tooLate(),
  edit: () => {
    throw tooLateForEdits();
  },
};

/** What a decision is told that came after the end. */
export function tooLate(): Verdict {
  const message = `The run has ended; there is nothing left to decide on thread "${workflowInfo().workflowId}". Nothing changed.`;
  return { kind: 'refused', code: 'THREAD_FINISHED', message, open: [] };
}

/** What an edit is told that came after the end. */
export function tooLateForEdits(): Error {
  const { workflowId } = workflowInfo();
  return toFailure(new ThreadError('THREAD_FINISHED', `The run of thread "${workflowId}" has ended.`, workflowId));
}

const NO_LONGER_OPEN: Verdict = {
  kind: 'refused',
  code: 'QUESTION_UNKNOWN',
  message: 'The question is no longer open. Nothing changed.',
  open: [],
};

// A decision comes from outside: whatever it makes the engine throw is its own refusal, never the run's end.
function orRefused<T>(judge: () => T): T | Verdict {
  try {
    return judge();
  } catch (error) {
    const message = `The decision cannot be judged: ${messageOf(error)}. Nothing changed.`;
    return { kind: 'refused', code: 'DECISION_MALFORMED', message, open: [] };
  }
}
