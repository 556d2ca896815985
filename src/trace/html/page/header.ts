import type { Trace } from '../../trace';
import { copyButton, h } from './dom';
import { count, duration, moment, plural } from './format';
import { statusBadge } from './row-cells';
import { bdi } from './text';

/** Who, when, how long, and the totals, of each thread on the page. */
export function threadHeader(trace: Trace): HTMLElement {
  const { thread, totals } = trace;
  const { tokens } = totals;
  return h(
    'div',
    { class: 'thread-header' },
    h(
      'div',
      { class: 'thread-name' },
      bdi(thread.id, 'thread-id'),
      copyButton('the thread id', () => thread.id),
      statusBadge(thread.status, true),
    ),
    h(
      'dl',
      { class: 'stats' },
      ...stat('Graph', bdi(thread.graph)),
      ...stat('Started', moment(thread.span.from)),
      ...stat('Duration', duration(thread.span.durationMs)),
      ...stat('Active', duration(totals.activeMs)),
      ...stat('Waiting', duration(totals.waitingMs)),
      ...stat('Turns', count(totals.turns)),
      ...stat('Tokens', tokens.total > 0 ? `${count(tokens.input)} in · ${count(tokens.output)} out` : 'none counted'),
      ...(totals.failures + totals.retries > 0
        ? stat(
            'Trouble',
            [
              totals.retries > 0 && plural(totals.retries, 'retry', 'retries'),
              totals.failures > 0 && plural(totals.failures, 'failure'),
            ]
              .filter(Boolean)
              .join(' · '),
          )
        : []),
    ),
  );
}

function stat(name: string, value: string | Node): readonly HTMLElement[] {
  return [h('div', {}, h('dt', {}, name), h('dd', {}, value))];
}
