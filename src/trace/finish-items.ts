import type { Item, Turn } from './item';
import type { Run, Stop } from './trace';

/** The runs of a thread with stops and turns counted through, and tool calls told who approved them. */
export function finished(runs: readonly Run[]): readonly Run[] {
  let stops = 0;
  let turns = 0;
  const numbered = (item: Item): Item => (item.kind === 'turn' ? ({ ...item, number: ++turns } satisfies Turn) : item);
  return runs.map((run, index) => {
    const approvals = approvalsIn(chainTo(runs, index).flatMap((one) => one.stops));
    return {
      ...run,
      number: index + 1,
      stops: run.stops.map((stop) => ({
        ...stop,
        number: ++stops,
        items: stop.items.map((item) => numbered(withApproval(item, approvals))),
      })),
    };
  });
}

/** A run with those that rolled over into it: a call may be approved in one and made in another. */
function chainTo(runs: readonly Run[], index: number): readonly Run[] {
  const first = runs.slice(0, index + 1).findLastIndex(({ previousRunId }) => previousRunId === undefined);
  return runs.slice(Math.max(0, first), index + 1);
}

/** The gates’ answered questions by the key they were asked under, `call:<tool call id>`. */
function approvalsIn(stops: readonly Stop[]): ReadonlyMap<string, string> {
  return new Map(
    stops
      .flatMap(({ items }) => items)
      .flatMap((item) => {
        const key =
          item.kind === 'wait' && item.status === 'answered' ? /:(call:.+)$/.exec(item.question)?.[1] : undefined;
        return key !== undefined && item.kind === 'wait' ? [[key, item.question] as const] : [];
      }),
  );
}

function withApproval(item: Item, approvals: ReadonlyMap<string, string>): Item {
  if (item.kind !== 'tool' || item.callId === undefined) return item;
  // As a gate makes its questions’ keys.
  const approval = approvals.get(`call:${item.callId.replace(/[\s~]/gu, '_').slice(0, 150)}`);
  return approval === undefined ? item : { ...item, approval };
}
