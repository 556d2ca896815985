import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { openaiModel } from 'abeyance/activity';
import { GraphClient } from 'abeyance/client';
import { startServer, type RunningServer } from 'abeyance/server';
import { InMemoryGraphs } from 'abeyance/testing';
import { chapterPage } from './chapter-page';
import { chapterDependencies, type ChapterOptions } from './dependencies';
import { gated_agent } from './graphs';
import { printReport } from './print-report';
import { runChapter } from './run-chapter';
import { SideEffects } from './side-effects';
import type { ScenarioReport } from './stage';
import { createChapterWorker, TASK_QUEUE } from './worker';

const HELP = `The interrupt chapter: four scenarios of a graph that waits for a person.

  npm run demo                    on a real Temporal server, started for you
  npm run demo -- --in-memory     the same graphs without a server
  npm run demo -- --json FILE     also writes what was observed, as JSON
  npm run demo -- --html FILE     also writes every run as one page; with --live, scripted and live to switch between
  npm run demo -- --live          a real model plans the order: OPENAI_API_KEY, OPENAI_MODEL, OPENAI_BASE_URL
  npm run demo -- --keep          leaves server and worker up, with one thread waiting for you
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'in-memory': { type: 'boolean', default: false },
      json: { type: 'string' },
      html: { type: 'string' },
      live: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  // Made here, so that a variable that is missing is told before a server starts.
  const options: ChapterOptions = values.live ? { planner: openaiModel() } : {};
  const directory = mkdtempSync(join(tmpdir(), 'interrupt-chapter-'));
  const effectsFile = join(directory, 'effects.jsonl');
  try {
    const show = (played: readonly ScenarioReport[]): void => finish(played, values.json);
    if (values['in-memory']) show(await playInMemory(effectsFile, options));
    else await playOnServer({ effectsFile, options, keep: values.keep, html: values.html }, show);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function finish(reports: readonly ScenarioReport[], jsonFile: string | undefined): void {
  printReport(reports, process.stdout);
  if (jsonFile === undefined) return;
  const written = reports.map(({ threads: _, ...report }) => report);
  writeFileSync(jsonFile, `${JSON.stringify(written, null, 2)}\n`);
  process.stdout.write(`Written: ${jsonFile}\n`);
}

function modeOf({ planner }: ChapterOptions): ScenarioReport['mode'] {
  return planner ? 'live' : 'mock';
}

function playInMemory(effectsFile: string, options: ChapterOptions): Promise<readonly ScenarioReport[]> {
  const effects = new SideEffects(effectsFile);
  return runChapter(new InMemoryGraphs(chapterDependencies(effects, options)), effects, 'memory', modeOf(options));
}

interface Play {
  readonly effectsFile: string;
  readonly options: ChapterOptions;
  readonly keep: boolean;
  /** Where to write the chapter as a page. */
  readonly html?: string;
}

async function playOnServer(play: Play, show: (reports: readonly ScenarioReport[]) => void): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const server = await startServer();
  try {
    await playOn(server, play, show);
  } finally {
    await server.stop();
  }
}

async function playOn(
  server: RunningServer,
  { effectsFile, options, keep, html }: Play,
  show: (reports: readonly ScenarioReport[]) => void,
): Promise<void> {
  const { address, namespace } = server;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const graphs = new GraphClient(client, { taskQueue: TASK_QUEUE });
  const chapter = (variant: ChapterOptions): Promise<readonly ScenarioReport[]> =>
    runChapter(graphs, new SideEffects(effectsFile), 'server', modeOf(variant));
  const serve = async <T>(variant: ChapterOptions, play: () => Promise<T>): Promise<T> =>
    (await createChapterWorker(address, namespace, effectsFile, variant)).runUntil(play);

  // The page shows both variants, so beside the live one the scripted one is played for it too.
  const scripted = html !== undefined && options.planner ? await serve({}, () => chapter({})) : [];
  await serve(options, async () => {
    const reports = [...scripted, ...(await chapter(options))];
    show(reports);
    if (html !== undefined) await writePage(html, client, reports);
    process.stdout.write(whereToWatch(server, keep));
    if (keep) await stayUp(server, client, graphs);
  });
  await connection.close();
}

async function writePage(file: string, client: Client, reports: readonly ScenarioReport[]): Promise<void> {
  writeFileSync(file, await chapterPage(client, reports));
  process.stdout.write(`Written: ${file}\n`);
}

function whereToWatch({ uiUrl, address, namespace, origin }: RunningServer, keep: boolean): string {
  const where = uiUrl
    ? `${uiUrl}/namespaces/${namespace}/workflows`
    : `the Temporal UI of ${address}, namespace ${namespace}`;
  const stops = !keep && origin.kind !== 'existing';
  return `Every run, with all its model and tool calls: ${where}${stops ? '\n(The server stops now; npm run demo -- --keep leaves it up.)' : ''}\n`;
}

async function stayUp(server: RunningServer, client: Client, graphs: GraphClient): Promise<void> {
  const threadId = `waiting-for-you-${randomUUID().slice(0, 8)}`;
  await graphs.invoke(gated_agent, { messages: [{ role: 'human', content: 'Order 500 widgets.' }] }, { threadId });
  process.stdout.write(`
Thread "${threadId}" waits for your approval. Give it in the UI (Send a Signal: approve), or:

  node dist/client/cli.js approve --address ${server.address} -w ${threadId}
  temporal workflow signal --address ${server.address} --workflow-id ${threadId} --name approve

Ctrl-C stops server and worker.
`);
  void client.workflow.result(threadId).then(
    (values) => process.stdout.write(`Thread "${threadId}" has ended: ${JSON.stringify(values)}\n`),
    () => undefined,
  );
  await new Promise<void>((resolve) => {
    // A terminal may send the signal twice, to this process and through the one that started it.
    process.on('SIGINT', resolve);
    process.on('SIGTERM', resolve);
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
