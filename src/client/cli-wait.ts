import { INTERRUPT, type Interrupt } from '../graph/commands';
import { visible } from '../trace/visible-text';
import type { Output } from './cli-output';
import { slowly } from './cli-progress';
import { indented, jsonPretty, jsonLine } from './cli-text';
import type { ServerThread } from './server-thread';

/** Where a run stopped. */
export interface ReachedStop {
  readonly status: 'waiting' | 'done';
  readonly values: Readonly<Record<string, unknown>>;
  readonly questions: readonly Interrupt[];
}

/** Waits until the run waits or ends. @throws {GraphRunError} when it fails. */
export async function stopReached(thread: ServerThread): Promise<ReachedStop> {
  const result = (await slowly('waiting for the run to stop', 'Ctrl-C leaves it running', () =>
    thread.untilStopped(),
  )) as Record<string, unknown> & { readonly [INTERRUPT]?: readonly Interrupt[] };
  const { [INTERRUPT]: questions = [], ...values } = result;
  return { status: questions.length > 0 ? 'waiting' : 'done', values, questions };
}

export function stopText({ status, values, questions }: ReachedStop, { colours }: Output): string {
  const asked = questions.map(({ id, value }) => `  ${visible(id)}  ${jsonLine(value)}`);
  const how = status === 'waiting' ? colours.yellow('waiting for an answer') : colours.green('done');
  return [how, ...asked, indented(jsonPretty(values))].join('\n');
}
