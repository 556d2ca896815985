import { millisecondsOf } from './duration';
import { GraphDefinitionError } from './errors';
import type { Duration, NodeActivityOptions, NodeRetryPolicy } from './node-definition';

const MAX_NAME = 200;

/**
 * Refuses activity options that the server would refuse at run time, where they leave a run retrying for ever.
 *
 * @throws {GraphDefinitionError} `INVALID_OPTION`, naming whose option it is.
 */
export function checkActivityOptions(whose: string, options: NodeActivityOptions | undefined): void {
  if (options === undefined) return;
  const durations = [
    'startToCloseTimeout',
    'scheduleToCloseTimeout',
    'scheduleToStartTimeout',
    'heartbeatTimeout',
  ] as const;
  for (const name of durations) positive(whose, name, options[name]);
  if (options.taskQueue !== undefined && !isQueueName(options.taskQueue)) {
    throw invalid(
      whose,
      'taskQueue',
      options.taskQueue,
      `a name of 1 to ${MAX_NAME} characters that does not start with "/_sys/"`,
    );
  }
  checkRetry(whose, options.retry);
}

function isQueueName(name: string): boolean {
  return name !== '' && name.length <= MAX_NAME && !name.startsWith('/_sys/');
}

function checkRetry(whose: string, retry: NodeRetryPolicy | undefined): void {
  if (retry === undefined) return;
  const { maximumAttempts, backoffCoefficient, initialInterval, maximumInterval } = retry;
  if (maximumAttempts !== undefined && !(Number.isInteger(maximumAttempts) && maximumAttempts >= 1)) {
    throw invalid(whose, 'retry.maximumAttempts', maximumAttempts, 'a whole number from 1');
  }
  if (backoffCoefficient !== undefined && !(Number.isFinite(backoffCoefficient) && backoffCoefficient >= 1)) {
    throw invalid(whose, 'retry.backoffCoefficient', backoffCoefficient, 'a number from 1');
  }
  const initial = positive(whose, 'retry.initialInterval', initialInterval) ?? 1000;
  const maximum = positive(whose, 'retry.maximumInterval', maximumInterval);
  if (maximum !== undefined && maximum < initial) {
    throw invalid(
      whose,
      'retry.maximumInterval',
      maximumInterval,
      'no shorter than the initial interval (default 1 second)',
    );
  }
}

function positive(whose: string, name: string, duration: Duration | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const ms = millisecondsOf(duration);
  if (ms !== undefined && Number.isFinite(ms) && ms > 0) return ms;
  throw invalid(whose, name, duration, "a positive number of ms, or a duration such as '30 seconds'");
}

function invalid(whose: string, name: string, found: unknown, wanted: string): GraphDefinitionError {
  return new GraphDefinitionError(
    'INVALID_OPTION',
    `${whose} has ${name}: ${JSON.stringify(found)}. It must be ${wanted}.`,
  );
}
