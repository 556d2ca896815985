import { z } from 'zod';
import { digestOf } from './digest';
import { explainMismatch } from './explain-mismatch';
import { NodeContextError, StateError, messageOf } from './errors';
import { NotJsonError, toJson, type Json } from './json';
import { currentNodeRun, type NodeInfo, type NodeRun } from './node-run';
import type { Answer, ApprovalDecision, AskedQuestion, QuestionKind } from './question';

/** How a question is asked. */
export interface InterruptOptions<S extends z.ZodType | undefined = undefined> {
  /** Names the question within its node. Needed where the order of questions can change between runs, as under `Promise.all`. */
  readonly key?: string;
  /** What an answer must be; one that does not fit is sent back and the question stays open. */
  readonly schema?: S;
  /** Asks for an approval: the answer is the whole decision `{ type, by, note }`, not just `true` or `false`. */
  readonly approval?: boolean;
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
 * Without a `schema` the answer is `any`.
 *
 * @throws {NodeContextError} `OUTSIDE_NODE` when no node is running, `ALREADY_PAUSED` after a pause was swallowed.
 * @throws {StateError} `STATE_NOT_JSON` when the question cannot be recorded.
 * @example const approved = interrupt({ question: 'approve?', total: state.order_total }, { schema: z.boolean() });
 */
export function interrupt(value: unknown, options: InterruptOptions & { readonly approval: true }): ApprovalDecision;
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
  run.lastAnswer = answer;
  return options.schema ? fitting(run, question, answer, options.schema) : toJson(answer.value);
}

function ask(
  run: NodeRun,
  value: unknown,
  { key, schema, approval }: InterruptOptions<z.ZodType | undefined>,
): AskedQuestion {
  const { task, node } = run.info;
  if (key !== undefined) checkKey(run, key);
  const asked = recordable(value, node);
  const kind: QuestionKind = approval ? 'approval' : 'question';
  const answerSchema = schema && toJson(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  const digest = digestOf(
    answerSchema === undefined ? { kind, value: asked } : { kind, value: asked, schema: answerSchema },
  );
  const id = revisionOf(`${task}:${key ?? run.nextSlot()}`, digest, run.answers);
  return { id, kind, value: asked, digest, ...(answerSchema !== undefined && { schema: answerSchema }) };
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
  const earlier = answers.filter(({ id }) => id === base || id.startsWith(`${base}~`));
  const same = earlier.find((answer) => answer.digest === digest);
  if (same) return same.id;
  return earlier.length === 0 ? base : `${base}~${earlier.length + 1}`;
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

function fitting(run: NodeRun, question: AskedQuestion, answer: Answer, schema: z.ZodType): unknown {
  const parsed = schema.safeParse(toJson(answer.value));
  if (parsed.success) return parsed.data;
  return sendBack(run, question.id, explainMismatch(parsed.error));
}

function sendBack(run: NodeRun, id: string, reason: string): never {
  run.rejected ??= { id, reason };
  run.phase = 'closed';
  throw new GraphInterrupt(`the answer to ${id} was sent back: ${reason}`);
}

/**
 * Sends the last answer back with a reason and asks again.
 *
 * The question opens once more under its id, showing the reason; the answer stays on record as rejected and is never
 * handed over again.
 *
 * @throws {NodeContextError} `OUTSIDE_NODE` when no node is running, or none of its questions has been answered.
 * @example if (count > stock) rejectAnswer(`only ${stock} left`);
 */
export function rejectAnswer(reason: string): never {
  const run = runningNode('rejectAnswer');
  if (!run.lastAnswer) {
    throw new NodeContextError(
      'OUTSIDE_NODE',
      'rejectAnswer found no answer to reject. Call it after interrupt has returned one.',
    );
  }
  return sendBack(run, run.lastAnswer.id, reason);
}

/**
 * Runs a side effect before a question just once, however often the body runs again.
 *
 * The result is recorded as soon as it is there and carried with the pause. Between the effect and the record lies a
 * moment in which a crash repeats it: hand `nodeContext().idempotencyKey` to the service to cover that too.
 *
 * @throws {NodeContextError} `OUTSIDE_NODE`, `ALREADY_PAUSED`.
 * @throws {StateError} `STATE_NOT_JSON` when the result cannot be recorded.
 * @example const ticket = await once('ticket', () => createTicket(state.item));
 */
export async function once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
  const run = runningNode('once');
  refuseAfterPause(run, 'once', run.phase !== 'running');
  if (run.once.has(key)) return toJson(run.once.get(key)) as T;
  const result = await effect();
  let json: Json;
  try {
    json = result === undefined ? null : toJson(result);
  } catch (error) {
    const message = `once("${key}") in "${run.info.node}" gave a result that cannot be recorded: ${messageOf(error)}. Return plain JSON.`;
    throw new StateError('STATE_NOT_JSON', message, run.info.node, key, { cause: error });
  }
  run.once.set(key, json);
  run.ports.saveOnce(Object.fromEntries(run.once));
  return toJson(json) as T;
}

/** What a node's body may know of itself. */
export interface NodeContext extends NodeInfo {
  /** Aborts when the run is cancelled or the attempt times out: pass it to fetch and its like. */
  readonly signal: AbortSignal;
}

/**
 * Tells a node's body where it runs: thread, node, step, attempt, idempotency key and abort signal.
 *
 * @throws {NodeContextError} `OUTSIDE_NODE` when no node is running.
 * @example await fetch(url, { signal: nodeContext().signal });
 */
export function nodeContext(): NodeContext {
  const run = runningNode('nodeContext');
  return { ...run.info, signal: run.ports.signal };
}

function runningNode(word: string): NodeRun {
  const run = currentNodeRun();
  if (run) return run;
  const message = `${word} was called where no node is running. Call it in the body of a node, not in a router, a reducer or a callback that outlives it.`;
  throw new NodeContextError('OUTSIDE_NODE', message);
}

function refuseAfterPause(run: NodeRun, word: string, refused: boolean): void {
  if (!refused) return;
  const message = `"${run.info.node}" has paused already, or ended; ${word} does nothing more in this run of its body. Do not catch what interrupt throws.`;
  throw new NodeContextError('ALREADY_PAUSED', message);
}
