import type { HistoryInput } from '../../../src/trace';

type Attributes = Readonly<Record<string, unknown>>;

const START = Date.parse('2026-01-01T00:00:00Z');

/** A JSON payload, as Temporal exports it. */
export function payload(value: unknown, encoding = 'json/plain'): object {
  const text = typeof value === 'string' && encoding !== 'json/plain' ? value : JSON.stringify(value);
  return { metadata: { encoding: base64(encoding) }, data: base64(text) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Payloads, as inputs and results hold them. */
export function payloads(...values: readonly unknown[]): object {
  return { payloads: values.map((value) => payload(value)) };
}

/** An application failure, as Temporal exports it. */
export function failure(message: string, type = 'Error', details?: unknown): object {
  const info = { type, ...(details !== undefined && { details: payloads(details) }) };
  return { message, source: 'TypeScriptSDK', applicationFailureInfo: info };
}

/** Writes a history event by event; each comes a second after the one before unless it says when. */
export class SyntheticHistory implements HistoryInput {
  readonly events: unknown[] = [];
  private ms = START;

  constructor(
    readonly graph = 'order',
    readonly workflowId = 'order-1',
    { input = {}, carry, ...more }: Attributes & { readonly input?: unknown; readonly carry?: unknown } = {},
  ) {
    this.add('workflowExecutionStarted', {
      workflowType: { name: graph },
      workflowId,
      originalExecutionRunId: 'run-1',
      input: carry === undefined ? payloads(input) : payloads(input, carry),
      ...more,
    });
  }

  /** The id of the last event. */
  get last(): string {
    return String(this.events.length);
  }

  add(kind: string, attributes: Attributes = {}, afterMs = 1000): this {
    const eventId = String(this.events.length + 1);
    if (this.events.length > 0) this.ms += afterMs;
    const eventTime = new Date(this.ms).toISOString();
    this.events.push({ eventId, eventTime, eventType: `EVENT_TYPE_${kind}`, [`${kind}EventAttributes`]: attributes });
    return this;
  }

  at(iso: string): this {
    this.ms = Date.parse(iso) - 1000;
    return this;
  }

  /** A workflow task that completes at once. */
  task(): this {
    const scheduledEventId = this.add('workflowTaskScheduled', {}, 0).last;
    const startedEventId = this.add('workflowTaskStarted', { scheduledEventId }, 0).last;
    return this.add('workflowTaskCompleted', { scheduledEventId, startedEventId }, 0);
  }

  schedule(id: string, state: unknown, call: object = {}, type?: string): this {
    const [, step, node = '', visit] = /^(\d+)\.([^.#]+)[^#]*#(\d+)$/.exec(id) ?? [];
    const told = { task: id.split('#')[0], step: Number(step), visit: Number(visit), idempotencyKey: id, ...call };
    return this.add(
      'activityTaskScheduled',
      {
        activityId: id,
        activityType: { name: `${this.graph}.${type ?? node}` },
        input: payloads(state, told),
        retryPolicy: { maximumAttempts: 3 },
      },
      0,
    );
  }

  start(scheduledEventId: string, attempt = 1, lastFailure?: object): this {
    return this.add('activityTaskStarted', { scheduledEventId, attempt, identity: 'worker', lastFailure });
  }

  complete(scheduledEventId: string, result: unknown): this {
    return this.add('activityTaskCompleted', { scheduledEventId, result: payloads(result) });
  }

  /** An activity from its scheduling to its end. */
  activity(id: string, state: unknown, result: unknown, call: object = {}, type?: string): this {
    const scheduled = this.schedule(id, state, call, type).last;
    return this.start(scheduled).complete(scheduled, result);
  }

  memo(view: object): this {
    const published = { graph: this.graph, fingerprint: 'f', step: 1, next: [], questions: [], ...view };
    return this.add('workflowPropertiesModified', { upsertedMemo: { fields: { abeyance: payload(published) } } }, 0);
  }

  signal(signalName: string, ...args: readonly unknown[]): this {
    return this.add('workflowExecutionSignaled', { signalName, input: payloads(...args), identity: 'cli' });
  }

  update(name: string, args: readonly unknown[], outcome?: object): this {
    const updateId = `update-${this.events.length}`;
    const acceptedRequest = { meta: { updateId, identity: 'client' }, input: { name, args: payloads(...args) } };
    const acceptedEventId = this.add('workflowExecutionUpdateAccepted', { acceptedRequest }, 0).last;
    if (!outcome) return this;
    return this.add('workflowExecutionUpdateCompleted', { acceptedEventId, meta: { updateId }, outcome }, 0);
  }

  done(result: unknown): this {
    return this.add('workflowExecutionCompleted', { result: payloads(result) }, 0);
  }
}

/** A question as a node asks it. */
export const QUESTION = { id: '1.ask:0', kind: 'question', value: 'what now?', digest: 'd1' } as const;

/** A question as a run shows it. */
export const OPEN = { ...QUESTION, node: 'ask', task: '1.ask', askedAt: '2026-01-01T00:00:02.000Z' } as const;

/** A run that has asked its question and waits. */
export function waitingHistory(): SyntheticHistory {
  return new SyntheticHistory()
    .task()
    .activity('1.ask#1', {}, { kind: 'interrupted', questions: [QUESTION], once: {} })
    .task()
    .memo({ status: 'waiting', next: ['ask'], questions: [OPEN], values: { answer: null } });
}
