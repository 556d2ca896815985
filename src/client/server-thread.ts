import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { AnyGraph } from '../graph/compiled-graph';
import {
  answersById,
  readDecision,
  encodeAnswer,
  type AnswerInCommand,
  type DecisionRecord,
  type DecisionRequest,
} from '../graph/decision';
import { DecisionRefusedError, ThreadError } from '../graph/errors';
import { stateAt } from '../graph/checkpoints';
import type { StateEdit } from '../graph/edit-state';
import type {
  Accepted,
  DecideOptions,
  GraphThread,
  RunResult,
  StateSnapshot,
  UpdateStateOptions,
} from '../graph/graph-runner';
import type { JsonObject } from '../graph/json';
import type { Question } from '../graph/question';
import { resultOf, type Stop } from '../graph/run-view';
import type { DefaultMode, StreamEvent, StreamMode, ThreadStreamOptions } from '../graph/stream-event';
import { encodeUpdate } from '../graph/write-state';
import { checkpointsOf } from '../trace/checkpoints-of';
import {
  decideUpdate,
  decisionsQuery,
  untilStoppedUpdate,
  updateStateUpdate,
  type DecisionReply,
} from '../workflows/messages';
import { readHistories } from './read-histories';
import { askRun, endOf, lookUp, readState, type ThreadFacts } from './read-thread';
import { takeUpAgain } from './take-up';
import { beginningOf, fromNowOn, fromStanding, streamThread, type StreamFrom } from './thread-stream';
import { endedMeanwhile, finished, fromUpdateError, isNotRunning, isTakenBack } from './temporal-errors';

// The last waits a second; a task that fails so often will fail for good.
const MOST_TRIES = 10;

/** What a decision is for. */
type Target = Pick<DecisionRequest, 'question' | 'node' | 'digest'>;

/** A thread on a Temporal server, known by its id alone. */
export class ServerThread implements GraphThread {
  constructor(
    private readonly client: Client,
    readonly id: string,
    private readonly graph?: AnyGraph,
    /** This run only, or the one it has rolled over into; without it the newest. */
    private readonly runId?: string,
  ) {}

  async approve(options: DecideOptions = {}): Promise<Accepted> {
    return (await this.decide({ ...options, type: 'approve' }, 'verdict')).verdict;
  }

  async deny(options: DecideOptions = {}): Promise<Accepted> {
    return (await this.decide({ ...options, type: 'deny' }, 'verdict')).verdict;
  }

  async edit(args: unknown, options: DecideOptions = {}): Promise<Accepted> {
    return (await this.decide({ ...options, type: 'edit', args: encodeAnswer(args) as never }, 'verdict')).verdict;
  }

  async respond(response: unknown, options: DecideOptions = {}): Promise<Accepted> {
    const request = { ...options, type: 'respond' as const, response: encodeAnswer(response) as never };
    return (await this.decide(request, 'verdict')).verdict;
  }

  async resume(value: unknown, options: DecideOptions = {}): Promise<Accepted> {
    return (await this.decide({ ...options, type: 'resume', value: encodeAnswer(value) as never }, 'verdict')).verdict;
  }

  /** Answers, and returns where the run stops next. */
  async resumeUntilStopped(value: unknown, options: DecideOptions = {}): Promise<RunResult<any>> {
    const { stop } = await this.decide({ ...options, type: 'resume', value: encodeAnswer(value) as never }, 'stop');
    return resultOf(this.graph, stop as Stop) as RunResult<any>;
  }

  async getState(): Promise<StateSnapshot<any>> {
    return readState(this.client, await this.facts(), this.graph);
  }

  async decisions(): Promise<readonly DecisionRecord[]> {
    return askRun(this.client, await this.facts(), decisionsQuery);
  }

  async untilStopped(): Promise<RunResult<any>> {
    return resultOf(this.graph, await this.stopReached()) as RunResult<any>;
  }

  async updateState(values: object, { asNode }: UpdateStateOptions = {}): Promise<StateSnapshot<any>> {
    const update = this.graph ? encodeUpdate(this.graph.schema, values, 'update') : encodeAnswer(values);
    await this.editState({ update: update as JsonObject, ...(asNode && { asNode }) });
    return this.getState();
  }

  async *getStateHistory(): AsyncGenerator<StateSnapshot<any>> {
    const graph = this.knownGraph('history');
    await this.facts();
    const checkpoints = checkpointsOf(graph, await readHistories(this.client, this.id));
    for (const checkpoint of checkpoints.newestFirst()) yield stateAt(graph, this.id, checkpoint);
  }

  async *stream<const M extends StreamMode = DefaultMode>(
    options: ThreadStreamOptions<M> = {},
  ): AsyncGenerator<StreamEvent<any, M>> {
    const source = { client: this.client, graph: this.knownGraph('stream'), threadId: this.id };
    const from = await beginningOf(this.client, await this.facts(), options);
    yield* streamThread(source, from, 'end', options) as AsyncGenerator<StreamEvent<any, M>>;
  }

  /** Answers; tells from where on the run is to be streamed. */
  async answerAndStream({ answer, details }: AnswerInCommand): Promise<StreamFrom> {
    const before = fromNowOn(await this.facts());
    await this.resume(answer, details);
    return before;
  }

  /** Carries on; tells from where on the run is to be streamed. */
  async carryOnAndStream(graph: AnyGraph, recursionLimit: number | undefined): Promise<StreamFrom> {
    const facts = await this.facts();
    switch (await this.carryOn(recursionLimit, facts)) {
      case 'resumed':
        return fromNowOn(facts);
      case 'taken-up':
        return { kind: 'run', runId: (await this.facts()).runId };
      default:
        return fromStanding({ client: this.client, graph, threadId: this.id }, facts.runId);
    }
  }

  /** Lets the run go on past a breakpoint, or a failed one from where it failed; else changes nothing. */
  async carryOn(recursionLimit: number | undefined, known?: ThreadFacts): Promise<'resumed' | 'taken-up' | undefined> {
    const facts = known ?? (await this.facts());
    if (!facts.isRunning) {
      if (facts.status !== 'FAILED') return undefined;
      await this.retry(facts, recursionLimit);
      return 'taken-up';
    }
    const held = facts.published?.questions.filter(({ kind }) => kind === 'breakpoint') ?? [];
    for (const { id, digest } of held) await this.resume(null, { question: id, digest });
    return held.length > 0 ? 'resumed' : undefined;
  }

  // Of two who retry at once, the second waits for what the first has started.
  private async retry(facts: ThreadFacts, recursionLimit: number | undefined): Promise<void> {
    try {
      await takeUpAgain(this.client, facts, { recursionLimit }, this.graph);
    } catch (error) {
      if (!(error instanceof ThreadError)) throw error;
      const isOthers = error.code === 'THREAD_BUSY' || (await this.facts()).runId !== facts.runId;
      if (!isOthers) throw error;
    }
  }

  private knownGraph(what: 'history' | 'stream'): AnyGraph {
    if (this.graph) return this.graph;
    const message = `A ${what} is read with its graph. Take the thread with thread(graph, "${this.id}").`;
    throw new ThreadError('THREAD_OF_OTHER_GRAPH', message, this.id);
  }

  private async editState(edit: StateEdit): Promise<void> {
    const expected = this.graph && { graph: this.graph.name };
    try {
      await this.send((handle) => handle.executeUpdate(updateStateUpdate, { args: [edit, expected] }));
    } catch (error) {
      if (!isNotRunning(error)) throw fromUpdateError(error, this.id);
      await takeUpAgain(this.client, await this.facts(), { edit }, this.graph);
    }
  }

  // A run that rolls over replies so, and its successor, which is there by then, is asked next.
  private async stopReached(): Promise<Stop> {
    const expected = this.graph && { graph: this.graph.name };
    for (;;) {
      try {
        const reached = await this.send((handle) => handle.executeUpdate(untilStoppedUpdate, { args: [expected] }));
        if (reached.kind !== 'rolled') return reached;
      } catch (error) {
        if (!isNotRunning(error) && !endedMeanwhile(error)) throw fromUpdateError(error, this.id);
        const facts = await this.facts();
        if (!facts.isRunning) return endOf(this.client, facts);
      }
    }
  }

  private async send<T>(update: (handle: WorkflowHandle) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await update(await this.handle());
      } catch (error) {
        if (!isTakenBack(error) || tries === MOST_TRIES) throw error;
      }
      await setTimeout(2 ** tries);
    }
  }

  // Never pinned to one run: a run may roll over at any time.
  private async handle(): Promise<WorkflowHandle> {
    if (this.runId === undefined) return this.client.workflow.getHandle(this.id);
    const { firstRunId: firstExecutionRunId } = await lookUp(this.client, this.id, this.runId);
    return this.client.workflow.getHandle(this.id, undefined, { firstExecutionRunId });
  }

  // A decision without a target is bound to the one open question, so that it can never answer the next one instead.
  private async decide(request: DecisionRequest, waitFor: 'verdict' | 'stop'): Promise<DecisionReply> {
    // What cannot be carried is told before it is sent: on the way it would become something else.
    readDecision(request, 'update');
    const targeted = request.question !== undefined || request.node !== undefined || answersById(request) !== undefined;
    const bound = targeted ? request : boundTo(await this.targetOf(request), request);
    try {
      // Never the decision id: the server would answer a second one with the first one's reply without asking us.
      const waiting = { waitFor, ...(this.graph && { graph: this.graph.name }) };
      const updateId = randomUUID();
      const reply = await this.send((handle) =>
        handle.executeUpdate(decideUpdate, { args: [bound, waiting], updateId }),
      );
      return reply.stop?.kind === 'rolled' ? { ...reply, stop: await this.stopReached() } : reply;
    } catch (error) {
      if (!isNotRunning(error)) throw fromUpdateError(error, this.id);
      await this.facts();
      throw finished(this.id, error);
    }
  }

  // One that was sent before is for what it was for then, or it would not be known as the same.
  private async targetOf({ decisionId }: DecisionRequest): Promise<Target> {
    const facts = await this.facts();
    if (!facts.isRunning) throw finished(this.id);
    if (decisionId !== undefined) {
      const decisions = await askRun(this.client, facts, decisionsQuery);
      const earlier = decisions.find(({ decision }) => decision.decisionId === decisionId);
      if (earlier) return targetIn(earlier.decision);
    }
    return onlyQuestion(facts);
  }

  /** What the server knows of the thread. @throws {ThreadError} `THREAD_UNKNOWN`, `THREAD_OF_OTHER_GRAPH`. */
  async facts(): Promise<ThreadFacts> {
    const facts = await lookUp(this.client, this.id, this.runId);
    if (this.graph === undefined || facts.graph === this.graph.name) return facts;
    const message = `Thread "${this.id}" runs graph "${facts.graph}", not "${this.graph.name}". Use another thread id.`;
    throw new ThreadError('THREAD_OF_OTHER_GRAPH', message, this.id);
  }
}

// The digest a caller was shown is what they decided on: never the one the question has by now.
function boundTo(target: Target, request: DecisionRequest): DecisionRequest {
  return { ...request, ...target, ...(request.digest !== undefined && { digest: request.digest }) };
}

function targetIn({ question, node, digest }: Target): Target {
  return { question, node, digest };
}

function onlyQuestion({ published }: ThreadFacts): Target {
  const open = published?.questions ?? [];
  const [only, ...more] = open;
  if (only && more.length === 0) return { question: only.id, digest: only.digest };
  throw refusal(open);
}

function refusal(questions: readonly Question[]): DecisionRefusedError {
  const open = questions.map(({ id, node, value }) => ({ id, node, value }));
  if (open.length === 0) {
    const message =
      'No question is open. Wait with untilStopped, or decide ahead by naming the question or its node. Nothing changed.';
    return new DecisionRefusedError('NOTHING_PENDING', message);
  }
  const message = `Several questions are open, and the decision does not say which it is for. Name one by "question": ${open.map(({ id }) => id).join(', ')}. Nothing changed.`;
  return new DecisionRefusedError('ANSWER_AMBIGUOUS', message, open);
}
