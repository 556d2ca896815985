import type { Item, MessageShown, Tokens } from './item';
import { messagesIn } from './turn-item';
import { jsonOf } from './payload';
import type { Run, Stop, Totals } from './trace';
import { objectOf } from './untrusted';

const NO_TOKENS: Tokens = { input: 0, output: 0, total: 0 };

/** Sums over the runs of a thread. */
export function totalsOf(runs: readonly Run[]): Totals {
  const stops = runs.flatMap((run) => run.stops);
  const items = stops.flatMap((stop) => stop.items);
  const count = (kind: Item['kind']): number => items.filter((item) => item.kind === kind).length;
  const waitingMs = sum(stops.map(({ pause }) => pause?.durationMs ?? 0));
  return {
    runs: runs.length,
    stops: stops.length,
    turns: count('turn'),
    messages: messageIds(runs).size,
    toolCalls: count('tool'),
    nodes: count('node'),
    waits: new Set(items.flatMap((item) => (item.kind === 'wait' ? [`${item.question} ${item.digest}`] : []))).size,
    retries: sum(items.map((item) => ('attempts' in item ? Math.max(0, item.attempts.length - 1) : 0))),
    failures: items.filter((item) => 'status' in item && (item.status === 'failed' || item.status === 'timed-out'))
      .length,
    refusedDecisions: sum(items.map(refusedIn)),
    tokens: tokensOfItems(items),
    activeMs: Math.max(0, Math.round((sum(runs.map(({ span }) => span.durationMs)) - waitingMs) * 1000) / 1000),
    waitingMs,
  };
}

/** The tokens of the turns among these items. */
export function tokensOfItems(items: readonly Item[]): Tokens {
  return items.reduce((all, item) => (item.kind === 'turn' && item.tokens ? added(all, item.tokens) : all), NO_TOKENS);
}

function added(a: Tokens, b: Tokens): Tokens {
  const cached = a.cached === undefined && b.cached === undefined ? undefined : (a.cached ?? 0) + (b.cached ?? 0);
  const reasoning =
    a.reasoning === undefined && b.reasoning === undefined ? undefined : (a.reasoning ?? 0) + (b.reasoning ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    total: a.total + b.total,
    ...(cached !== undefined && { cached }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

function sum(numbers: readonly number[]): number {
  return Math.round(numbers.reduce((all, one) => all + one, 0) * 1000) / 1000;
}

function refusedIn(item: Item): number {
  if (item.kind === 'wait') return item.refused.length;
  return item.kind === 'decision' && item.decision.verdict.kind === 'refused' ? 1 : 0;
}

function messageIds(runs: readonly Run[]): ReadonlySet<string> {
  const seen = runs.flatMap((run) => [
    ...run.stops.flatMap((stop) => [...contextsOf(stop), ...conversationIn(jsonOf(stop.checkpoint?.values))]),
    ...conversationIn(jsonOf(run.result)),
  ]);
  return new Set(seen.flatMap(({ id }) => (id === undefined ? [] : [id])));
}

function contextsOf({ items }: Stop): readonly MessageShown[] {
  return items.flatMap((item) => (item.kind === 'turn' ? item.context : []));
}

/** Messages are known by their ids and roles, under whichever key the state keeps them. */
function conversationIn(values: unknown): readonly MessageShown[] {
  return Object.values(objectOf(values)).flatMap((value) => {
    const first: unknown = Array.isArray(value) ? value[0] : undefined;
    const { role, content } = objectOf(first);
    return typeof role === 'string' && typeof content === 'string' ? messagesIn(value) : [];
  });
}
