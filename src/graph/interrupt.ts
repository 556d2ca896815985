import type { z } from 'zod';
import { answerSchemaOf } from './answer-schema';
import { digestOf } from './digest';
import { explainMismatch, shortened } from './explain-mismatch';
import { GraphRunError, NodeContextError, StateError } from './errors';
import { NotJsonError, toJson, type Json } from './json';
import type { Duration } from './node-definition';
import type { NodeInfo, NodeRun } from './node-run';
import { termsOf } from './question-terms';
import { refuseAfterPause, runningNode } from './running-node';
import type { Answer, ApprovalAction, ApprovalDecision, AskedQuestion, CallShown, QuestionKind } from './question';
import { writeChunk } from './write-chunk';

/** How a question is asked. */
export interface InterruptOptions<S extends z.ZodType | undefined = undefined> {
  /** Names the question within its node. Needed where the order of questions can change between runs, as under `Promise.all`. */
  readonly key?: string;
  /** What an answer must be; one that does not fit is sent back and the question stays open. */
  readonly schema?: S;
  /** Asks for an approval: the answer is the whole decision `{ type, by, note }`, not just `true` or `false`. */
  readonly approval?: boolean;
  /** Of an approval: what may be decided; default approve and deny. */
  readonly allow?: readonly ApprovalAction[];
  /**
   * How long the question waits: ms, or a duration such as `'1 hour'`; default for ever. Counted from when it is first
   * asked; an answer that is sent back does not start it again. An approval that expires is handed `{ type: 'timeout' }`.
   */
  readonly deadline?: Duration;
  /** The answer where the deadline passes, as JSON; shown with the question. Without it the node fails then. */
  readonly otherwise?: S extends z.ZodType ? z.input<S> : unknown;
}

const PAUSE = Symbol.for('abeyance.pause');

/** Thrown to leave a body that waits for an answer. Let it pass: a `catch` that keeps it cannot keep the pause from happening. */
export class GraphInterrupt extends Error {
  readonly [PAUSE] = true;
  constructor(message: string) {
    super(message);
    this.name = 'GraphInterrupt';
  }
}

/** True for the throw that leaves a waiting body, also from another copy of this module. */
export function isGraphInterrupt(thrown: unknown): thrown is GraphInterrupt {
  return typeof thrown === 'object' && thrown !== null && PAUSE in thrown;
}

// Numbers are the slots of questions without a key, "~" marks a question's revisions.
const KEY = /^(?!\d+$)[^\s~]{1,200}$/u;

/**
 * Pauses this node until a person answers, then returns the answer.
 *
 * The first call leaves the body by a throw; the run shows the question and waits, for seconds or months, across
 * restarts of workers and server. When the answer comes, the body runs again **from its top** and this call returns.
 * So code before it runs once more on every resume; wrap what must not in `once`. Questions without a `key` are told
 * apart by their order in the body. A question whose value changes between two runs of the body is a new question.
 *
 * `approve` answers `true` and `deny` answers `false`; with `approval: true` the whole decision comes.
 * Without a `schema` the answer is `any`. With a `deadline` the wait ends by then, whether somebody answered or not.
 *
 * @throws {GraphRunError} `QUESTION_EXPIRED` when nobody answered before the deadline and there is no `otherwise`.
 * @throws {GraphDefinitionError} `INVALID_OPTION` when `allow`, `deadline` or `otherwise` cannot be.
 * @throws {NodeContextError} `OUTSIDE_NODE` when no node is running, `ALREADY_PAUSED` after a pause was swallowed.
 * @throws {StateError} `STATE_NOT_JSON` when the question cannot be recorded.
 * @example const approved = interrupt({ question: 'approve?', total: state.order_total }, { schema: z.boolean() });
 */
export function interrupt(
  value: unknown,
  options: InterruptOptions & { readonly approval: true; readonly otherwise?: undefined },
): ApprovalDecision;
export function interrupt<S extends z.ZodType>(
  value: unknown,
  options: InterruptOptions<S> & { readonly schema: S },
): z.output<S>;
export function interrupt<R = any>(value: unknown, options?: InterruptOptions): R;
export function interrupt(value: unknown, options: InterruptOptions<z.ZodType | undefined> = {}): unknown {
  const run = runningNode('interrupt');
  refuseAfterPause(run, 'interrupt', run.phase === 'closed');
  const question = ask(run, value, options);
  const answer = run.answers.findLast(({ id }) => id === question.id);
  if (!answer) return pause(run, question);
  if (answer.expired !== undefined) throw expired(run, answer, answer.expired);
  run.handedOver.push(answer);
  return options.schema ? fitting(run, answer, options.schema) : toJson(answer.value);
}

/** What a gate asks about a call: `call` binds the question to it where what is shown does not say it all. */
export interface CallQuestion {
  readonly key: string;
  readonly allow?: readonly ApprovalAction[];
  readonly deadline?: Duration;
  readonly call?: CallShown;
}

/** As `interrupt`, for a gate. */
export function interruptForCall(value: unknown, options: CallQuestion): ApprovalDecision {
  return interrupt(value, { ...options, approval: true });
}

/** True where the question under this key has been asked before, and answered. */
export function isAnswered(key: string): boolean {
  const { info, answers } = runningNode('approvalGate');
  return answers.some(({ id }) => isOf(id, `${info.task}:${key}`));
}

type Options = InterruptOptions<z.ZodType | undefined> & Pick<CallQuestion, 'call'>;

function ask(run: NodeRun, value: unknown, options: Options): AskedQuestion {
  const { task, node } = run.info;
  const { key, schema, approval } = options;
  if (key !== undefined) checkKey(run, key);
  const asked = recordable(value, node);
  const kind: QuestionKind = approval ? 'approval' : 'question';
  const terms = termsOf(node, options);
  const answerSchema = schema && answerSchemaOf(schema);
  const bound = {
    kind,
    value: asked,
    ...(answerSchema !== undefined && { schema: answerSchema }),
    ...(terms.allow && { allow: terms.allow }),
    ...(terms.call && { call: { ...terms.call } }),
  };
  const digest = digestOf(bound);
  const id = revisionOf(`${task}:${key ?? run.nextSlot()}`, digest, run.answers);
  return { id, digest, ...bound, ...terms };
}

function checkKey(run: NodeRun, key: string): void {
  if (!KEY.test(key)) {
    const message = `"${key}" cannot be the key of a question: its id is built from it. Use 1 to 200 characters, not all digits, without spaces and "~".`;
    throw new NodeContextError('INVALID_NAME', message);
  }
  if (run.usedKeys.has(key)) {
    const message = `"${run.info.node}" asks twice under the key "${key}", so one answer would serve for two questions. Give each its own key.`;
    throw new NodeContextError('DUPLICATE_KEY', message);
  }
  run.usedKeys.add(key);
}

function recordable(value: unknown, node: string): Json {
  try {
    return toJson(value);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    const message = `"${node}" asked a question that cannot be recorded: ${error.message}. Ask with plain JSON.`;
    throw new StateError('STATE_NOT_JSON', message, node, undefined, { cause: error });
  }
}

// An answer belongs to one digest. A question that changed under its id gets the next revision of it: `…~2`, `…~3`.
function revisionOf(base: string, digest: string, answers: readonly Answer[]): string {
  const earlier = answers.filter(({ id }) => isOf(id, base));
  const same = earlier.find((answer) => answer.digest === digest);
  if (same) return same.id;
  return earlier.length === 0 ? base : `${base}~${earlier.length + 1}`;
}

function isOf(id: string, base: string): boolean {
  return id === base || id.startsWith(`${base}~`);
}

function pause(run: NodeRun, question: AskedQuestion): never {
  run.asked.push(question);
  if (run.phase === 'running') {
    run.phase = 'pausing';
    // Questions that branches of a Promise.all ask in this tick belong to the same pause; later ones do not.
    void Promise.resolve().then(() => (run.phase = 'closed'));
  }
  throw new GraphInterrupt(`"${run.info.node}" waits for an answer to ${question.id}`);
}

function fitting(run: NodeRun, answer: Answer, schema: z.ZodType): unknown {
  const parsed = schema.safeParse(toJson(answer.value));
  if (parsed.success) return parsed.data;
  return sendBack(run, answer, explainMismatch(parsed.error));
}

function sendBack(run: NodeRun, answer: Answer, reason: string): never {
  // There is nobody to ask again: sent back, it would expire once more.
  if (answer.via === DEADLINE) throw expired(run, answer, undefined, reason);
  const { id } = answer;
  run.rejected ??= { id, reason };
  run.phase = 'closed';
  throw new GraphInterrupt(`the answer to ${id} was sent back: ${reason}`);
}

const DEADLINE = 'deadline';

function expired({ info: { node } }: NodeRun, { id }: Answer, at: string | undefined, reason?: string): GraphRunError {
  const message =
    at === undefined
      ? `Nobody answered question ${id} in time, and the node does not take what it is handed then: ${reason}. Give an "otherwise" that it takes.`
      : `Question ${id} expired at ${at}: nobody answered in time. Start the run again, allow more time, or say with "otherwise" what the answer is then.`;
  return new GraphRunError('QUESTION_EXPIRED', message, node);
}

/** Which answer is sent back. */
export interface RejectOptions {
  /** The key of its question; needed where this run of the body has been given several answers. */
  readonly key?: string;
}

/**
 * Sends an answer back with a reason and asks again.
 *
 * The question opens once more under its id, showing the reason; the answer stays on record as sent back and is never
 * handed over again. With several answers at hand, `key` says which one is meant.
 *
 * @throws {NodeContextError} `OUTSIDE_NODE` when no node is running, or there is no such answer; `REJECTION_AMBIGUOUS`
 *   when there are several and none was named.
 * @example if (count > stock) rejectAnswer(`only ${stock} left`, { key: 'count' });
 */
export function rejectAnswer(reason: string, { key }: RejectOptions = {}): never {
  const run = runningNode('rejectAnswer');
  const base = `${run.info.task}:${key ?? ''}`;
  const meant = key === undefined ? run.handedOver : run.handedOver.filter(({ id }) => isOf(id, base));
  const [answer, ...more] = meant;
  if (answer && (more.length === 0 || key !== undefined))
    return sendBack(run, meant.at(-1) ?? answer, shortened(reason));
  if (answer) {
    const message = `"${run.info.node}" was given several answers; rejectAnswer must say which: rejectAnswer(reason, { key }). Their questions: ${meant.map(({ id }) => id).join(', ')}.`;
    throw new NodeContextError('REJECTION_AMBIGUOUS', message);
  }
  throw new NodeContextError(
    'OUTSIDE_NODE',
    'rejectAnswer found no such answer. Call it after interrupt has returned one.',
  );
}

/** What a node's body may know of itself. */
export interface NodeContext extends NodeInfo {
  /** Aborts when the run is cancelled or the attempt times out: pass it to fetch and its like. */
  readonly signal: AbortSignal;
  /**
   * Shows progress to whoever streams the run in the mode `custom`: any JSON, up to 64 KiB.
   *
   * No event of the history is spent on it. The newest 64 KiB that an attempt has written are kept with its result; what a
   * failed attempt wrote is seen only by those who watched. After the body has ended it does nothing.
   *
   * @throws {StateError} `STATE_NOT_JSON`, `STATE_TOO_LARGE`.
   */
  readonly write: (chunk: unknown) => void;
}

/**
 * Tells a node's body where it runs: thread, node, step, attempt, idempotency key and abort signal.
 *
 * @throws {NodeContextError} `OUTSIDE_NODE` when no node is running.
 * @example await fetch(url, { signal: nodeContext().signal });
 */
export function nodeContext(): NodeContext {
  const run = runningNode('nodeContext');
  return { ...run.info, signal: run.ports.signal, write: (chunk) => writeChunk(run, chunk) };
}
