import type { StreamEvent } from 'abeyance';

/** All that a stream yields. */
export async function all<E>(stream: AsyncIterable<E>): Promise<E[]> {
  const events: E[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** What a stream yields up to the first event that the check is true for; the stream is left there. */
export async function upTo<E>(stream: AsyncIterable<E>, isLast: (event: E) => boolean): Promise<E[]> {
  const events: E[] = [];
  for await (const event of stream) {
    events.push(event);
    if (isLast(event)) break;
  }
  return events;
}

/** Each event as one line that tells which it is, without times and ids of runs. */
export function lines(events: readonly StreamEvent[]): string[] {
  return events.map(lineOf);
}

function lineOf(event: StreamEvent): string {
  switch (event.kind) {
    case 'values': {
      const { __interrupt__: open, ...values } = event.values;
      const asks = open ? ` asks ${open.map(({ id }: { id: string }) => id).join(' ')}` : '';
      return `${event.step} values ${JSON.stringify(values)}${asks}`;
    }
    case 'updates':
      return `${event.task}#${event.visit} updates ${JSON.stringify(event.updates)}`;
    case 'task-start':
      return `${event.task}#${event.visit} starts${event.tool ? ` ${event.tool}` : ''}`;
    case 'task-end':
      return `${event.task}#${event.visit} ${event.end.kind}`;
    case 'attempt-failed':
      return `${event.task}#${event.visit} attempt ${event.attempt} failed: ${event.error?.message ?? 'unknown'}`;
    case 'questions':
      return `open: ${event.questions.map(({ id }) => id).join(' ')}`;
    case 'custom':
      return `${event.task}#${event.visit} attempt ${event.attempt} wrote ${event.index} ${JSON.stringify(event.chunk)}`;
    case 'messages':
      return `${event.task}#${event.visit} attempt ${event.attempt} said ${event.from} ${JSON.stringify(event.text)}`;
    case 'end':
      return `end ${event.status}${event.error ? ` ${event.error.code}` : ''}`;
    default:
      return event satisfies never;
  }
}
