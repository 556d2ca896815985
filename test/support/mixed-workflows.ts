import { proxyActivities } from '@temporalio/workflow';
import { graphWorkflow } from 'abeyance/workflow';
import * as graphs from './graphs';

export const order = graphWorkflow(graphs.order);

/** A workflow that has nothing to do with graphs. */
export async function greet(name: string): Promise<string> {
  const { greeting } = proxyActivities<{ greeting(name: string): Promise<string> }>({ startToCloseTimeout: '10s' });
  return greeting(name);
}
