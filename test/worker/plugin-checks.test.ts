import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import {
  END,
  GraphDefinitionError,
  implement,
  MessagesValue,
  modelNode,
  START,
  StateGraph,
  StateSchema,
  subgraph,
  tool,
  toolNode,
} from 'abeyance';
import { implementTool } from 'abeyance/activity';
import { scriptedModel } from 'abeyance/testing';
import { AbeyancePlugin } from 'abeyance/worker';
import { z } from 'zod';
import { askingNodes } from '../support/asking-nodes';
import { bundleWorkflows, fromSource } from '../support/bundle-workflows';
import { order } from '../support/graphs';
import { workflowTaskFailures } from '../support/histories';
import { Latches } from '../support/latches';
import { onServer, testServer } from '../support/on-server';

const server = onServer(() => ({ nodes: askingNodes(new Latches()) }), { silent: true });
const orderNodes = implement(order, { step_one: async () => ({}), place_order: async () => ({}) });

const search = tool({ name: 'search', description: 'Searches.', schema: z.object({ text: z.string() }) });
const agent = new StateGraph(new StateSchema({ messages: MessagesValue }))
  .addNode('think', modelNode({ model: 'planner', tools: [search] }))
  .addNode('tools', toolNode({ tools: [search] }))
  .addEdge(START, 'think')
  .addEdge('think', 'tools')
  .addEdge('tools', END)
  .compile({ name: 'agent' });
const planner = scriptedModel([]);
const searchTool = implementTool(search, () => 'found');

const otherOrder = new StateGraph(new StateSchema({ x: z.number() }))
  .addNode('one')
  .addEdge(START, 'one')
  .compile({ name: 'order' });

describe('a plugin refuses to be made', () => {
  test.each([
    ['without the nodes of a graph', { graphs: [order] }, 'MISSING_IMPLEMENTATION', 'step_one, place_order'],
    ['without a model', { graphs: [agent], tools: [searchTool] }, 'MISSING_IMPLEMENTATION', '"planner"'],
    ['without a tool', { graphs: [agent], models: { planner } }, 'MISSING_IMPLEMENTATION', '"search"'],
    ['with the nodes of a graph twice', { nodes: [orderNodes, orderNodes] }, 'DUPLICATE_REGISTRATION', '"order"'],
    ['with two graphs of one name', { nodes: [orderNodes], graphs: [otherOrder] }, 'DUPLICATE_REGISTRATION', '"order"'],
    ['with a tool twice', { tools: [searchTool, searchTool] }, 'DUPLICATE_REGISTRATION', '"search"'],
  ])('%s', (_, dependencies, code, message) => {
    const make = (): unknown => new AbeyancePlugin(dependencies);
    expect(make).toThrow(GraphDefinitionError);
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  });
});

describe('Worker.create', () => {
  let native: NativeConnection;
  let misnamed: string;
  beforeAll(async () => {
    native = await NativeConnection.connect({ address: testServer().address });
    misnamed = await bundleWorkflows(require.resolve('../support/misnamed-workflows'));
  });
  afterAll(() => native.close());

  const create = (options: Partial<WorkerOptions>): Promise<Worker> =>
    Worker.create({
      connection: native,
      namespace: testServer().namespace,
      taskQueue: server.threadId('checks'),
      plugins: [new AbeyancePlugin({ nodes: [orderNodes] })],
      ...options,
    });

  it('refuses an activity of the user that has the name of a node', async () => {
    const activities = { 'order.step_one': async () => 'mine' };
    await expect(create({ workflowBundle: { codePath: testServer().bundle }, activities })).rejects.toMatchObject({
      code: 'DUPLICATE_REGISTRATION',
      message: expect.stringContaining('"order.step_one"'),
    });
  });

  it('refuses a workflows file that exports a graph under another name', async () => {
    const workflowsPath = require.resolve('../support/misnamed-workflows');
    await expect(create({ workflowsPath })).rejects.toMatchObject({
      code: 'GRAPH_NAME_MISMATCH',
      message: expect.stringMatching(/"order" is exported as "other_name".*export const order = graphWorkflow/),
    });
  });

  it('refuses a prebuilt bundle that exports a graph under another name', async () => {
    await expect(create({ workflowBundle: { code: misnamed } })).rejects.toMatchObject({
      code: 'GRAPH_NAME_MISMATCH',
      message: expect.stringContaining('"order" is exported as "other_name"'),
    });
  });

  it('refuses a bundle that lacks one of its graphs', async () => {
    const nodes = [orderNodes];
    const plugin = new AbeyancePlugin({ nodes, graphs: [agent], models: { planner }, tools: [searchTool] });
    const creating = create({ workflowBundle: { codePath: testServer().bundle }, plugins: [plugin] });
    await expect(creating).rejects.toMatchObject({
      code: 'GRAPH_NAME_MISMATCH',
      message: expect.stringContaining('export const agent = graphWorkflow'),
    });
  });

  it.each([
    { what: 'wants no workflow for a graph that is only a node of another', run: 'inline', missing: 'outer' },
    { what: 'wants one for a subgraph that runs as a child workflow', run: 'child', missing: 'inner' },
  ] as const)('$what', async ({ run, missing }) => {
    const State = new StateSchema({ n: z.number().optional() });
    const inner = new StateGraph(State).addNode('act').addEdge(START, 'act').compile({ name: 'inner' });
    const outer = new StateGraph(State)
      .addNode('inside', subgraph(inner, { run }))
      .addEdge(START, 'inside')
      .compile({ name: 'outer' });
    const plugin = new AbeyancePlugin({ nodes: [implement(inner, { act: async () => ({}) })], graphs: [outer] });
    const creating = create({ workflowBundle: { codePath: testServer().bundle }, plugins: [plugin] });
    await expect(creating).rejects.toMatchObject({
      code: 'GRAPH_NAME_MISMATCH',
      message: expect.stringContaining(`export const ${missing} = graphWorkflow`),
    });
  });

  it('serves graphs beside workflows and activities of the user', async () => {
    const taskQueue = server.threadId('mixed');
    const worker = await create({
      taskQueue,
      workflowsPath: require.resolve('../support/mixed-workflows'),
      bundlerOptions: { webpackConfigHook: fromSource },
      activities: { greeting: async (name: string) => `Hello, ${name}` },
    });
    await worker.runUntil(async () => {
      const start = (type: string, arg: unknown): Promise<unknown> =>
        server.client.workflow.execute(type, { taskQueue, workflowId: server.threadId(type), args: [arg] });
      expect(await start('greet', 'Ana')).toBe('Hello, Ana');
      expect(await start('order', { order_total: 5 })).toEqual({ order_total: 5, approved: false });
    });
  });

  it('without the plugin lets a misnamed graph in, whose run then fails typed in its first task', async () => {
    const taskQueue = server.threadId('misnamed');
    const worker = await create({ taskQueue, workflowBundle: { code: misnamed }, plugins: [] });
    await worker.runUntil(async () => {
      const workflowId = server.threadId('misnamed');
      const handle = await server.client.workflow.start('other_name', { taskQueue, workflowId, args: [{}] });
      await expect(handle.result()).rejects.toMatchObject({
        cause: { type: 'GRAPH_NAME_MISMATCH', message: expect.stringContaining('export const order = graphWorkflow(') },
      });
      expect(await workflowTaskFailures(server.client, workflowId)).toBe(0);
    });
  });
});
