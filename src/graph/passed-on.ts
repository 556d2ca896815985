import type { Decision, Verdict } from './decision';
import { digestOfDecision } from './ledger';

/** A decision on its way to the run of a subgraph, which judges it. */
export interface PassedDecision {
  /** By which its verdict is known again. */
  readonly token: string;
  readonly task: string;
  readonly decision: Decision;
}

/** A decision whose verdict others have to give. */
export interface AwaitedDecision {
  /** As it came. */
  readonly decision: Decision;
  /** The questions it is for that are this run's own, which have their answers. */
  readonly own: readonly string[];
  /** Its place in the ledger, where it was kept before. */
  readonly record?: number;
  /** What is told by those that judge, by their task. */
  readonly parts: ReadonlyMap<string, Verdict | undefined>;
}

/** A decision on which all who judge have told their verdict. */
export interface JudgedDecision extends AwaitedDecision {
  readonly token: string;
  readonly parts: ReadonlyMap<string, Verdict>;
}

/** Decisions that were passed on to runs of subgraphs and have no verdict yet. No part of a snapshot: those runs end with this one. */
export class PassedOn {
  private readonly awaited = new Map<string, AwaitedDecision>();
  private outbox: PassedDecision[] = [];
  private count = 0;

  get isEmpty(): boolean {
    return this.awaited.size === 0;
  }

  /** True while a kept decision is on its way. */
  has(record: number): boolean {
    return [...this.awaited.values()].some((one) => one.record === record);
  }

  /** By its id, a decision that is on its way: under which token, and whether it says the same. */
  sentAs(decision: Decision): { readonly token: string; readonly isSame: boolean } | undefined {
    const { decisionId: id } = decision;
    const sent = [...this.awaited].find(([, one]) => id !== undefined && one.decision.decisionId === id);
    if (!sent) return undefined;
    const [token, { decision: other }] = sent;
    return { token, isSame: digestOfDecision(other) === digestOfDecision(decision) };
  }

  /** Passes a decision on, to each subgraph its part; gives the token by which it is known. */
  add(whole: Omit<AwaitedDecision, 'parts'>, parts: ReadonlyMap<string, Decision>): string {
    const token = `${++this.count}`;
    this.awaited.set(token, { ...whole, parts: new Map([...parts.keys()].map((task) => [task, undefined])) });
    for (const [task, decision] of parts) this.outbox.push({ token, task, decision });
    return token;
  }

  /** Takes what is to be sent; each is given out once. */
  take(): readonly PassedDecision[] {
    const taken = this.outbox;
    this.outbox = [];
    return taken;
  }

  /** Writes a verdict down; gives the decision where it was the last one missing. */
  judged(task: string, token: string, verdict: Verdict): JudgedDecision | undefined {
    const before = this.awaited.get(token);
    if (!before?.parts.has(task)) return undefined;
    const parts = new Map(before.parts).set(task, verdict);
    this.awaited.set(token, { ...before, parts });
    if ([...parts.values()].includes(undefined)) return undefined;
    this.awaited.delete(token);
    return { ...before, token, parts: parts as ReadonlyMap<string, Verdict> };
  }

  /** The decisions that a subgraph has not judged. */
  awaiting(task: string): readonly string[] {
    return [...this.awaited].filter(([, { parts }]) => parts.has(task) && !parts.get(task)).map(([token]) => token);
  }
}
