import { GraphDefinitionError } from '../graph/errors';
import type { GraphWorkflowOptions } from './graph-run';
import type { HistoryLimits } from './history-budget';

// Below these a run might roll over without having done anything.
const LEAST: Readonly<Record<keyof HistoryLimits, number>> = { events: 20, bytes: 10_000 };

/** Refuses limits under which a run could not get on. @throws {GraphDefinitionError} `INVALID_OPTION`. */
export function checkWorkflowOptions(graph: string, { continueAsNewAfter = {} }: GraphWorkflowOptions): void {
  for (const [limit, least] of Object.entries(LEAST)) {
    const value = continueAsNewAfter[limit as keyof HistoryLimits];
    if (value === undefined || (Number.isInteger(value) && value >= least)) continue;
    const message = `graphWorkflow(${graph}): continueAsNewAfter.${limit} is ${value}; give a whole number of at least ${least}, or leave it to the server.`;
    throw new GraphDefinitionError('INVALID_OPTION', message);
  }
}
