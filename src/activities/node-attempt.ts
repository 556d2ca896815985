import type { Context } from '@temporalio/activity';
import type { Exchange } from '../graph/exchange';
import type { Json } from '../graph/json';
import { LiveWindow } from '../graph/live-window';
import type { NodeCall } from '../graph/node-call';
import { NodeRun } from '../graph/node-run';
import {
  bytesOf,
  MAX_LOCAL_BYTES,
  MAX_PAYLOAD_BYTES,
  refuseTooLarge,
  refuseTooLargeLocally,
} from '../graph/size-limit';
import type { NodeResult } from './call-record';
import type { ModelContext } from './chat-model';
import { readHeartbeat, type HeartbeatDetails } from './heartbeat-details';
import { keepAlive } from './keep-alive';
import { limitExchanges } from './limit-exchanges';
import { SteadyBeat } from './steady-beat';

/** What a model call is told by its attempt, and tells it. */
export type Wire = Pick<ModelContext, 'timeoutMs' | 'earlierExchanges' | 'keepExchange' | 'writeText'>;

/** A node to run, with what it is given. */
export interface NodeTarget {
  readonly graph: string;
  readonly node: string;
  readonly input: Json;
  readonly call: NodeCall;
}

/**
 * One attempt at a node within its activity. Beats until it is stopped; each beat carries what the next attempt is to find:
 * what `once` recorded, and what went over the wire.
 */
export class NodeAttempt {
  readonly run: NodeRun;
  readonly wire: Wire;
  /** What went over the wire in this attempt, if it failed after that. */
  failedExchange: Exchange | undefined;
  private all: readonly Exchange[];
  private readonly began = performance.now();
  private readonly window: LiveWindow;
  private readonly shown = new SteadyBeat(() => this.beat());
  private readonly rest: () => void;

  constructor(
    private readonly target: NodeTarget,
    private readonly context: Context,
  ) {
    const { info, cancellationSignal: signal } = context;
    const before = readHeartbeat(info.heartbeatDetails);
    this.all = before.exchanges;
    this.window = new LiveWindow(info.attempt);
    const { task, step, visit, idempotencyKey, answers = [], once = {} } = target.call;
    const { graph, node } = target;
    const threadId = info.workflowExecution?.workflowId ?? '';
    const about = { threadId, graph, node, task, step, visit, attempt: info.attempt, idempotencyKey };
    const write = (chunk: Json): void => this.shown.after(() => this.window.write(chunk));
    const ports = { signal, saveOnce: () => this.beat(), write };
    this.run = new NodeRun(about, answers, { ...once, ...before.once }, ports);
    this.wire = {
      timeoutMs: info.startToCloseTimeoutMs,
      earlierExchanges: before.exchanges,
      keepExchange: (exchange) => this.keep(exchange),
      writeText: (text) => this.shown.after(() => this.window.say(text)),
    };
    this.rest = keepAlive(context, () => this.details());
  }

  /** All that went over the wire in the attempts at this visit, as far as it is kept. */
  get exchanges(): readonly Exchange[] {
    return this.all;
  }

  /** The result as it goes on record. @throws {StateError} `STATE_TOO_LARGE`. */
  recorded(result: NodeResult): NodeResult {
    const { node, input, call } = this.target;
    if (this.context.info.isLocal) {
      const record = { ...result, given: { input, call, ms: performance.now() - this.began } };
      refuseTooLargeLocally(record, node);
      return this.withWritten(record, MAX_LOCAL_BYTES);
    }
    if (!call.externalStorage) refuseTooLarge('The result', result, node);
    return this.withWritten(result, MAX_PAYLOAD_BYTES);
  }

  /** Beats no more. */
  stop(): void {
    this.rest();
    this.shown.stop();
  }

  // What was shown is kept for those who come late, but never costs the run its result.
  private withWritten(result: NodeResult, limit: number): NodeResult {
    const { written } = this.window;
    if (!written) return result;
    const whole = { ...result, written };
    return bytesOf(whole) > limit ? result : whole;
  }

  private keep(exchange: Exchange): void {
    this.failedExchange = exchange;
    this.all = limitExchanges([...this.all, exchange]);
    this.beat();
  }

  private details(): HeartbeatDetails {
    const { live } = this.window;
    return { once: Object.fromEntries(this.run.once), exchanges: this.all, ...(live && { live }) };
  }

  // Nobody listens for a local activity's heartbeats, and the worker would complain of each.
  private beat(): void {
    if (!this.context.info.isLocal) this.context.heartbeat(this.details());
  }
}
