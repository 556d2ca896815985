import type { Json } from '../graph/json';
import type { DecisionEntry, Entry } from './decision-entry';
import type { Wait } from './item';
import { spanOf, type Clock, type Moment } from './moment';
import type { QuestionAsked } from './node-outcome';
import { defined } from './untrusted';

/** A question as it stands in the run. */
export interface QuestionPlaced extends QuestionAsked {
  readonly node: string;
  readonly task: string;
}

/** A wait while the run is being read. */
export class WaitEntry implements Entry {
  status: Wait['status'] = 'open';
  decision: DecisionEntry | undefined;
  answer: Json | undefined;
  expiresAt: string | undefined;
  /** The workflow task that closed it. */
  closedBy: string | undefined;
  readonly refused: DecisionEntry[] = [];
  private to: Moment | undefined;
  private isPublished = false;
  private readonly sentBack: { readonly reason: string; readonly at: Moment; readonly decision?: DecisionEntry }[] = [];

  constructor(
    readonly question: QuestionPlaced,
    private from: Moment,
  ) {}

  get isOpen(): boolean {
    return this.status === 'open';
  }

  /** The question is out in the open only now. */
  publish(at: Moment): void {
    if (!this.isPublished) this.from = at;
    this.isPublished = true;
  }

  close(status: Wait['status'], at: Moment, decision?: DecisionEntry): void {
    this.status = status;
    this.decision = decision;
    // A decision may have come before its question.
    this.to = at.ms < this.from.ms ? this.from : at;
    if (!decision) return;
    decision.placed = true;
    if (decision.at.ms < this.from.ms) decision.early = true;
  }

  reopen(reason: string, at: Moment): void {
    if (this.status !== 'answered') return;
    this.sentBack.push(defined({ reason, at, decision: this.decision }));
    this.status = 'open';
    this.to = undefined;
    this.decision = undefined;
    this.answer = undefined;
  }

  refuse(decision: DecisionEntry): void {
    decision.placed = true;
    this.refused.push(decision);
  }

  build(clock: Clock): Wait {
    const { id, kind, node, task, value, digest, schema, allow, call } = this.question;
    return defined({
      kind: 'wait' as const,
      question: id,
      asks: kind,
      node,
      task,
      value,
      digest,
      schema,
      allow,
      call,
      expiresAt: this.expiresAt,
      status: this.status,
      span: spanOf(clock, this.from, this.to),
      decision: this.decision?.made(clock),
      answer: this.answer,
      refused: this.refused.map((decision) => decision.made(clock)),
      sentBack: this.sentBack.map(({ reason, at, decision }) =>
        defined({ reason, at: at.iso, decision: decision?.made(clock) }),
      ),
    });
  }
}
