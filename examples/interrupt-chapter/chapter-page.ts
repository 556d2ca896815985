import type { Client } from '@temporalio/client';
import { renderHtml, traceOf, type Trace } from 'abeyance/trace';
import * as graphs from './graphs';
import { SCENARIOS } from './scenarios';
import type { ScenarioReport } from './stage';

const GRAPHS = Object.values(graphs).filter((graph) => 'shape' in graph);

/** The chapter as one page: every scenario with the variants that were played, read from the histories of their threads. */
export async function chapterPage(client: Client, reports: readonly ScenarioReport[]): Promise<string> {
  const scenarios = Object.keys(SCENARIOS).map(async (name) => {
    const played = reports.filter(({ scenario }) => scenario === name);
    const variants = played.map(async ({ mode, threads }) => ({
      mode,
      traces: await Promise.all(threads.map((threadId) => traceOfThread(client, threadId))),
    }));
    return { name, variants: await Promise.all(variants) };
  });
  return renderHtml({ title: 'The interrupt chapter', scenarios: await Promise.all(scenarios) });
}

async function traceOfThread(client: Client, threadId: string): Promise<Trace> {
  const handle = client.workflow.getHandle(threadId);
  const [history, { type }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
  const graph = GRAPHS.find(({ name }) => name === type);
  return traceOf([history], { ...(graph && { graph }) });
}
