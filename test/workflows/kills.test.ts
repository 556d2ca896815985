import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ServiceError, WorkflowUpdateRPCTimeoutOrCancelledError, type Client } from '@temporalio/client';
import { ThreadError } from 'abeyance';
import { eventsOf, workflowTaskFailures } from '../support/histories';
import { forkWorker, type ForkedWorker } from '../support/fork-worker';
import { onServer } from '../support/on-server';
import { ordeal } from '../support/ordeal-graph';
import { effectsIn, type Effect } from '../support/ordeal-nodes';

jest.setTimeout(300_000);

const RUNS = 100;
const IN_FLIGHT = 10;
// A busy machine takes longer, and is to be done all the same.
const MOST_KILLS = 40;
// By then the server has the heartbeat that tells of an effect, on a busy machine too.
const RECORDED_WITHIN = 2_000;

const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const between = (from: number, to: number): number => Math.floor(from + random() * (to - from));

const directory = mkdtempSync(join(tmpdir(), 'kills-test-'));
const effectsFile = join(directory, 'effects.jsonl');
const server = onServer(() => ({}));
const workers = new Set<ForkedWorker>();
/** When each process was killed. */
const killed = new Map<number, number>();
let over = false;

// The workers of this file live in processes of their own.
beforeAll(async () => {
  writeFileSync(effectsFile, '');
  await server.stopWorker();
});
afterAll(async () => {
  await Promise.all([...workers].map((worker) => worker.kill()));
  rmSync(directory, { recursive: true, force: true });
});

it(`the worker killed at random points in ${RUNS} runs loses no answer, repeats no "once" and no node that was recorded`, async () => {
  process.stdout.write(`kills: KILL_SEED=${seed}\n`);
  const threads = Array.from({ length: RUNS }, () => server.threadId('ordeal'));
  // The same seed gives the same answers, through the same doors, after the same waits.
  const plans = threads.map((threadId, n) => ({
    threadId,
    answer: `answer ${n}`,
    early: random() < 0.3,
    wait: between(0, 400),
  }));
  await hire();
  const killing = killAgainAndAgain();
  try {
    await pooled(plans, IN_FLIGHT, runThrough);
  } finally {
    over = true;
    await killing;
  }

  const effects = effectsIn(effectsFile);
  const repeated = repeatsIn(effects);
  process.stdout.write(
    `kills: ${killed.size} kills, ${effects.length} effects, ${repeated.length} of them repeated within the window\n`,
  );
  expect(killed.size).toBeGreaterThan(3);
  for (const { threadId, answer } of plans) {
    const done = effects.filter((effect) => effect.threadId === threadId);
    const { values, status } = await server.graphs.thread(ordeal, threadId).getState();
    expect([status, values.log]).toEqual(['done', ['pack', `ticket ${answer}`, 'label post']]);
    expect([...new Set(done.map(({ what }) => what))].sort()).toEqual(
      ['label', 'pack', 'post', 'ticket', `told ${answer}`].sort(),
    );
    await expectNothingAfterItsRecord(server.client, threadId, done);
    expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
  }
  for (const { again, before } of repeated) {
    expect([again.idempotencyKey, again.visit]).toEqual([before.idempotencyKey, before.visit]);
    expect(again.attempt).toBeGreaterThan(before.attempt);
    if (isOnce(again)) expect((killed.get(before.pid) ?? Infinity) - before.at).toBeLessThan(RECORDED_WITHIN);
  }
});

const isOnce = ({ what }: Effect): boolean => ['ticket', 'label', 'post'].includes(what);

/** What was done a second time, with the time before. */
function repeatsIn(effects: readonly Effect[]): readonly { readonly again: Effect; readonly before: Effect }[] {
  return effects.flatMap((again, index) => {
    const before = effects
      .slice(0, index)
      .findLast(({ threadId, what }) => threadId === again.threadId && what === again.what);
    return before ? [{ again, before }] : [];
  });
}

/** Each visit of a task is scheduled once, and the attempt whose end was recorded is the last that did anything. */
async function expectNothingAfterItsRecord(
  client: Client,
  threadId: string,
  effects: readonly Effect[],
): Promise<void> {
  const scheduled = await eventsOf(client, threadId, 'activityTaskScheduledEventAttributes');
  const started = await eventsOf(client, threadId, 'activityTaskStartedEventAttributes');
  const completed = await eventsOf(client, threadId, 'activityTaskCompletedEventAttributes');
  const visits = scheduled.map((event) => event.activityTaskScheduledEventAttributes?.activityId ?? '');
  expect(visits).toEqual(['1.pack#1', '2.ask#1', '2.ask#2', '3.ship#1']);
  expect(completed).toHaveLength(visits.length);
  for (const event of completed) {
    const { scheduledEventId, startedEventId } = event.activityTaskCompletedEventAttributes ?? {};
    const visit = visits[scheduled.findIndex(({ eventId }) => String(eventId) === String(scheduledEventId))];
    const start = started.find(({ eventId }) => String(eventId) === String(startedEventId));
    const attempt = start?.activityTaskStartedEventAttributes?.attempt ?? 0;
    const last = Math.max(
      0,
      ...effects.filter((one) => `${one.task}#${one.visit}` === visit).map((one) => one.attempt),
    );
    expect(last).toBeLessThanOrEqual(attempt);
  }
}

interface Plan {
  readonly threadId: string;
  readonly answer: string;
  /** Answered by a signal before it asks, else by an update at some moment after. */
  readonly early: boolean;
  readonly wait: number;
}

async function runThrough({ threadId, answer, early, wait }: Plan): Promise<void> {
  const { taskQueue } = server;
  // A workflow task that a killed worker had begun is given to another after this; by default after ten seconds.
  const options = { workflowId: threadId, taskQueue, args: [{}], workflowTaskTimeout: '2 seconds' } as const;
  await server.client.workflow.start(ordeal.name, options);
  const thread = server.graphs.thread(ordeal, threadId);
  await setTimeout(wait);
  if (early) {
    const handle = server.client.workflow.getHandle(threadId);
    await handle.signal('resume', answer, { question: '2.ask:0' });
  } else await insisting(() => thread.resume(answer, { question: '2.ask:0', decisionId: `answer of ${threadId}` }));
  await insisting(() => thread.untilStopped().then(({ log }) => expect(log).toHaveLength(3)));
}

// A caller whose worker is killed may be told nothing for a while, and asks again.
async function insisting(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      const isSilence =
        error instanceof ServiceError ||
        error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
        (error instanceof ThreadError && error.code === 'THREAD_UNREACHABLE');
      if (!isSilence || over) throw error;
    }
    await setTimeout(100);
  }
}

async function hire(): Promise<ForkedWorker> {
  const worker = await forkWorker(server.taskQueue, effectsFile);
  workers.add(worker);
  return worker;
}

/** Kills the worker at random moments, now and then with its successor serving already, until all runs are through. */
async function killAgainAndAgain(): Promise<void> {
  while (!over && killed.size < MOST_KILLS) {
    await setTimeout(between(50, 1_000));
    const [victim] = workers;
    if (!victim || over) continue;
    const successor = random() < 0.5 ? hire() : undefined;
    if (successor && random() < 0.5) await successor;
    workers.delete(victim);
    await victim.kill();
    killed.set(victim.pid ?? 0, Date.now());
    await (successor ?? hire());
  }
}

/** Runs through all, some at a time; one that fails is told when the others are through as well. */
async function pooled<T>(items: readonly T[], limit: number, run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await run(next).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (failures.length > 0) throw failures[0];
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
