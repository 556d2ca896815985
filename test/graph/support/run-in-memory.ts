import { implement, type GraphThread, type RunOptions } from 'abeyance';
import type { GraphDependencies } from 'abeyance/activity';
import { InMemoryGraphs } from 'abeyance/testing';
import type { Bodies, TestGraph } from './build-graph';

/** One thread of a graph in memory. */
export interface MemoryRun {
  readonly graphs: InMemoryGraphs;
  readonly thread: () => GraphThread;
  /** Starts a run, or with a Command answers it, and returns where it stops. */
  readonly invoke: (input?: object, options?: RunOptions) => Promise<Record<string, any>>;
}

/** Lends a graph its bodies, and one thread to run on. */
export function inMemory(graph: TestGraph, bodies: Bodies = {}, more: GraphDependencies = {}): MemoryRun {
  const graphs = new InMemoryGraphs({ nodes: [implement(graph, bodies as never)], ...more });
  return {
    graphs,
    thread: () => graphs.thread('thread'),
    invoke: (input = {}, options = {}) => graphs.invoke(graph, input, { threadId: 'thread', ...options }),
  };
}

/** Answers and waits for the next stop. */
export async function resume(run: MemoryRun, value: unknown, options = {}): Promise<Record<string, any>> {
  await run.thread().resume(value, options);
  return run.thread().untilStopped();
}

/** The ids of the open questions. */
export async function openIds(run: MemoryRun): Promise<string[]> {
  return (await run.thread().getState()).interrupts.map(({ id }) => id);
}
