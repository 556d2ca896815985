import { firstPayload, jsonOf, payloadsOf } from './payload';
import type { Cause, Failure } from './recorded';
import { defined, objectOf, textOf, type Loose } from './untrusted';

const MAX_CAUSES = 20;

const KINDS = {
  applicationFailureInfo: 'application',
  timeoutFailureInfo: 'timeout',
  canceledFailureInfo: 'cancelled',
  terminatedFailureInfo: 'terminated',
  serverFailureInfo: 'server',
  activityFailureInfo: 'activity',
  childWorkflowExecutionFailureInfo: 'child',
} as const;

const TIMEOUTS = ['unspecified', 'start-to-close', 'schedule-to-start', 'schedule-to-close', 'heartbeat'];
const RETRY_STATES = [
  'unspecified',
  'in progress',
  'non-retryable failure',
  'timeout',
  'maximum attempts reached',
  'retry policy not set',
  'internal server error',
  'cancel requested',
];

/** Reads a failure with its causes, or nothing where there is none. */
export function failureOf(value: unknown): Failure | undefined {
  const chain: Cause[] = [];
  for (let next = value; chain.length < MAX_CAUSES && isFailure(next); next = next.cause) chain.push(causeOf(next));
  const [first, ...causes] = chain;
  return first && { ...first, causes };
}

/** The failure that says most: of an activity's failure, its cause. */
export function nearestCause(failure: Failure | undefined): Failure | undefined {
  const [cause, ...causes] = failure?.causes ?? [];
  return failure?.kind === 'activity' && cause ? { ...cause, causes } : failure;
}

function isFailure(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null;
}

function causeOf(failure: Loose): Cause {
  const key = (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((name) => isFailure(failure[name]));
  const info = objectOf(key && failure[key]);
  // A codec may have moved message and stack into a payload.
  const hidden = objectOf(jsonOf(firstPayload([failure.encodedAttributes])));
  const details = payloadsOf(info.details ?? info.lastHeartbeatDetails);
  const kind = key === undefined ? 'unknown' : KINDS[key];
  return defined({
    kind,
    message: textOf(hidden.message) ?? textOf(failure.message) ?? `${kind} failure without a message`,
    code: textOf(info.type),
    node: textOf(objectOf(jsonOf(details[0])).node),
    timeout: wordOf(info.timeoutType, TIMEOUTS, 'TIMEOUT_TYPE_'),
    retryable: key === 'applicationFailureInfo' ? info.nonRetryable !== true : undefined,
    retryState: wordOf(info.retryState, RETRY_STATES, 'RETRY_STATE_'),
    details: details.length > 0 ? details : undefined,
    stack: textOf(hidden.stack_trace) ?? textOf(failure.stackTrace),
  });
}

/** An enum as a word, whether it was exported as its name or its number. */
function wordOf(value: unknown, words: readonly string[], prefix: string): string | undefined {
  if (typeof value === 'number') return value === 0 ? undefined : (words[value] ?? String(value));
  const name = textOf(value);
  if (name === undefined || name.endsWith('UNSPECIFIED')) return undefined;
  return name
    .replace(prefix, '')
    .toLowerCase()
    .replaceAll('_', prefix === 'TIMEOUT_TYPE_' ? '-' : ' ');
}
