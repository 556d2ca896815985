import type { Scene } from './scene';
import type { Stage } from './stage';

type Report = `L${number}` | `T${number}`;

/** What a case belongs to: a rule of the law in docs/engine.md, a part of the engine, or a fault that users reported. */
export type Rule = `law ${number}` | Part | Report;

type Part =
  | 'state'
  | 'messages'
  | 'supersteps'
  | 'routing'
  | 'commands'
  | 'threads'
  | 'subgraphs'
  | 'breakpoints'
  | 'caching'
  | 'error handlers'
  | 'hidden values'
  | 'node inputs'
  | 'state from outside'
  | 'history'
  | 'forks'
  | 'retries'
  | 'approvals'
  | 'deadlines'
  | 'agents'
  | 'local nodes'
  | 'streaming';

/** One rule, shown on one small graph by what it must come to. */
export interface ConformanceCase {
  /** The rule and the sentence: unique. */
  readonly id: string;
  readonly rule: Rule;
  readonly scene: Scene;
  /** Plays the case on a thread of its own, against the words that both drivers share; throws where it fails. */
  readonly play: (stage: Stage) => Promise<void>;
}

/** Cases of one rule on one scene, by sentence. */
export function cases(
  rule: Rule,
  scene: Scene,
  plays: Readonly<Record<string, (stage: Stage) => Promise<void>>>,
): ConformanceCase[] {
  return Object.entries(plays).map(([sentence, play]) => ({ id: `${rule}: ${sentence}`, rule, scene, play }));
}

/** One case for each row of a table: its sentence, and what the play is given beside the stage. */
export function casesOf(
  rule: Rule,
  scene: Scene,
  rows: readonly (readonly [sentence: string, ...args: any[]])[],
  play: (stage: Stage, ...args: any[]) => Promise<void>,
): ConformanceCase[] {
  return rows.map(([sentence, ...args]) => ({
    id: `${rule}: ${sentence}`,
    rule,
    scene,
    play: (stage) => play(stage, ...args),
  }));
}
