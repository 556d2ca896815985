import type { Command, END, Goto, NoCommand, ParentCommand, Send } from './commands';
import type { NodeMap } from './state-graph';
import type { Fields, UpdateOf } from './state-schema';

type Nothing = void | undefined | null;
type KeysOfEach<U> = U extends unknown ? keyof U : never;
type AnyCommand = Command<any, any, any>;

// Makes every key of an update that the state does not have an error.
type KnownKeys<F extends Fields, U> = {
  readonly [K in Exclude<KeysOfEach<U>, keyof F | keyof NoCommand>]: never;
};

type CheckedUpdate<F extends Fields, U> = [U] extends [never] ? never : UpdateOf<F> & KnownKeys<F, U> & NoCommand;

/** Those of these targets that the graph does not have, and the Sends that do not fit their node. */
export type LostOf<N extends NodeMap, G> =
  G extends Send<infer K, any> ? (G extends SendTo<N, K> ? never : G) : Exclude<G, keyof N | typeof END | undefined>;

type KnownGoto<N extends NodeMap, G> = [LostOf<N, Named<Each<G>>>] extends [never]
  ? unknown
  : Command<any, Goto<(keyof N & string) | SendTo<N, keyof N & string>>, any>;

// One for the parent graph is checked when it gets there.
type CheckedCommand<F extends Fields, N extends NodeMap, C> = C extends ParentCommand
  ? C
  : C extends Command<infer U, infer G, any>
    ? KnownGoto<N, G> & (string extends keyof U ? Command<any, any> : Command<UpdateOf<F> & KnownKeys<F, U>, any>)
    : never;

type CheckedList<F extends Fields, N extends NodeMap, L> = L extends readonly (infer I)[]
  ? readonly Checked<F, N, I>[]
  : never;

// While a body's own type is not known yet, this is what its literals are read against.
type Expected<F extends Fields, N extends NodeMap> =
  UpdateOf<F> | Command<UpdateOf<F>, Goto<(keyof N & string) | Send>>;

/** What a body that returns `R` may return: an update, a command, or a list of them, with no key the state does not have. */
export type Checked<F extends Fields, N extends NodeMap, R> = unknown extends R
  ? Expected<F, N> | readonly Expected<F, N>[]
  : | Extract<R, Nothing>
    | CheckedCommand<F, N, Extract<R, AnyCommand>>
    | CheckedList<F, N, Extract<R, readonly unknown[]>>
    | CheckedUpdate<F, Exclude<R, Nothing | AnyCommand | readonly unknown[]>>;

type MaybePromise<T> = T | Promise<T>;

type OneResult<F extends Fields> = UpdateOf<F> | Command<UpdateOf<F>> | ParentCommand;

/** What may stand for the result of a node, as far as the state alone tells; its literals are read against it. */
export type Result<F extends Fields> = Nothing | OneResult<F> | readonly OneResult<F>[];

/** The same for a body that may be asynchronous. */
export type NodeResult<F extends Fields> = MaybePromise<Result<F>>;

type UnknownKeys<F extends Fields, R> = unknown extends R
  ? never
  : R extends Nothing | ParentCommand
    ? never
    : R extends readonly (infer I)[]
      ? UnknownKeys<F, I>
      : R extends Command<infer U, any, any>
        ? UnknownKeys<F, U>
        : Exclude<keyof R, keyof F | keyof NoCommand | (string extends keyof R ? string : never)>;

/** Makes an update an error that has a key which the state does not have. */
export type OnlyKnown<F extends Fields, U> = [UnknownKeys<F, U>] extends [never]
  ? unknown
  : `The state has no key ${UnknownKeys<F, U> & string}`;

/** Makes a node an error whose body writes such a key. */
export type CheckedNode<F extends Fields, U> = [UnknownKeys<F, Awaited<U>>] extends [never]
  ? unknown
  : { readonly Returns?: OnlyKnown<F, Awaited<U>> };

/** Where what a body returns goes, nodes and Sends, where its type tells. */
export type GotoOf<R> = unknown extends R
  ? never
  : R extends readonly (infer I)[]
    ? GotoOf<I>
    : R extends Command<any, infer G, undefined>
      ? Named<Each<G>>
      : never;

type Each<G> = G extends readonly (infer E)[] ? E : G;

/** Those of these targets whose name is known. */
export type Named<G> = G extends Send<infer K, any> ? (string extends K ? never : G) : string extends G ? never : G;

// A Send keeps the literals of what it carries, and so its lists are read-only. Below some depth anything fits: JSON has none.
type Sendable<T, Depth extends readonly 0[] = []> = unknown extends T
  ? T
  : Depth['length'] extends 4
    ? any
    : { readonly [K in keyof T]: Sendable<T[K], readonly [...Depth, 0]> };

/** A Send to one of these nodes; what it carries to a node with an input of its own must fit that. */
export type SendTo<N extends NodeMap, K extends string> = K extends keyof N
  ? [N[K]['input']] extends [never]
    ? Send<K>
    : Send<K, Sendable<N[K]['input']>>
  : never;
