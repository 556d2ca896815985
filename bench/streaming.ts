import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { GraphClient } from 'abeyance/client';
import { startServer } from 'abeyance/server';
import { AbeyancePlugin } from 'abeyance/worker';
import { clock, clockNodes } from './stream-graph';

const TASK_QUEUE = 'bench-streaming';

/** What one run with so many readers cost, and how late they learnt of it, in ms. */
interface Figures {
  readonly readers: number;
  readonly recorded: readonly number[];
  readonly live: readonly number[];
  readonly steps: number;
  readonly events: number;
}

async function main(): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const server = await startServer({ ui: false });
  try {
    const native = await NativeConnection.connect({ address: server.address });
    const connection = await Connection.connect({ address: server.address });
    const client = new Client({ connection, namespace: server.namespace });
    const worker = await Worker.create({
      connection: native,
      taskQueue: TASK_QUEUE,
      workflowsPath: require.resolve('./workflows'),
      plugins: [new AbeyancePlugin({ nodes: [clockNodes] })],
    });
    await worker.runUntil(async () => {
      await run(client, 1);
      for (const readers of [0, 1, 10, 50]) report(await run(client, readers));
    });
    await connection.close();
    await native.close();
  } finally {
    await server.stop();
  }
}

async function run(client: Client, readers: number): Promise<Figures> {
  const graphs = new GraphClient(client, { taskQueue: TASK_QUEUE });
  const threadId = `clock-${randomUUID()}`;
  const recorded: number[] = [];
  const live: number[] = [];
  const began = Date.now();
  const thread = await graphs.start(clock, {}, { threadId });
  const read = async (): Promise<void> => {
    for await (const event of thread.stream({ modes: ['updates', 'custom'] })) {
      if (event.kind === 'custom') live.push(Date.now() - (event.chunk as number));
      if (event.kind === 'updates') recorded.push(Date.now() - ((event.updates[0]?.ended as number) ?? 0));
    }
  };
  await Promise.all(Array.from({ length: readers }, read));
  // Not by an update, which would make events of its own.
  const handle = client.workflow.getHandle(threadId);
  const { ended } = (await handle.result()) as { readonly ended: readonly number[] };
  const { historyLength } = await handle.describe();
  return { readers, recorded, live, steps: (ended[39] ?? 0) - began, events: historyLength };
}

function report({ readers, recorded, live, steps, events }: Figures): void {
  const lag = (values: readonly number[]): string =>
    values.length === 0 ? '–' : `median ${at(values, 0.5)} ms, p95 ${at(values, 0.95)} ms`;
  process.stdout.write(
    `${String(readers).padStart(2)} readers: recorded ${lag(recorded)}; live ${lag(live)}; 40 steps ${steps} ms, ${events} events\n`,
  );
}

function at(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
