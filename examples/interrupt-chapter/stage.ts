import { randomUUID } from 'node:crypto';
import type { GraphRunner } from 'abeyance';
import type { SideEffects } from './side-effects';

/** One run of a scenario, as it is reported. */
export interface ScenarioReport {
  readonly scenario: string;
  readonly mode: 'mock' | 'live';
  readonly driver: 'server' | 'memory';
  readonly duration_ms: number;
  readonly steps: readonly { readonly name: string; readonly duration_ms: number }[];
  /** What was observed, by key; in order, where a key was observed more than once. */
  readonly observations: Readonly<Record<string, unknown>>;
  readonly threads: readonly string[];
}

/** What a scenario plays on: graphs to run, the world to look at, and a notebook. */
export class Stage {
  readonly threads: string[] = [];
  private readonly steps: { name: string; duration_ms: number }[] = [];
  private readonly seen = new Map<string, unknown[]>();

  constructor(
    readonly graphs: GraphRunner,
    readonly effects: SideEffects,
    private readonly mode: ScenarioReport['mode'] = 'mock',
  ) {}

  /** A thread id of this scenario's own. */
  newThread(name: string): string {
    const id = `${name}-${randomUUID().slice(0, 8)}`;
    this.threads.push(id);
    return id;
  }

  /** Plays one step and notes how long it took. */
  async step<T>(name: string, play: () => Promise<T>): Promise<T> {
    const before = performance.now();
    try {
      return await play();
    } finally {
      this.steps.push({ name, duration_ms: since(before) });
    }
  }

  /** Notes an observation. */
  observe(key: string, value: unknown): void {
    this.seen.set(key, [...(this.seen.get(key) ?? []), value]);
  }

  report(scenario: string, driver: ScenarioReport['driver'], before: number): ScenarioReport {
    const observations = Object.fromEntries(
      [...this.seen].map(([key, values]) => [key, values.length === 1 ? values[0] : values]),
    );
    return {
      scenario,
      mode: this.mode,
      driver,
      duration_ms: since(before),
      steps: this.steps,
      observations,
      threads: this.threads,
    };
  }
}

function since(before: number): number {
  return Math.round((performance.now() - before) * 10) / 10;
}
