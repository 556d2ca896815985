import { writeFileSync, mkdtempSync, rmSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { approvalGate, implement, MessagesValue, START, StateGraph, StateSchema, tool, toolNode } from 'abeyance';
import { GraphClient } from 'abeyance/client';
import { InMemoryGraphs } from 'abeyance/testing';
import { z } from 'zod';
import { ask, gate } from '../support/asking-graphs';
import { askingNodes } from '../support/asking-nodes';
import { workflowTaskFailures } from '../support/histories';
import { largeNodes, overweight } from '../support/large-graphs';
import { Latches } from '../support/latches';
import { onServer } from '../support/on-server';
import { catalogue } from './catalogue';
import { reports } from './reports';
import { refusal } from './stage';

const server = onServer(() => ({ nodes: [...askingNodes(new Latches()), ...largeNodes] }), { silent: true });

describe('every report is accounted for:', () => {
  it.each(reports.map(({ id, fault, covered }) => [id, fault, covered] as const))('%s, %s', (id, _, covered) => {
    const hasCases = catalogue.some(({ rule, id: case_ }) => rule === id || case_.includes(`${id}:`));
    const file = 'file' in covered && covered.file ? join(__dirname, '..', `${covered.file}.test.ts`) : __filename;
    const hasTests = readFileSync(file, 'utf8').includes(`it('${id}: `);
    expect([hasCases, hasTests]).toEqual([covered.by === 'cases', covered.by === 'tests']);
  });

  it('and no case names a report that is not in the list', () => {
    const named = catalogue.map(({ rule }) => rule).filter((rule) => /^[LT]\d/.test(rule));
    expect(named.filter((rule) => !reports.some(({ id }) => id === rule))).toEqual([]);
  });
});

const Chat = new StateSchema({ messages: MessagesValue });
const pay = tool({ name: 'pay', description: 'Pays.', schema: z.object({}) });
const policed = (policy: object): StateGraph<any, any> =>
  new StateGraph(Chat)
    .addNode('gate', approvalGate({ approved: 'tools', policy }))
    .addNode('tools', toolNode({ tools: [pay] }))
    .addEdge(START, 'gate');
const misspelt = tool({ name: 'pya', description: 'Pays.', schema: z.object({}) });

it('L22: a gate whose policy names no tool or no option, whose tool no worker has, or whose way leads past the tools, is refused before anything runs', () => {
  const gated = new StateGraph(Chat).addNode('gate', approvalGate({ approved: 'elsewhere' }));
  const around = gated.addNode('elsewhere').addEdge(START, 'gate');
  expect(() => around.compile({ name: 'around' })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));

  for (const policy of [{ pya: true }, { pya: false }, { pay: { allow: [] } }, { pay: { alow: ['approve'] } }])
    expect(() => policed(policy).compile({ name: 'policed' })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    );

  const typo = new StateGraph(Chat)
    .addNode('tools', toolNode({ tools: [misspelt] }))
    .addEdge(START, 'tools')
    .compile({ name: 'typo' });
  const parts = { nodes: [implement(typo, {})], tools: [{ tool: pay, body: () => 'paid' }] };
  expect(() => new InMemoryGraphs(parts as never)).toThrow(
    expect.objectContaining({ code: 'MISSING_IMPLEMENTATION', message: expect.stringContaining('"pya"') }),
  );
});

it('T03: a misspelt update is an error to its sender', async () => {
  const threadId = server.threadId('ask');
  await server.graphs.invoke(ask, {}, { threadId });
  const handle = server.client.workflow.getHandle(threadId);
  expect(await refusal(() => handle.executeUpdate('aprove'))).toBeInstanceOf(Error);
  expect((await server.graphs.thread(ask, threadId).getState()).interrupts).toHaveLength(1);
});

it('T05: of answers that race with the end of the run each is taken or refused, none is lost', async () => {
  const threadId = server.threadId('ask');
  await server.graphs.invoke(ask, {}, { threadId });
  const thread = server.graphs.thread(ask, threadId);
  const answers = Array.from({ length: 8 }, (_, n) => thread.resume(n, { question: '1.ask:0' }));
  const settled = await Promise.allSettled(answers);
  const taken = settled.flatMap((one, n) => (one.status === 'fulfilled' ? [n] : []));
  expect(taken).toHaveLength(1);
  expect(await thread.untilStopped()).toEqual({ answer: taken[0] });
  const codes = settled.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: string }).code] : []));
  expect(codes).toHaveLength(7);
  for (const code of codes) expect(['QUESTION_SETTLED', 'THREAD_FINISHED']).toContain(code);
});

it('T11: 3 MB out of a node end the run with the node’s name and the size, and no task is retried for ever', async () => {
  const threadId = server.threadId('overweight');
  const error = await refusal(() => server.graphs.invoke(overweight, { how: 'result' }, { threadId }));
  expect(error).toMatchObject({ code: 'STATE_TOO_LARGE', message: expect.stringMatching(/"act".*3\.0 MB/) });
  expect(await workflowTaskFailures(server.client, threadId)).toBe(0);
});

it('T17: workflow code that imports what it cannot have is refused when it is bundled, and the file and import are named', async () => {
  const folder = mkdtempSync(join(__dirname, 'bundled-'));
  try {
    for (const wanted of ['node:fs', 'fs']) {
      const workflowsPath = join(folder, `${wanted.replace(':', '-')}.ts`);
      writeFileSync(
        workflowsPath,
        `import { readFileSync } from '${wanted}';\nexport const order = () => readFileSync('x');\n`,
      );
      const logged: string[] = [];
      const logger = new DefaultLogger('ERROR', ({ message }) => logged.push(message));
      const error = await refusal(() => bundleWorkflowCode({ workflowsPath, logger }));
      const told = [...logged, error.message].join('\n');
      expect(told).toContain(wanted);
      if (wanted === 'node:fs') expect(told).toContain(basename(workflowsPath));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('T20: who knows only the ids of thread and question can decide, from a client that has seen nothing', async () => {
  const threadId = server.threadId('gate');
  await server.graphs.invoke(gate, {}, { threadId });
  const { connection, options } = server.client;
  const stranger = new GraphClient(new Client({ connection, namespace: options.namespace }), { taskQueue: 'none' });
  await stranger.thread(threadId).approve({ question: '2.gate:0', by: 'ana' });
  expect(await stranger.thread(threadId).untilStopped()).toEqual({ decision: { type: 'approve', by: 'ana' } });
});
