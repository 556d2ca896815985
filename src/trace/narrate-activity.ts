import { readChunks } from '../graph/live-window';
import { placeOf, type AttemptPlace, type Narrator } from '../graph/narrator';
import type { ActivityEvents } from './activity-events';
import { nodeFailureOf } from './node-failure-of';
import { firstPayload, jsonOf } from './payload';
import { numberOf, objectOf, textOf } from './untrusted';

// As many as a person would look at; an activity may have been tried for months.
const MOST_ATTEMPTS = 1000;

/** Tells of an activity that has ended what its record says beside its outcome: failed attempts, progress, a model's text. */
export function narrateActivity(
  narrator: Narrator,
  activityId: string,
  { started, closed }: Partial<ActivityEvents> = {},
  at: string,
): void {
  const place = placeOfActivity(activityId);
  const last = Math.max(1, numberOf(started?.attributes.attempt) ?? 1);
  for (let attempt = Math.max(1, last - MOST_ATTEMPTS); attempt < last; attempt++) {
    const failure = attempt === last - 1 ? started?.attributes.lastFailure : undefined;
    narrator.attemptFailed({ ...place, attempt }, failure ? errorOf(place.task, failure) : undefined, at);
  }
  const { written, record } = objectOf(jsonOf(firstPayload(closed?.attributes.result)));
  const { from, chunks } = readChunks(written) ?? { from: 0, chunks: [] };
  for (const [index, chunk] of chunks.entries()) narrator.wrote({ ...place, attempt: last }, from + index, chunk, at);
  const { kind, reply } = objectOf(record);
  const text = kind === 'model' ? textOf(objectOf(reply).content) : undefined;
  if (text !== undefined) narrator.said({ ...place, attempt: last }, 0, text, at);
}

/** The task and visit that an activity id names, `2.review/1.ask#1`. */
export function placeOfActivity(activityId: string): Omit<AttemptPlace, 'attempt'> {
  const end = activityId.lastIndexOf('#');
  const id = activityId.slice(0, end);
  const own = id.slice(id.lastIndexOf('/') + 1);
  return placeOf({ id, step: Number.parseInt(own, 10), visit: Number(activityId.slice(end + 1)) });
}

/** Why an attempt failed, as `onError` would be told. */
export function errorOf(task: string, failure: unknown): { readonly code: string; readonly message: string } {
  const { code, message } = nodeFailureOf(task, failure);
  return { code, message };
}
