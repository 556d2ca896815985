import type { SubgraphEnd } from './child-tasks';
import type { Channels } from './state-schema';

/** The key under which the result of a subgraph's own run carries what only the run around it needs. */
export const SUBGRAPH = '__subgraph__';

/** The result of a subgraph's own run: its plain values, and beside them what they do not tell the run around it. */
export function resultWithin(values: Channels, { channels, ...rest }: SubgraphEnd): Record<string, unknown> {
  const hidden = Object.entries(channels).filter(([key]) => !Object.hasOwn(values, key));
  return { ...values, [SUBGRAPH]: { ...rest, ...(hidden.length > 0 && { hidden: Object.fromEntries(hidden) }) } };
}

/** The plain values of a result. */
export function plainValues(result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { [SUBGRAPH]: _, ...values } = result;
  return values;
}

/** What the run of a subgraph has left, of its result. */
export function endOfResult(result: Readonly<Record<string, unknown>>): SubgraphEnd {
  const { [SUBGRAPH]: left, ...values } = result;
  const { hidden, ...rest } = (left ?? {}) as Omit<SubgraphEnd, 'channels'> & { readonly hidden?: Channels };
  return { ...rest, channels: { ...(values as Channels), ...hidden } };
}
