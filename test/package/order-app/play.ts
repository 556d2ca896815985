import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { isInterrupted } from 'abeyance';
import { GraphClient } from 'abeyance/client';
import { startServer, type RunningServer } from 'abeyance/server';
import { InMemoryGraphs } from 'abeyance/testing';
import { AbeyancePlugin } from 'abeyance/worker';
import { order } from './graph.js';
import { orderNodes } from './nodes.js';
import { replayInEveryForm, type Replays } from './replay.js';

const taskQueue = `orders-${randomUUID()}`;

/** What was observed of an order that a person approves. */
export interface Observed {
  readonly questionInMemory: unknown;
  readonly question: unknown;
  readonly final: unknown;
  readonly replays: Replays;
}

/** Places an order in memory and on a server, approves it, and replays what the server recorded. */
export async function play(workflowsPath: string): Promise<Observed> {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const inMemory = await new InMemoryGraphs({ nodes: [orderNodes] }).invoke(order, { order_total: 500 });
  const server = await startServer({ ui: false });
  try {
    return { questionInMemory: questionOf(inMemory), ...(await playOnServer(server, workflowsPath)) };
  } finally {
    await server.stop();
  }
}

async function playOnServer(
  { address, namespace }: RunningServer,
  workflowsPath: string,
): Promise<Omit<Observed, 'questionInMemory'>> {
  const nativeConnection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection: nativeConnection,
    namespace,
    taskQueue,
    workflowsPath,
    plugins: [new AbeyancePlugin({ nodes: [orderNodes] })],
  });
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const threadId = `order-${randomUUID()}`;
  const seen = await worker.runUntil(placeOrder(client, threadId));
  const replays = await replayInEveryForm(client, threadId, workflowsPath);
  await connection.close();
  await nativeConnection.close();
  return { ...seen, replays };
}

async function placeOrder(client: Client, threadId: string): Promise<Pick<Observed, 'question' | 'final'>> {
  const graphs = new GraphClient(client, { taskQueue });
  const paused = await graphs.invoke(order, { order_total: 500 }, { threadId });
  const thread = graphs.thread(order, threadId);
  await thread.approve({ by: 'ana@example.com' });
  const { order_total, approved } = await thread.untilStopped();
  return { question: questionOf(paused), final: { order_total, approved } };
}

function questionOf(result: unknown): unknown {
  return isInterrupted(result) ? result.__interrupt__[0].value : undefined;
}
