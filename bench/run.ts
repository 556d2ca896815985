import { randomUUID } from 'node:crypto';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Command } from 'abeyance';
import { GraphClient } from 'abeyance/client';
import { startServer } from 'abeyance/server';
import { InMemoryGraphs } from 'abeyance/testing';
import { AbeyancePlugin } from 'abeyance/worker';
import { floorActivities } from './floor-activities';
import { answerUpdate, pausedUpdate } from './floor-workflows';
import { benchNodes, chain, fan, gate, local_chain } from './graphs';

const TASK_QUEUE = 'bench';

/** A job that both sides do: each call is one measurement, by figure in ms. */
interface Job {
  readonly name: string;
  readonly rounds: number;
  floor(id: string): Promise<Readonly<Record<string, number>>>;
  ours(id: string): Promise<Readonly<Record<string, number>>>;
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
      activities: floorActivities,
      plugins: [new AbeyancePlugin({ nodes: benchNodes })],
    });
    await worker.runUntil(async () => {
      const only = process.argv[2] ?? '';
      for (const job of jobs(client)) if (job.name.includes(only)) await measure(client, job);
      if (only === '') await throughput(client);
    });
    await connection.close();
    await native.close();
  } finally {
    await server.stop();
  }
  await inMemory();
}

function jobs(client: Client): readonly Job[] {
  const graphs = new GraphClient(client, { taskQueue: TASK_QUEUE });
  const plain = (type: string, id: string): Promise<number> =>
    timed(() => client.workflow.execute(type, { workflowId: id, taskQueue: TASK_QUEUE }));
  return [
    {
      name: 'gate',
      rounds: 60,
      floor: (id) => floorGate(client, id),
      ours: async (id) => ({
        'start → pause': await timed(() => graphs.invoke(gate, { order_total: 500 }, { threadId: id })),
        'resume → end': await timed(() => graphs.invoke(gate, new Command({ resume: true }), { threadId: id })),
      }),
    },
    {
      name: 'chain of 10',
      rounds: 25,
      floor: async (id) => ({ 'start → end': await plain('floor_chain', id) }),
      ours: async (id) => ({ 'start → end': await plain(chain.name, id) }),
    },
    {
      name: 'chain of 10, local',
      rounds: 25,
      floor: async (id) => ({ 'start → end': await plain('floor_local_chain', id) }),
      ours: async (id) => ({ 'start → end': await plain(local_chain.name, id) }),
    },
    {
      name: 'fan-out of 50',
      rounds: 15,
      floor: async (id) => ({ 'start → end': await plain('floor_fan', id) }),
      ours: async (id) => ({ 'start → end': await plain(fan.name, id) }),
    },
  ];
}

async function floorGate(client: Client, workflowId: string): Promise<Record<string, number>> {
  const options = { workflowId, taskQueue: TASK_QUEUE, workflowIdConflictPolicy: 'FAIL' as const, args: [] };
  const startWorkflowOperation = new WithStartWorkflowOperation('floor_gate', options);
  const pause = await timed(() => client.workflow.executeUpdateWithStart(pausedUpdate, { startWorkflowOperation }));
  const resume = await timed(() => client.workflow.getHandle(workflowId).executeUpdate(answerUpdate, { args: [true] }));
  return { 'start → pause': pause, 'resume → end': resume };
}

// Floor and ours take turns, so that a change in the machine's speed meets both.
async function measure(client: Client, job: Job): Promise<void> {
  const { name, rounds } = job;
  const figures = new Map<string, { floor: number[]; ours: number[] }>();
  const ids = { floor: '', ours: '' };
  for (let round = 0; round < rounds; round++) {
    for (const side of ['floor', 'ours'] as const) {
      ids[side] = `${side}-${randomUUID()}`;
      const result = await job[side](ids[side]);
      if (round < rounds / 5) continue;
      for (const [figure, ms] of Object.entries(result)) {
        const both = figures.get(figure) ?? { floor: [], ours: [] };
        both[side].push(ms);
        figures.set(figure, both);
      }
    }
  }
  for (const [figure, both] of figures) report(`${name}: ${figure}`, median(both.floor), median(both.ours), 'ms');
  report(`${name}: events`, await events(client, ids.floor), await events(client, ids.ours), '');
}

async function throughput(client: Client): Promise<void> {
  const runs = 100;
  const [gateJob] = jobs(client) as [Job];
  const rate = async (side: 'floor' | 'ours'): Promise<number> => {
    const took = await timed(() =>
      Promise.all(Array.from({ length: runs }, () => gateJob[side](`${side}-${randomUUID()}`))),
    );
    return runs / (took / 1000);
  };
  await rate('floor');
  await rate('ours');
  report('gate: runs per second', await rate('floor'), await rate('ours'), '/s');
}

async function inMemory(): Promise<void> {
  const graphs = new InMemoryGraphs({ nodes: benchNodes });
  const pause: number[] = [];
  const resume: number[] = [];
  for (let round = 0; round < 2000; round++) {
    const threadId = `memory-${round}`;
    pause.push(await timed(() => graphs.invoke(gate, { order_total: 500 }, { threadId })));
    resume.push(await timed(() => graphs.invoke(gate, new Command({ resume: true }), { threadId })));
  }
  process.stdout.write(`in memory: pause ${median(pause).toFixed(3)} ms, resume ${median(resume).toFixed(3)} ms\n`);
}

async function events(client: Client, id: string): Promise<number> {
  return (await client.workflow.getHandle(id).fetchHistory()).events?.length ?? 0;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function report(figure: string, floor: number, ours: number, unit: string): void {
  const show = (value: number): string =>
    `${Number.isInteger(value) ? value : value.toFixed(1)} ${unit}`.trim().padStart(9);
  process.stdout.write(
    `${figure.padEnd(28)} floor ${show(floor)}   ours ${show(ours)}   ratio ${(ours / floor).toFixed(2)}\n`,
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
