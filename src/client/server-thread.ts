import { randomUUID } from 'node:crypto';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { AnyGraph } from '../graph/compiled-graph';
import { answersById, encodeAnswer, type DecisionRecord, type DecisionRequest } from '../graph/decision';
import { DecisionRefusedError, ThreadError } from '../graph/errors';
import type { Accepted, DecideOptions, GraphThread, RunResult, StateSnapshot } from '../graph/graph-runner';
import type { Question } from '../graph/question';
import { resultOf, type Stop } from '../graph/run-view';
import { decideUpdate, decisionsQuery, untilStoppedUpdate, type DecisionReply } from '../workflows/messages';
import { askRun, endOf, lookUp, readState, type ThreadFacts } from './read-thread';
import { endedMeanwhile, finished, fromUpdateError, isNotRunning } from './temporal-errors';

/** What a decision is for. */
type Target = Pick<DecisionRequest, 'question' | 'node' | 'digest'>;

/** A thread on a Temporal server, known by its id alone. */
export class ServerThread implements GraphThread {
  private readonly handle: WorkflowHandle;

  constructor(
    private readonly client: Client,
    readonly id: string,
    private readonly graph?: AnyGraph,
    /** This run only; without it the newest. */
    private readonly runId?: string,
  ) {
    this.handle = client.workflow.getHandle(id, runId);
  }

  async approve(options: DecideOptions = {}): Promise<Accepted> {
    return (await this.decide({ ...options, type: 'approve' }, 'verdict')).verdict;
  }

  async deny(options: DecideOptions = {}): Promise<Accepted> {
    return (await this.decide({ ...options, type: 'deny' }, 'verdict')).verdict;
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
    const expected = this.graph && { graph: this.graph.name };
    try {
      const stop = await this.handle.executeUpdate(untilStoppedUpdate, { args: [expected] });
      return resultOf(this.graph, stop) as RunResult<any>;
    } catch (error) {
      if (!isNotRunning(error) && !endedMeanwhile(error)) throw fromUpdateError(error, this.id);
      return resultOf(this.graph, await endOf(this.client, await this.facts())) as RunResult<any>;
    }
  }

  // A decision without a target is bound to the one open question, so that it can never answer the next one instead.
  private async decide(request: DecisionRequest, waitFor: 'verdict' | 'stop'): Promise<DecisionReply> {
    const targeted = request.question !== undefined || request.node !== undefined || answersById(request) !== undefined;
    const bound = targeted ? request : boundTo(await this.targetOf(request), request);
    try {
      // Never the decision id: the server would answer a second one with the first one's reply without asking us.
      const waiting = { waitFor, ...(this.graph && { graph: this.graph.name }) };
      return await this.handle.executeUpdate(decideUpdate, { args: [bound, waiting], updateId: randomUUID() });
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

  private async facts(): Promise<ThreadFacts> {
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
