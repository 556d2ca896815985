import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { GraphClient } from 'abeyance/client';
import { startServer } from 'abeyance/server';
import { recordHistory } from 'abeyance/testing';
import { runChapter } from '../examples/interrupt-chapter/run-chapter';
import { SideEffects } from '../examples/interrupt-chapter/side-effects';
import { createChapterWorker, TASK_QUEUE } from '../examples/interrupt-chapter/worker';

/**
 * Plays the chapter on a real server and keeps the history of every thread: `npm run record -- v2`.
 *
 * Histories that are there stay: they stand for runs that may still be waiting somewhere.
 */
async function main(version = 'v1'): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const directory = mkdtempSync(join(tmpdir(), 'record-histories-'));
  const effectsFile = join(directory, 'effects.jsonl');
  const target = join(__dirname, '..', 'test', 'histories');
  mkdirSync(target, { recursive: true });
  const server = await startServer({ ui: false });
  try {
    const worker = await createChapterWorker(server.address, server.namespace, effectsFile);
    const connection = await Connection.connect({ address: server.address });
    const client = new Client({ connection, namespace: server.namespace });
    await worker.runUntil(async () => {
      const reports = await runChapter(
        new GraphClient(client, { taskQueue: TASK_QUEUE }),
        new SideEffects(effectsFile),
        'server',
      );
      for (const threadId of reports.flatMap(({ threads }) => threads)) {
        const { json } = await recordHistory(client, threadId);
        const name = `${threadId.replace(/-[0-9a-f]{8}$/, '')}.${version}.json`;
        writeFileSync(join(target, name), `${withoutHost(json)}\n`);
        process.stdout.write(`${name}\n`);
      }
    });
    await connection.close();
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

// The identities of client and worker name the machine; replay does not look at them.
function withoutHost(json: string): string {
  return JSON.stringify(
    JSON.parse(json, (key, value: unknown) => (key === 'identity' ? 'recorded' : value)),
    null,
    1,
  );
}

main(process.argv[2]).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
