import { GraphDefinitionError } from '../graph/errors';
import type { HistoryLimits } from './history-budget';

/** How a graph runs as a workflow. */
export interface GraphWorkflowOptions {
  /** Rolls over, with continue-as-new, after so much history; default only when the server suggests it. */
  readonly continueAsNewAfter?: HistoryLimits;
  /**
   * Large payloads are stored elsewhere: lifts the limits on what a state or a result may take. Only for runs whose
   * workers and clients all have an `ExternalStorage` in their data converter, with its threshold at 256 KiB or less.
   */
  readonly externalStorage?: boolean;
}

// Below these a run might roll over without having done anything.
const LEAST: Readonly<Record<keyof HistoryLimits, number>> = { events: 20, bytes: 10_000 };

/** Refuses limits under which a run could not get on. @throws {GraphDefinitionError} `INVALID_OPTION`. */
export function checkWorkflowOptions(graph: string, { continueAsNewAfter = {} }: GraphWorkflowOptions): void {
  for (const limit of ['events', 'bytes'] as const) {
    const value = continueAsNewAfter[limit];
    if (value === undefined || (Number.isInteger(value) && value >= LEAST[limit])) continue;
    const message = `graphWorkflow(${graph}): continueAsNewAfter.${limit} is ${value}. Give a whole number of at least ${LEAST[limit]}, or leave it to the server.`;
    throw new GraphDefinitionError('INVALID_OPTION', message);
  }
}
