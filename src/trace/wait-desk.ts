import type { Json } from '../graph/json';
import { DecisionEntry } from './decision-entry';
import type { HistoryEvent } from './history-event';
import type { NodeVisit } from './item';
import type { Moment } from './moment';
import { objectOf } from './untrusted';
import { WaitEntry, type QuestionPlaced } from './wait-entry';

/** A question as a run shows it. */
export interface QuestionShown extends QuestionPlaced {
  readonly askedAt?: Moment;
  /** When it is no longer waited for, ISO 8601. */
  readonly expiresAt?: string;
  /** Why the last answer was sent back. */
  readonly rejected?: string;
}

/** Keeps a run's questions while it is being read: which are open, who decided them, what was refused. */
export class WaitDesk {
  private readonly waits: WaitEntry[] = [];
  /** Whose last verdict is not known yet. */
  private readonly undecided: DecisionEntry[] = [];
  /** Accepted before their question was seen. */
  private readonly early = new Map<string, DecisionEntry>();
  /** When the last decision came that answered, or may have. */
  latest: Moment | undefined;
  /** The last timer that fired. */
  private timer: HistoryEvent | undefined;

  constructor(private readonly began: Moment) {}

  get open(): readonly WaitEntry[] {
    return this.waits.filter(({ isOpen }) => isOpen);
  }

  /** A node asks; gives the waits that are new. */
  ask(questions: readonly QuestionPlaced[], at: Moment): readonly WaitEntry[] {
    return questions.flatMap((question) => {
      const before = this.find(question.id);
      if (before?.isOpen && before.question.digest === question.digest) return [];
      if (before?.isOpen) before.close('withdrawn', at);
      return [this.begin(question, at)];
    });
  }

  /** The run shows its open questions; what it no longer shows is closed. Gives the waits that are new. */
  publish(shown: readonly QuestionShown[], at: Moment, workflowTask: string): readonly WaitEntry[] {
    const openBefore = this.open;
    const begun = shown.flatMap(({ rejected, askedAt: _asked, expiresAt: _expires, ...question }) => {
      const same = this.find(question.id);
      if (same?.question.digest !== question.digest) return this.ask([question], at);
      if (rejected !== undefined) same.reopen(rejected, at);
      if (same.status === 'answered') return this.ask([question], at);
      return [];
    });
    for (const wait of openBefore) {
      if (shown.some(({ id }) => id === wait.question.id)) continue;
      this.closeUnseen(wait, at);
      wait.closedBy = workflowTask;
    }
    for (const { id, askedAt, expiresAt } of shown) {
      const wait = this.find(id);
      if (wait) wait.expiresAt = expiresAt;
      // One that an earlier run asked has waited since then.
      if (wait?.isOpen) wait.publish(askedAt && askedAt.ms < this.began.ms ? askedAt : at);
    }
    return begun;
  }

  /** Puts a decision where it belongs; true where it lets the run go on. */
  decide(entry: DecisionEntry): boolean {
    const verdict = entry.known;
    if (verdict === undefined || verdict.kind === 'kept') {
      this.undecided.push(entry);
      if (!verdict) this.latest = entry.at;
      return false;
    }
    if (verdict.kind === 'refused') {
      this.meant(entry)?.refuse(entry);
      return false;
    }
    if (verdict.kind === 'unknown') return false;
    this.latest = entry.at;
    const open = verdict.questions.map((id) => [id, this.find(id)] as const);
    for (const [id, wait] of open) {
      if (wait?.isOpen) this.answer(wait, entry);
      else if (!wait) this.early.set(id, entry);
    }
    return open.some(([, wait]) => wait?.decision === entry);
  }

  /** A task runs again with these answers: its questions are settled, if they were not before. */
  hand(answers: NodeVisit['answers'], at: Moment): void {
    for (const { id, value, ...said } of answers) {
      const wait = this.find(id);
      if (!wait) continue;
      if (wait.isOpen && said.via === 'deadline') this.expireWait(wait, at);
      else if (wait.isOpen) {
        const entry = this.sender(wait, said);
        if (entry) this.answer(wait, entry);
        else wait.close('answered', at);
      }
      if (wait.status === 'answered' || wait.status === 'expired') wait.answer = value;
    }
  }

  /** A timer fired; where a question has expired by then, the run goes on, unless a decision came first. */
  fired(timer: HistoryEvent): void {
    this.timer = timer;
    if (this.open.some((wait) => isOver(wait, timer.at))) this.latest = timer.at;
  }

  sendBack(question: string, reason: string, at: Moment): void {
    this.find(question)?.reopen(reason, at);
  }

  /** The run is over, or rolled over; what its last workflow task no longer showed was dropped with it. */
  end(status: 'dropped' | 'carried', at: Moment, workflowTask: string): void {
    for (const wait of this.waits) {
      if (wait.isOpen) wait.close(status, at);
      else if (wait.status === 'withdrawn' && wait.closedBy === workflowTask) wait.status = status;
    }
  }

  private find(id: string): WaitEntry | undefined {
    return this.waits.findLast(({ question }) => question.id === id);
  }

  private begin(question: QuestionPlaced, at: Moment): WaitEntry {
    const wait = new WaitEntry(question, at);
    this.waits.push(wait);
    const early = this.early.get(question.id);
    if (early) {
      this.early.delete(question.id);
      this.answer(wait, early);
    }
    return wait;
  }

  private answer(wait: WaitEntry, entry: DecisionEntry): void {
    wait.close('answered', entry.at, entry);
    const { type, value } = entry.arrived.made;
    if (wait.question.kind === 'approval') return;
    wait.answer = type === 'resume' ? answerFor(wait.question.id, value) : type === 'approve';
  }

  // Signals leave no verdict, so the last one that could have answered is taken to be it.
  private closeUnseen(wait: WaitEntry, at: Moment): void {
    const entry = this.sender(wait, {});
    if (entry) this.answer(wait, entry);
    else if (isOver(wait, at)) this.expireWait(wait, at);
    else wait.close('withdrawn', at);
  }

  private expireWait(wait: WaitEntry, at: Moment): void {
    const { timer } = this;
    const entry = timer && isOver(wait, timer.at) ? expiryOf(wait, timer) : undefined;
    wait.close('expired', entry?.at ?? at, entry);
  }

  private sender(
    wait: WaitEntry,
    said: { readonly by?: string; readonly decision?: string; readonly via?: string },
  ): DecisionEntry | undefined {
    const entry = this.undecided.findLast((one) => {
      const { by, decisionId, via } = one.arrived.made;
      if (!aimsAt(one, wait.question) || (one.placed && !isMap(one))) return false;
      if (said.via !== undefined && said.via !== via) return false;
      if (said.decision !== undefined && said.decision !== decisionId) return false;
      return said.by === undefined || said.by === by;
    });
    entry?.conclude(wait.question.id);
    return entry;
  }

  private meant(entry: DecisionEntry): WaitEntry | undefined {
    const { question } = entry.arrived.made;
    if (question !== undefined) return this.find(question);
    const aimed = this.open.filter((wait) => aimsAt(entry, wait.question));
    return aimed.length === 1 ? aimed[0] : undefined;
  }
}

function aimsAt({ arrived: { made } }: DecisionEntry, { id, node }: QuestionPlaced): boolean {
  if (made.question !== undefined) return made.question === id;
  if (made.node !== undefined) return made.node === node;
  const keys = Object.keys(objectOf(made.value));
  return made.type !== 'resume' || keys.length === 0 || keys.includes(id) || !keys.some((key) => key.includes(':'));
}

function isMap({ arrived: { made } }: DecisionEntry): boolean {
  return made.type === 'resume' && made.question === undefined && Object.keys(objectOf(made.value)).length > 0;
}

/** A resume may answer several questions by their ids. */
function answerFor(id: string, value: Json | undefined): Json | undefined {
  const many = objectOf(value) as { readonly [key: string]: Json };
  return Object.hasOwn(many, id) ? many[id] : value;
}

function isOver({ expiresAt }: WaitEntry, at: Moment): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= at.ms;
}

/** The end of a wait by its deadline, as the decision it is. */
function expiryOf({ question: { id: question } }: WaitEntry, event: HistoryEvent): DecisionEntry {
  const made = {
    type: 'expire',
    via: 'deadline',
    door: 'timer',
    question,
    eventId: event.id,
    at: event.at.iso,
  } as const;
  return new DecisionEntry({ event, made }, { kind: 'accepted', questions: [question] }, 'history');
}
