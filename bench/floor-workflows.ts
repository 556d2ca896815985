import { condition, defineUpdate, proxyActivities, proxyLocalActivities, setHandler } from '@temporalio/workflow';
import type { floorActivities } from './floor-activities';

const { step_one, place_order, increment } = proxyActivities<typeof floorActivities>({ startToCloseTimeout: '10s' });

const local = proxyLocalActivities<typeof floorActivities>({ startToCloseTimeout: '10s' });

/** Replies when the run waits, with what it asks. */
export const pausedUpdate = defineUpdate<unknown, []>('paused');

/** Answers, and replies when the run has ended. */
export const answerUpdate = defineUpdate<unknown, [unknown]>('answer');

/** The job of the gate graph, written by hand: one step, one question, one end. */
export async function floor_gate(): Promise<unknown> {
  let asked: unknown;
  let answer: { readonly value: unknown } | undefined;
  const run: { end?: unknown } = {};
  setHandler(pausedUpdate, async () => {
    await condition(() => asked !== undefined);
    return asked;
  });
  setHandler(answerUpdate, async (value) => {
    answer = { value };
    await condition(() => run.end !== undefined);
    return run.end;
  });
  let state: object = { order_total: 500, approved: false };
  state = { ...state, ...(await step_one(state)) };
  let outcome = await place_order(state, []);
  if ('question' in outcome) {
    asked = outcome.question;
    await condition(() => answer !== undefined);
    outcome = await place_order(state, [answer?.value]);
  }
  run.end = { ...state, ...outcome };
  return run.end;
}

/** Ten steps, one after the other. */
export async function floor_chain(): Promise<unknown> {
  let state = { n: 0 };
  for (let i = 0; i < 10; i++) state = { ...state, ...(await increment(state)) };
  return state;
}

/** The same ten steps, as local activities. */
export async function floor_local_chain(): Promise<unknown> {
  let state = { n: 0 };
  for (let i = 0; i < 10; i++) state = { ...state, ...(await local.increment(state)) };
  return state;
}

/** Fifty steps at once. */
export async function floor_fan(): Promise<unknown> {
  const results = await Promise.all(Array.from({ length: 50 }, (_, n) => increment({ n })));
  return results.reduce((sum, { n }) => sum + n, 0);
}
