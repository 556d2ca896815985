import type { Json } from './json';
import type { ApprovalAction } from './question';

/** The virtual node every run starts at. */
export const START = '__start__';

/** The virtual node that ends a branch. */
export const END = '__end__';

/** The key under which `invoke` returns the questions of a paused run. */
export const INTERRUPT = '__interrupt__';

/** Marks instances so that they are known across a module loaded twice, where `instanceof` fails. */
const KIND = Symbol.for('abeyance.kind');

/**
 * Runs a node with an input of its own, beside the run's state, in the next superstep.
 *
 * @example return items.map((item) => new Send('pack', { item }));
 */
export class Send<N extends string = string, const I = unknown> {
  readonly [KIND] = 'send';
  constructor(
    readonly node: N,
    readonly input: I,
  ) {}
}

/**
 * Replaces a reduced value instead of folding into it.
 *
 * @example return { messages: new Overwrite([]) };
 */
export class Overwrite<V = unknown> {
  readonly [KIND] = 'overwrite';
  constructor(readonly value: V) {}
}

/** One target, or several, of a `goto` or a router; of these, where they are named. */
export type Goto<N extends string | Send = string | Send> = N | typeof END | readonly (N | typeof END)[];

/** Names the graph around a subgraph, as the target of a command. */
const PARENT = '__parent__';

/** Whose command it is: this graph's own, or one for the graph around it. */
export type CommandTarget = typeof PARENT | undefined;

/** What a `Command` may carry. */
export interface CommandFields<U = object, G extends Goto = Goto, P extends CommandTarget = undefined> {
  /** Answers the open question, or a map of question ids to answers. */
  readonly resume?: unknown;
  /** Written to the state as if a node had returned it. */
  readonly update?: U;
  /** Nodes to run next, beside those the edges name. */
  readonly goto?: G;
  /** `Command.PARENT`: `update` and `goto` are for the graph around this subgraph, which ends with them. */
  readonly graph?: P;
}

/**
 * Steers a run: from a node, `update` and `goto`; from a client, `resume`.
 *
 * @example await graphs.invoke(order, new Command({ resume: true }), { threadId: 'order-42' });
 */
export class Command<U = object, const G extends Goto = Goto, P extends CommandTarget = undefined> {
  /** The graph around the subgraph that a node runs in. */
  static readonly PARENT: typeof PARENT = PARENT;
  readonly [KIND] = 'command';
  /** Type only. */
  declare readonly isForParent?: P extends undefined ? false : true;
  readonly graph: P;
  readonly resume: unknown;
  readonly update: U | undefined;
  readonly goto: G | undefined;
  /** Tells `new Command({ resume: undefined })` from a command that resumes nothing. */
  readonly resumes: boolean;

  constructor(fields: CommandFields<U, G, P>) {
    this.resumes = 'resume' in fields;
    this.resume = fields.resume;
    this.update = fields.update;
    this.goto = fields.goto;
    this.graph = fields.graph as P;
  }
}

/** Type only: a command for the graph around a subgraph, whatever it says. */
export interface ParentCommand {
  readonly [KIND]: 'command';
  readonly isForParent?: true;
}

/** Type only: what is no command, nor anything else of these. */
export interface NoCommand {
  readonly [KIND]?: never;
}

/** A question as `invoke` returns it. */
export interface Interrupt<V = unknown> {
  readonly id: string;
  readonly value: V;
  /** What may be decided, where it is not just approve and deny. */
  readonly allow?: readonly ApprovalAction[];
  /** When it is no longer waited for, ISO 8601, where it has a deadline. */
  readonly expiresAt?: string;
  /** Why the last answer was sent back, where one was. */
  readonly rejected?: string;
}

/** True where a run returned because it waits for an answer. */
export function isInterrupted<V = unknown>(
  result: unknown,
): result is { readonly [INTERRUPT]: readonly [Interrupt<V>, ...Interrupt<V>[]] } {
  if (typeof result !== 'object' || result === null) return false;
  const questions = (result as Record<string, unknown>)[INTERRUPT];
  return Array.isArray(questions) && questions.length > 0;
}

function isOfKind(value: unknown, kind: string): boolean {
  return typeof value === 'object' && value !== null && (value as { [KIND]?: unknown })[KIND] === kind;
}

/** True for a `Send`, also one made by another copy of this module. */
export function isSend(value: unknown): value is Send {
  return isOfKind(value, 'send');
}

/** True for an `Overwrite`, also one made by another copy of this module. */
export function isOverwrite(value: unknown): value is Overwrite {
  return isOfKind(value, 'overwrite');
}

/** True for a `Command`, also one made by another copy of this module. */
export function isCommand(value: unknown): value is Command<any, any, any> {
  return isOfKind(value, 'command');
}

/** A goto as it is recorded. */
export type GotoRecord = { readonly kind: 'node'; readonly node: string } | SendRecord;

/** A `Send` as it is recorded. */
export interface SendRecord {
  readonly kind: 'send';
  readonly node: string;
  readonly input: Json;
}
