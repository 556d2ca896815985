import { digestOf } from './digest';
import type { Plan } from './plan';
import type { Question } from './question';
import type { Frame } from './frame';
import { nodePathOf, type Task } from './task';

/** A breakpoint that a run has met. */
export interface MetBreakpoint {
  readonly when: 'before' | 'after';
  readonly nodes: readonly string[];
}

/** The breakpoint that holds a planned superstep back, if one does: the graph's own, or the run's. */
export function breakpointAt(frame: Frame, plan: Plan, finished: readonly string[]): MetBreakpoint | undefined {
  const planned = [...new Set([...plan.nodes, ...plan.sends.map(({ node }) => node)])];
  for (const [when, nodes] of [['after', finished] as const, ['before', planned] as const]) {
    const met = nodes.filter((node) => stopsAt(frame, when, node));
    if (met.length > 0) return { when, nodes: met };
  }
  return undefined;
}

function stopsAt({ graph, prefix, breakpoints }: Frame, when: MetBreakpoint['when'], node: string): boolean {
  const path = prefix === '' ? node : `${nodePathOf(prefix.slice(0, -1))}/${node}`;
  const own = graph.breakpoints[when];
  const ofRun = breakpoints[when];
  return own.includes(node) || own.includes('*') || ofRun.includes(path) || ofRun.includes('*');
}

/** The question a breakpoint asks, on the first of the tasks that it holds. */
export function questionOf(frame: Frame, { when, nodes }: MetBreakpoint, task: Task, plan: Plan): Question {
  const next = [...plan.nodes, ...plan.sends.map(({ node }) => node)];
  const value = { breakpoint: when, nodes: [...nodes], next };
  return {
    id: `${task.id}:~${when}`,
    kind: 'breakpoint',
    value,
    digest: digestOf({ kind: 'breakpoint', value }),
    node: nodePathOf(task.id),
    task: task.id,
    askedAt: frame.at,
  };
}
