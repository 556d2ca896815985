import type { Json } from './json';
import type { Answer, AskedQuestion } from './question';

/** Where and as what a node's body runs. */
export interface NodeInfo {
  readonly threadId: string;
  readonly graph: string;
  readonly node: string;
  /** The task's id, `<step>.<node>`: the same for every attempt and every return from a pause. */
  readonly task: string;
  readonly step: number;
  /** How often this task was scheduled: 1, and one more for each pause it came back from. */
  readonly visit: number;
  /** Which try of this visit: 1, and one more for each retry. */
  readonly attempt: number;
  /** The same for every attempt and visit of the task, and no other's: hand it to services that take one. */
  readonly idempotencyKey: string;
}

/** What the room that runs a body lends it. */
export interface NodePorts {
  /** Aborts when the run is cancelled or the attempt times out. */
  readonly signal: AbortSignal;
  /** Called when `once` has a new result, so that it outlives the attempt. */
  readonly saveOnce: (results: Readonly<Record<string, Json>>) => void;
  /** Called with each chunk of progress, for whoever streams the run. */
  readonly write?: (chunk: Json) => void;
}

/** One attempt at a node's body: what it was given, and what it has asked so far. */
export class NodeRun {
  readonly asked: AskedQuestion[] = [];
  readonly once: Map<string, Json>;
  /** `pausing`: a question was asked in this very tick, more may join it. `closed`: nothing may be asked any more. */
  phase: 'running' | 'pausing' | 'closed' = 'running';
  /** The answer that did not fit, and why. */
  rejected: { readonly id: string; readonly reason: string } | undefined;
  readonly usedKeys = new Set<string>();
  /** Effects of `once` that have begun and not ended, by key. */
  readonly onceInFlight = new Map<string, Promise<unknown>>();
  /** Every answer handed over in this attempt. */
  readonly handedOver: Answer[] = [];
  private slots = 0;

  constructor(
    readonly info: NodeInfo,
    readonly answers: readonly Answer[],
    once: Readonly<Record<string, Json>>,
    readonly ports: NodePorts,
  ) {
    this.once = new Map(Object.entries(once));
  }

  /** Resolves when every effect that has begun has ended, however it did. */
  async settleOnce(): Promise<void> {
    if (this.onceInFlight.size > 0) await Promise.allSettled(this.onceInFlight.values());
  }

  /** The slot of a question without a key: its place among them. */
  nextSlot(): string {
    return String(this.slots++);
  }
}

/** What carries the running node through a body's awaits: an AsyncLocalStorage, whichever the room has. */
export interface NodeRunStorage {
  getStore(): NodeRun | undefined;
  run<T>(run: NodeRun, body: () => T): T;
}

// Under a global symbol, since a bundle or a linked package may load this module twice.
const STORAGE = Symbol.for('abeyance.nodeRunStorage');
const holder = globalThis as { [STORAGE]?: NodeRunStorage };

/** Lends the storage of this room to `interrupt` and its kin; the first one stays. */
export function provideNodeRunStorage(storage: NodeRunStorage): NodeRunStorage {
  return (holder[STORAGE] ??= storage);
}

/** The node that runs here, if one does. */
export function currentNodeRun(): NodeRun | undefined {
  return holder[STORAGE]?.getStore();
}

/** Runs a body as this node. */
export function withNodeRun<T>(run: NodeRun, body: () => T): T {
  const storage = holder[STORAGE];
  if (!storage) throw new Error('no room has lent a storage for running nodes');
  return storage.run(run, body);
}
