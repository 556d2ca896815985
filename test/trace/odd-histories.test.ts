import { z } from 'zod';
import { END, inWorkflow, interrupt, ReducedValue, START, StateGraph, StateSchema } from 'abeyance';
import {
  decodeHistory,
  HistoryError,
  renderText,
  Trace,
  traceOf,
  type HistoryInput,
  type Item,
  type TraceOptions,
} from '../../src/trace';
import {
  failure,
  OPEN,
  payload,
  payloads,
  QUESTION,
  SyntheticHistory,
  waitingHistory,
} from './support/synthetic-history';

/** The trace, proven to be what its schema says, and printable. */
function traced(histories: HistoryInput | readonly HistoryInput[], options?: TraceOptions): Trace {
  const trace = traceOf(Array.isArray(histories) ? histories : [histories as HistoryInput], options);
  expect(Trace.parse(JSON.parse(JSON.stringify(trace)))).toEqual(trace);
  expect(renderText(trace, { depth: 9 })).toContain(trace.thread.id);
  return trace;
}

function itemsOf<K extends Item['kind']>(trace: Trace, kind: K): Extract<Item, { kind: K }>[] {
  const items = trace.runs.flatMap(({ stops }) => stops).flatMap(({ items: all }) => all);
  return items.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind);
}

const DONE = { kind: 'completed', updates: [], goto: [] };

describe('attempts', () => {
  it('shows the failure before the last attempt, and says of earlier ones that they failed', () => {
    const history = new SyntheticHistory().task().schedule('1.act#1', {});
    const id = history.last;
    history.start(id, 3, failure('out of stock', 'RangeError')).complete(id, DONE);
    const [visit] = itemsOf(traced(history), 'node');
    expect(visit).toMatchObject({ status: 'completed', maximumAttempts: 3, queueMs: 1000, runMs: 1000 });
    expect(visit?.attempts).toMatchObject([
      { number: 1, status: 'failed' },
      { number: 2, status: 'failed', failure: { code: 'RangeError', message: 'out of stock' } },
      { number: 3, status: 'completed' },
    ]);
    expect(visit?.attempts[0]?.failure).toBeUndefined();
    expect(traced(history).totals.retries).toBe(2);
  });

  it('shows an activity that failed for good, and the run that failed by it', () => {
    const history = new SyntheticHistory().task().schedule('1.act#1', {});
    const scheduledEventId = history.last;
    history
      .start(scheduledEventId, 1)
      .add('activityTaskFailed', {
        scheduledEventId,
        failure: failure('no', 'Error'),
        retryState: 'RETRY_STATE_TIMEOUT',
      })
      .task()
      .add('workflowExecutionFailed', { failure: failure('Node "act" failed: no', 'NODE_FAILED', { node: 'act' }) });
    const trace = traced(history);
    expect(itemsOf(trace, 'node')[0]).toMatchObject({ status: 'failed', failure: { message: 'no' } });
    expect(trace.runs[0]).toMatchObject({ status: 'failed', failure: { code: 'NODE_FAILED', node: 'act' } });
    expect(trace.runs[0]?.stops.at(-1)?.ended).toBe('failed');
    expect(trace.totals.failures).toBe(1);
    expect(renderText(trace)).toContain('NODE_FAILED in act: Node "act" failed: no');
  });

  it('shows a timeout by its name, from words and from numbers', () => {
    for (const timeoutType of ['TIMEOUT_TYPE_HEARTBEAT', 4]) {
      const history = new SyntheticHistory().task().schedule('1.act#1', {});
      const scheduledEventId = history.last;
      const timedOut = { message: 'activity Heartbeat timeout', timeoutFailureInfo: { timeoutType } };
      history.start(scheduledEventId).add('activityTaskTimedOut', { scheduledEventId, failure: timedOut });
      expect(itemsOf(traced(history), 'node')[0]).toMatchObject({
        status: 'timed-out',
        failure: { kind: 'timeout', timeout: 'heartbeat' },
      });
    }
  });

  it('shows what was never started, and what was cancelled', () => {
    const history = new SyntheticHistory().task().schedule('1.a#1', {}).schedule('1.b#1', {});
    const scheduledEventId = history.last;
    history.add('workflowExecutionCancelRequested', { cause: 'enough', identity: 'ana' });
    history.start(scheduledEventId).add('activityTaskCanceled', { scheduledEventId }).task();
    history.add('workflowExecutionCanceled', {});
    const trace = traced(history);
    expect(itemsOf(trace, 'node').map(({ status, attempts }) => [status, attempts.length])).toEqual([
      ['scheduled', 0],
      ['cancelled', 1],
    ]);
    expect(itemsOf(trace, 'message')).toMatchObject([{ via: 'cancel', name: 'enough', identity: 'ana' }]);
    expect(trace.thread.status).toBe('cancelled');
    expect(trace.runs[0]?.failure?.code).toBe('RUN_CANCELLED');
  });

  it('shows the exchanges of a model call, failed attempts too', () => {
    const exchange = (attempt: number, status: number, error?: object): object => ({
      attempt,
      request: {
        method: 'POST',
        url: 'https://x.test/v1',
        defaulted: ['seed'],
        headers: {},
        headersFrom: 'wire',
        body: {},
      },
      response: { status, headers: {}, body: { error: 'slow down', deep: [1] } },
      ...(error && { error }),
      usage: { input: 308, output: 71, total: 379, cached: 128, reasoning: 16 },
      ms: { provider: 1282.2, library: 234.5 },
      fieldOfAVersionToCome: 1,
    });
    const record = {
      kind: 'model',
      name: 'planner',
      provider: 'openai',
      model: 'm',
      reply: { content: 'I will.', toolCalls: [] },
      usage: { input: 308, output: 71, total: 379, cached: 128, reasoning: 16 },
      exchanges: [exchange(1, 429, { code: 'MODEL_UNAVAILABLE', message: 'slow down' }), exchange(2, 200), 'nonsense'],
      attempt: 2,
      durationMs: 1516.7,
    };
    const model = { name: 'planner', system: 'Be brief.', tools: [] };
    const history = new SyntheticHistory()
      .task()
      .schedule('1.agent#1', { messages: [{ role: 'human', content: 'Hi' }] }, { model });
    const id = history.last;
    history.start(id, 2).complete(id, { ...DONE, record });
    const trace = traced(history);
    const [turn] = itemsOf(trace, 'turn');
    expect(turn?.context.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['human', 'Hi'],
    ]);
    expect(turn).toMatchObject({ respondedWith: 'I will.', providerMs: 1282.2, libraryMs: 234.5 });
    expect(turn?.exchanges.map(({ response }) => response?.status)).toEqual([429, 200]);
    expect(turn?.attempts[0]?.failure).toMatchObject({ code: 'MODEL_UNAVAILABLE', message: 'slow down' });
    expect(trace.totals.tokens).toEqual({ input: 308, output: 71, total: 379, cached: 128, reasoning: 16 });
    expect(renderText(trace, { width: 160 })).toContain('308 in (128 cached) → 71 out (16 reasoning)');
  });
});

describe('decisions', () => {
  it('shows an update that was refused with its reason, at the question it was for', () => {
    const refused = { failure: failure('Question 1.ask:0 is not what it was.', 'QUESTION_CHANGED') };
    const history = waitingHistory()
      .task()
      .update('decide', [{ type: 'approve', question: QUESTION.id, by: 'bo' }], refused);
    const trace = traced(history);
    expect(itemsOf(trace, 'wait')).toMatchObject([
      { status: 'open', refused: [{ by: 'bo', verdict: { kind: 'refused', code: 'QUESTION_CHANGED' } }] },
    ]);
    expect(trace.totals.refusedDecisions).toBe(1);
    expect(trace.thread.status).toBe('waiting');
  });

  it('finds the signal that answered, and says of another that its outcome is not recorded', () => {
    const history = waitingHistory()
      .signal('approve', { node: 'elsewhere', by: 'bo' })
      .signal('resume', 42, { by: 'ana', decisionId: 'd-1' })
      .task()
      .schedule(
        '1.ask#2',
        {},
        { answers: [{ id: QUESTION.id, digest: 'd1', value: 42, via: 'signal', by: 'ana', decision: 'd-1' }] },
      )
      .memo({ status: 'running', next: ['ask'] });
    const trace = traced(history);
    expect(itemsOf(trace, 'wait')).toMatchObject([
      { status: 'answered', answer: 42, decision: { by: 'ana', via: 'signal', verdictFrom: 'inference' } },
    ]);
    expect(itemsOf(trace, 'decision')).toMatchObject([
      { decision: { by: 'bo', verdict: { kind: 'unknown' }, verdictFrom: 'nowhere' } },
    ]);
    const [, resume] = trace.runs[0]?.stops ?? [];
    expect(resume).toMatchObject({ began: 'decision', ended: 'running', span: { offsetMs: 4000 } });
  });

  it('knows without the graph that a signal nobody could read was refused', () => {
    const [wait] = itemsOf(traced(waitingHistory().signal('approve', { aprove: true })), 'wait');
    expect(wait?.refused[0]).toMatchObject({
      type: 'unreadable',
      verdict: { kind: 'refused', code: 'DECISION_MALFORMED' },
      verdictFrom: 'inference',
    });
  });

  it('shows answers that the node sent back', () => {
    const history = waitingHistory()
      .task()
      .update('decide', [{ type: 'resume', value: -1 }], {
        success: payloads({ verdict: { kind: 'accepted', questions: [QUESTION.id] } }),
      })
      .activity('1.ask#2', {}, { kind: 'rejected', question: QUESTION.id, reason: 'too little', once: {} })
      .task()
      .memo({ status: 'waiting', next: ['ask'], questions: [{ ...OPEN, rejected: 'too little' }] });
    const trace = traced(history);
    expect(itemsOf(trace, 'wait')).toMatchObject([
      { status: 'open', sentBack: [{ reason: 'too little', decision: { value: -1 } }] },
    ]);
    expect(trace.runs[0]?.stops.map(({ name, ended }) => [name, ended])).toEqual([
      ['pause', 'paused'],
      ['resume', 'paused'],
    ]);
  });

  it('shows a decision that came before its question, and one that never found one', () => {
    const kept = (until: string): object => ({ success: payloads({ verdict: { kind: 'kept', until } }) });
    const history = new SyntheticHistory()
      .task()
      .update('decide', [{ type: 'approve', node: 'ask', by: 'ana' }], kept('ask'))
      .update('decide', [{ type: 'approve', node: 'later', by: 'ana' }], kept('later'))
      .activity('1.ask#1', {}, { kind: 'interrupted', questions: [QUESTION], once: {} })
      .task()
      .activity('1.ask#2', {}, DONE, { answers: [{ id: QUESTION.id, value: true, via: 'update', by: 'ana' }] })
      .task()
      .done({});
    const trace = traced(history);
    expect(itemsOf(trace, 'wait')).toMatchObject([
      { status: 'answered', answer: true, span: { durationMs: 0 }, decision: { by: 'ana', early: true } },
    ]);
    expect(itemsOf(trace, 'decision')).toMatchObject([{ decision: { node: 'later', verdict: { kind: 'kept' } } }]);
  });

  it('drops the questions of a run that ends first', () => {
    const history = waitingHistory().add('workflowExecutionTerminated', { reason: 'cleaning up' });
    const trace = traced(history);
    expect(itemsOf(trace, 'wait')).toMatchObject([{ status: 'dropped' }]);
    expect(trace.runs[0]?.failure?.message).toBe('The run was terminated: cleaning up');
    expect(trace.runs[0]?.stops.map(({ ended }) => ended)).toEqual(['paused', 'terminated']);
  });
});

describe('with the graph', () => {
  const State = new StateSchema({
    log: new ReducedValue(z.array(z.string()).default([]), {
      inputSchema: z.string(),
      reducer: (lines, line) => [...lines, line],
    }),
  });
  const gate = inWorkflow(() => ({ log: String(interrupt('go on?')) }));
  const graph = new StateGraph(State)
    .addNode('work')
    .addNode('gate', gate)
    .addEdge(START, 'work')
    .addEdge('work', 'gate')
    .addEdge('gate', END)
    .compile({ name: 'order' });

  // What the run published was too large to show, and the reducer is the user's own.
  const history = (): SyntheticHistory =>
    new SyntheticHistory()
      .task()
      .activity('1.work#1', { log: [] }, { kind: 'completed', updates: [{ log: 'worked' }], goto: [] })
      .task()
      .memo({
        status: 'waiting',
        fingerprint: graph.fingerprint,
        valuesDigest: 'abc',
        questions: [{ id: '2.gate:0', kind: 'question', value: 'go on?', digest: 'd', node: 'gate', task: '2.gate' }],
      });

  it('folds what only the graph can fold, and says that it is missing without', () => {
    const [stop] = traced(history()).runs[0]?.stops ?? [];
    expect(stop?.checkpoint).toMatchObject({ source: 'nowhere', values: { kind: 'missing', digest: 'abc' } });
    const [folded] = traced(history(), { graph }).runs[0]?.stops ?? [];
    expect(folded?.checkpoint).toMatchObject({ source: 'graph', values: { value: { log: ['worked'] } } });
  });

  it('judges signals as the run did', () => {
    const signalled = history().signal('approve', { question: '9.gate:0' }).signal('approve', { question: '1.work:0' });
    signalled
      .signal('deny', { node: 'gate', by: 'ana' })
      .task()
      .done({ log: ['worked', 'false'] });
    const trace = traced(signalled, { graph });
    expect(itemsOf(trace, 'decision')).toMatchObject([
      // Kept for a step that never came, and refused when the run ended.
      { decision: { verdict: { kind: 'refused', code: 'QUESTION_UNKNOWN' }, verdictFrom: 'graph' } },
      { decision: { verdict: { kind: 'refused', code: 'QUESTION_UNKNOWN' }, verdictFrom: 'graph' } },
    ]);
    expect(itemsOf(trace, 'wait')[0]).toMatchObject({ answer: false, decision: { by: 'ana', verdictFrom: 'graph' } });
    expect(itemsOf(trace, 'node').map(({ where }) => where)).toEqual(['activity', 'workflow', 'workflow']);
  });

  it('stops folding where the history does not fit, and says why', () => {
    const strange = history().task().schedule('7.elsewhere#1', {});
    const trace = traced(strange, { graph });
    expect(trace.notes).toMatchObject([{ kind: 'not-folded', message: expect.stringContaining('7.elsewhere#1') }]);
    expect(trace.runs[0]?.folded).toBe(false);
    const other = traced(new SyntheticHistory('other').task(), { graph });
    expect(other.notes).toMatchObject([{ kind: 'not-folded', message: expect.stringContaining('"other"') }]);
  });
});

describe('chains', () => {
  it('joins the runs of a thread, given in any order and twice', () => {
    const first = waitingHistory().task().add('workflowExecutionContinuedAsNew', { newExecutionRunId: 'run-2' }, 0);
    const shifted = new SyntheticHistory('order', 'order-1', {
      originalExecutionRunId: 'run-2',
      continuedExecutionRunId: 'run-1',
    });
    shifted
      .at('2026-01-01T01:00:00Z')
      .task()
      .memo({ status: 'waiting', next: ['ask'], questions: [OPEN] });
    for (const event of shifted.events as { eventTime: string }[]) event.eventTime = '2026-01-01T01:00:00.000Z';
    const trace = traced([shifted, first, first]);
    expect(trace.runs.map(({ runId, status, number }) => [runId, status, number])).toEqual([
      ['run-1', 'continued', 1],
      ['run-2', 'waiting', 2],
    ]);
    expect(itemsOf(trace, 'wait').map(({ status }) => status)).toEqual(['carried', 'open']);
    // The second wait began when the first run asked.
    expect(itemsOf(trace, 'wait')[1]?.span).toMatchObject({ offsetMs: 2000 });
    expect(trace.totals.waits).toBe(1);
    expect(trace.thread.status).toBe('waiting');
    expect(trace.runs[1]?.stops[0]).toMatchObject({ number: 2, began: 'continued' });
  });

  it('says which runs are missing', () => {
    const rolled = new SyntheticHistory().add('workflowExecutionContinuedAsNew', { newExecutionRunId: 'run-2' });
    expect(traced(rolled)).toMatchObject({ thread: { status: 'running' }, notes: [{ kind: 'runs-missing' }] });
    const later = new SyntheticHistory('order', 'order-1', { carry: { values: {}, step: 3 } });
    expect(traced(later).notes).toMatchObject([{ kind: 'runs-missing' }]);
  });

  it('refuses what is no history, and histories of several threads', () => {
    expect(() => traceOf([])).toThrow(HistoryError);
    expect(() => traceOf([{ events: [{}, null, 7] }])).toThrow(expect.objectContaining({ code: 'NO_HISTORY' }));
    const several = [new SyntheticHistory(), new SyntheticHistory('order', 'order-2', { originalExecutionRunId: 'x' })];
    expect(() => traceOf(several)).toThrow(expect.objectContaining({ code: 'SEVERAL_THREADS' }));
  });
});

describe('what it does not know', () => {
  it('counts events it has never heard of', () => {
    const history = new SyntheticHistory().add('somethingNew', {}).add('somethingNew', {});
    history.events.push(
      { eventId: '4', eventTime: '2026-01-01T00:00:09Z', eventType: 'EVENT_TYPE_EMPTY' },
      {},
      'what?',
    );
    const { notes } = traced(history);
    expect(notes).toMatchObject([{ kind: 'unknown-events', message: expect.stringContaining('somethingNew (2)') }]);
    expect(notes[0]?.message).toContain('EVENT_TYPE_EMPTY (1)');
  });

  it('shows activities, signals, timers and children that are none of the graph’s', () => {
    const history = new SyntheticHistory().task();
    history.add('activityTaskScheduled', {
      activityId: '5',
      activityType: { name: 'sendMail' },
      input: payloads('a', 1),
    });
    history.add('timerStarted', { timerId: '1', startToFireTimeout: '3600s' });
    history.add('timerFired', { startedEventId: history.last });
    history.add('startChildWorkflowExecutionInitiated', {
      workflowId: 'c-1',
      workflowType: { name: 'pack' },
      input: payloads(1),
    });
    const initiatedEventId = history.last;
    history.add('childWorkflowExecutionStarted', {
      initiatedEventId,
      workflowExecution: { workflowId: 'c-1', runId: 'r' },
    });
    history.add('childWorkflowExecutionCompleted', { initiatedEventId, result: payloads('packed') });
    history.signal('poke', { a: 1 });
    const trace = traced(history);
    expect(itemsOf(trace, 'activity')).toMatchObject([{ type: 'sendMail', input: [{ value: 'a' }, { value: 1 }] }]);
    expect(itemsOf(trace, 'timer')).toMatchObject([
      { status: 'fired', askedMs: 3_600_000, span: { durationMs: 1000 } },
    ]);
    expect(itemsOf(trace, 'child')).toMatchObject([
      { workflowId: 'c-1', runId: 'r', status: 'completed', result: { value: 'packed' } },
    ]);
    expect(itemsOf(trace, 'message')).toMatchObject([{ via: 'signal', name: 'poke', args: [{ value: { a: 1 } }] }]);
    expect(trace.notes).toEqual([]);
  });

  it('notes workflow tasks that failed, but not those that were done again for a message', () => {
    expect(traced(new SyntheticHistory().add('workflowTaskFailed', {})).notes).toMatchObject([{ kind: 'task-failed' }]);
    const cause = 'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND';
    expect(traced(new SyntheticHistory().add('workflowTaskFailed', { cause })).notes).toEqual([]);
  });

  it('shows what an external storage holds as such, not its reference as the value', () => {
    const type = Buffer.from('temporal.api.sdk.v1.ExternalStorageReference').toString('base64');
    const reference = {
      metadata: { encoding: Buffer.from('json/protobuf').toString('base64'), messageType: type },
      data: Buffer.from('{"driverName":"files"}').toString('base64'),
    };
    const history = new SyntheticHistory().task();
    history.add('activityTaskScheduled', {
      activityId: '1.act#1',
      activityType: { name: 'order.act' },
      input: { payloads: [reference] },
    });
    const trace = traced(history);
    expect(itemsOf(trace, 'node')).toMatchObject([{ input: { kind: 'encoded', encoding: 'external storage' } }]);
    expect(trace.notes).toMatchObject([{ kind: 'encoded' }]);
  });

  it('shows encoded payloads as what they are, and reads them once the codec is undone', async () => {
    const secret = (value: unknown): object =>
      payload(Buffer.from(JSON.stringify(value)).toString('hex'), 'binary/encrypted');
    const history = new SyntheticHistory('order', 'order-1', { input: {} }).task();
    history.add('activityTaskScheduled', {
      activityId: '1.act#1',
      activityType: { name: 'order.act' },
      input: { payloads: [secret({ total: 5 }), secret({ task: '1.act' })] },
    });
    const sealed = traced(history);
    expect(itemsOf(sealed, 'node')).toMatchObject([
      { node: 'act', input: { kind: 'encoded', encoding: 'binary/encrypted' } },
    ]);
    expect(sealed.notes).toMatchObject([{ kind: 'encoded' }]);

    const codec = {
      decode: async (sent: readonly { metadata?: any; data?: any }[]) =>
        sent.map((one) => {
          if (Buffer.from(one.metadata.encoding).toString() !== 'binary/encrypted') return one;
          const data = Buffer.from(Buffer.from(one.data).toString(), 'hex');
          return { metadata: { encoding: Buffer.from('json/plain') }, data };
        }),
    };
    const opened = traced(await decodeHistory(history, codec));
    expect(itemsOf(opened, 'node')).toMatchObject([{ input: { kind: 'json', value: { total: 5 } } }]);
    expect(opened.notes).toEqual([]);
  });

  it('reads exports whose payloads were decoded already', () => {
    const history = new SyntheticHistory('order', 'order-1').task();
    history.add('activityTaskScheduled', {
      activityId: '1.act#1',
      activityType: { name: 'order.act' },
      input: [{ total: 5 }, { task: '1.act', step: 1, visit: 1, idempotencyKey: 'k' }],
    });
    expect(itemsOf(traced(history), 'node')).toMatchObject([{ input: { value: { total: 5 } }, idempotencyKey: 'k' }]);
  });

  it('takes payloads that lie about what they are, and any shape of event', () => {
    const broken = { metadata: { encoding: Buffer.from('json/plain').toString('base64') }, data: '!!' };
    const history = new SyntheticHistory('order', 'order-1', { input: 1, taskQueue: 7, parentWorkflowExecution: 'x' });
    history.add('activityTaskScheduled', {
      activityId: '1.act#1',
      activityType: { name: 'order.act' },
      input: { payloads: [broken] },
    });
    history.complete(history.last, { kind: 'interrupted', questions: [null, { id: 3 }, 'x'] });
    history.add('workflowExecutionUpdateAccepted', { acceptedRequest: null });
    history.add('workflowExecutionSignaled', {}).add('activityTaskFailed', { scheduledEventId: 'nope', failure: [] });
    history.memo({ status: 'waiting', questions: 'all', next: {}, values: 0 });
    const [visit] = itemsOf(traced(history), 'node');
    expect(visit?.input).toEqual({ kind: 'encoded', encoding: 'json/plain', bytes: 0 });
  });
});

it('measures what is still open up to the time it is asked for', () => {
  const trace = traced(waitingHistory(), { now: new Date('2026-01-04T00:00:02Z') });
  expect(itemsOf(trace, 'wait')[0]?.span).toMatchObject({ offsetMs: 2000, durationMs: 3 * 86_400_000 });
  expect(trace.totals).toMatchObject({ activeMs: 2000, waitingMs: 3 * 86_400_000 });
  expect(renderText(trace)).toContain('waiting for 3 d');
});

describe('hostile content', () => {
  const EVIL = '</script>\u001b[2J\u001b]0;owned\u0007\u202egnp.exe\u2066\u200b\r\u009b31m\u{e0041}\ud800';

  it('lets nothing of a run reach the terminal', () => {
    const history = new SyntheticHistory('order', `id-${EVIL}`, { input: { [EVIL]: EVIL } }).task();
    const record = {
      kind: 'model',
      name: EVIL,
      reply: { content: EVIL, toolCalls: [{ id: EVIL, name: EVIL, args: EVIL }] },
    };
    const model = { name: EVIL, system: EVIL, tools: [{ name: EVIL, description: EVIL, schema: { [EVIL]: 1 } }] };
    history.activity(
      '1.agent#1',
      { messages: [{ role: EVIL, content: `${EVIL}\n${EVIL}` }] },
      { ...DONE, record },
      { model },
    );
    history.activity(
      '2.t.0#1',
      { id: EVIL, name: EVIL, args: { [EVIL]: EVIL } },
      { ...DONE, record: { kind: 'tool', error: EVIL } },
      {},
      `tool:${EVIL}`,
    );
    history.signal('approve', { note: EVIL, by: EVIL }).signal(EVIL, EVIL).add(EVIL, {});
    history.memo({
      status: 'waiting',
      next: [EVIL],
      questions: [{ ...OPEN, value: { [EVIL]: EVIL } }],
      values: { [EVIL]: EVIL },
    });
    history.add('workflowExecutionFailed', { failure: failure(EVIL, EVIL, { node: EVIL }) });
    for (const width of [40, 80, 500]) {
      const text = renderText(traceOf([history]), { depth: 9, width });
      expect(text).not.toMatch(
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ud800\u{e0041}]/u,
      );
      if (width === 500) expect(text).toContain('</script>\\u{1b}[2J');
    }
    const plain = renderText(traceOf([history]), { depth: 9 });
    const coloured = renderText(traceOf([history]), { depth: 9, colour: true });

    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(plain);
  });

  it('keeps to the width, and says how much of 2 MB it left out', () => {
    const large = 'x'.repeat(2_000_000);
    const history = new SyntheticHistory('order', 'order-1', { input: large }).task();
    history.activity('1.agent#1', { messages: [{ role: 'human', content: large }] }, DONE, {
      model: { name: 'm', tools: [] },
    });
    const before = performance.now();
    const text = renderText(traceOf([history]), { depth: 9, width: 80 });
    expect(performance.now() - before).toBeLessThan(2000);
    expect(text.split('\n').every((line) => line.length <= 80)).toBe(true);
    expect(text).toMatch(/\+1,999,9\d\d chars/);
    expect(text.length).toBeLessThan(20_000);
  });

  it('cuts what is nested too deep, and can be written as JSON', () => {
    const deep = `${'['.repeat(100_000)}1${']'.repeat(100_000)}`;
    const history = new SyntheticHistory('order', 'order-1').task();
    const data = Buffer.from(`{"state":${deep}}`).toString('base64');
    const encoding = Buffer.from('json/plain').toString('base64');
    history.add('activityTaskScheduled', {
      activityId: '1.act#1',
      activityType: { name: 'order.act' },
      input: { payloads: [{ metadata: { encoding }, data }] },
    });
    expect(JSON.stringify(traced(history))).toContain('nested deeper than 250 levels');
  });

  it('keeps names that objects have of themselves', () => {
    const data = Buffer.from('{"__proto__":{"polluted":1},"constructor":2}').toString('base64');
    const encoding = Buffer.from('json/plain').toString('base64');
    const history = new SyntheticHistory('order', 'order-1', { input: 1 });
    (history.events[0] as any).workflowExecutionStartedEventAttributes.input = {
      payloads: [{ metadata: { encoding }, data }],
    };
    const trace = traceOf([history]);
    expect(JSON.stringify(trace.runs[0]?.input)).toContain('"__proto__":{"polluted":1}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
