import { z } from 'zod';
import {
  END,
  GraphDefinitionError,
  inWorkflow,
  MessagesValue,
  modelNode,
  START,
  StateGraph,
  StateSchema,
  subgraph,
  tool,
  toolNode,
} from 'abeyance';
import { buildGraph, type GraphPlan } from './support/build-graph';

function refusalOf(act: () => unknown): { code: string; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof GraphDefinitionError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('compiling refuses', () => {
  const toolbox = tool({ name: 'look', description: 'Looks.', schema: z.object({}) });
  test.each<[string, GraphPlan, string, string]>([
    [
      'an edge from an unknown node',
      {
        nodes: ['a'],
        edges: [
          [START, 'a'],
          ['nope', 'a'],
        ],
      },
      'UNKNOWN_NODE',
      'nope',
    ],
    [
      'an edge to an unknown node',
      {
        nodes: ['a'],
        edges: [
          [START, 'a'],
          ['a', 'nope'],
        ],
      },
      'UNKNOWN_NODE',
      'nope',
    ],
    [
      'an edge from END',
      {
        nodes: ['a'],
        edges: [
          [START, 'a'],
          [END, 'a'],
        ],
      },
      'UNKNOWN_NODE',
      '__end__',
    ],
    [
      'an edge to START',
      {
        nodes: ['a'],
        edges: [
          [START, 'a'],
          ['a', START],
        ],
      },
      'UNKNOWN_NODE',
      '__start__',
    ],
    [
      'a join from an unknown node',
      {
        nodes: ['a'],
        edges: [
          [START, 'a'],
          [['a', 'nope'], END],
        ],
      },
      'UNKNOWN_NODE',
      'nope',
    ],
    [
      'a join to an unknown node',
      {
        nodes: ['a'],
        edges: [
          [START, 'a'],
          [['a'], 'nope'],
        ],
      },
      'UNKNOWN_NODE',
      'nope',
    ],
    [
      'a join from nothing',
      {
        nodes: ['a'],
        edges: [
          [START, 'a'],
          [[], 'a'],
        ],
      },
      'UNKNOWN_NODE',
      'starts nowhere',
    ],
    [
      'a conditional edge from an unknown node',
      { nodes: ['a'], edges: [[START, 'a']], routers: [['nope', () => END]] },
      'UNKNOWN_NODE',
      'nope',
    ],
    [
      'an unknown node among the ends of a conditional edge',
      { nodes: ['a'], edges: [[START, 'a']], routers: [['a', () => END, ['nope']]] },
      'UNKNOWN_NODE',
      'nope',
    ],
    ['an unknown node among the ends of a node', { nodes: { a: { ends: ['nope'] } } }, 'UNKNOWN_NODE', 'nope'],
    ['a node nothing leads to', { nodes: ['a', 'island'], edges: [[START, 'a']] }, 'UNREACHABLE_NODE', '"island"'],
    [
      'a cycle nothing leads to',
      {
        nodes: ['a', 'x', 'y'],
        edges: [
          [START, 'a'],
          ['x', 'y'],
          ['y', 'x'],
        ],
      },
      'UNREACHABLE_NODE',
      '"x", "y"',
    ],
    ['a graph without a way in', { nodes: ['a'], edges: [['a', END]] }, 'NO_ENTRY_POINT', 'START'],
    ['a graph that starts at its end', { nodes: ['a'], edges: [[START, END]] }, 'NO_ENTRY_POINT', 'START'],
    ['a node that reads an unknown key', { nodes: { a: { reads: ['nope'] } } }, 'INVALID_STATE_SCHEMA', 'nope'],
    [
      'a model node without a conversation in the state',
      { nodes: { a: modelNode({ model: 'm' }) } },
      'INVALID_STATE_SCHEMA',
      'messages: MessagesValue',
    ],
    [
      'a tool node without its conversation in the state',
      { nodes: { a: toolNode({ tools: [toolbox], messages: 'talk' }) } },
      'INVALID_STATE_SCHEMA',
      '"talk"',
    ],
    [
      'a local node with a task queue',
      { nodes: { a: { run: 'local', activity: { taskQueue: 'gpu' } } } },
      'INVALID_OPTION',
      '"a" runs locally and has taskQueue',
    ],
    [
      'a local node with a heartbeat timeout',
      { nodes: { a: { run: 'local', activity: { heartbeatTimeout: '5s' } } } },
      'INVALID_OPTION',
      '"a" runs locally and has heartbeatTimeout',
    ],
    [
      'a node that runs who knows where',
      { nodes: { a: { run: 'remote' } } },
      'INVALID_OPTION',
      '"a" has run: "remote"',
    ],
    [
      'a local node that runs in workflow code',
      { nodes: { a: { ...inWorkflow(() => ({})), run: 'local' } } },
      'INVALID_OPTION',
      'Only a plain activity node',
    ],
    [
      'a local model node',
      { nodes: { a: { ...modelNode({ model: 'm' }), run: 'local' } }, state: { messages: MessagesValue } },
      'INVALID_OPTION',
      'Only a plain activity node',
    ],
    ['a node that is a bare function', { nodes: { a: () => ({}) } }, 'INVALID_OPTION', 'implement(graph, { a })'],
    [
      'a node that is a graph not compiled',
      { nodes: { a: new StateGraph(new StateSchema({})) } },
      'INVALID_OPTION',
      "what compile({ name: '…' }) returns",
    ],
    ['a graph without a name', { name: null as never, nodes: ['a'] }, 'INVALID_NAME', 'cannot name a graph'],
    [
      'a subgraph that runs who knows where',
      { nodes: { a: subgraph(buildGraph({ nodes: ['b'] }), { run: 'local' as never }) } },
      'INVALID_OPTION',
      "a subgraph 'inline' or 'child'",
    ],
    ['a graph name that cannot be exported', { name: 'my-graph', nodes: ['a'] }, 'INVALID_NAME', '"my-graph"'],
    ['an empty graph name', { name: '', nodes: ['a'] }, 'INVALID_NAME', '""'],
    ['a recursion limit of zero', { nodes: ['a'], recursionLimit: 0 }, 'INVALID_OPTION', 'not 0'],
    ['a broken recursion limit', { nodes: ['a'], recursionLimit: 2.5 }, 'INVALID_OPTION', 'not 2.5'],
    ['a recursion limit that is no number', { nodes: ['a'], recursionLimit: NaN }, 'INVALID_OPTION', 'not NaN'],
  ])('%s', (_, plan, code, mentioned) => {
    const refusal = refusalOf(() => buildGraph(plan));
    expect(refusal).toEqual({ code, message: expect.stringContaining(mentioned) });
  });
});

describe('adding a node refuses', () => {
  test.each(['.', ':', '/', '#', '|', '~', '+', ' ', '\t', '\n', '\u0000'])(
    'the separator %j in its name',
    (separator) => {
      expect(refusalOf(() => buildGraph({ nodes: [`a${separator}b`] })).code).toBe('INVALID_NAME');
    },
  );

  test.each([START, END, ''])('the name %j', (name) => {
    expect(refusalOf(() => buildGraph({ nodes: [name] })).code).toBe('INVALID_NAME');
  });

  test('a name that is taken', () => {
    const graph = new StateGraph(new StateSchema({})).addNode('a');
    expect(refusalOf(() => graph.addNode('a'))).toEqual({
      code: 'DUPLICATE_NODE',
      message: expect.stringContaining('"a"'),
    });
  });
});

test('a state key that is neither a schema nor a reduced value is refused', () => {
  expect(refusalOf(() => new StateSchema({ total: 0 as never }))).toEqual({
    code: 'INVALID_STATE_SCHEMA',
    message: expect.stringContaining('"total"'),
  });
});

test.each(['place order', '', 'x'.repeat(65)])('a tool may not be called %j', (name) => {
  expect(refusalOf(() => tool({ name, description: '', schema: z.object({}) })).code).toBe('INVALID_NAME');
});

describe('compiling accepts', () => {
  test.each<[string, GraphPlan]>([
    ['names beyond ASCII', { nodes: ['prüfen', '確認', 'a-b_c'] }],
    ['a node reached only by the command of another', { nodes: { a: { ends: ['b'] }, b: {} }, edges: [[START, 'a']] }],
    [
      'a node reached only by a join',
      {
        nodes: ['a', 'b'],
        edges: [
          [START, 'a'],
          [['a'], 'b'],
        ],
      },
    ],
    [
      'a node that only a router without ends can reach',
      { nodes: ['a', 'b'], edges: [[START, 'a']], routers: [['a', () => 'b']] },
    ],
    ['a router as the only way in', { nodes: ['a'], edges: [], routers: [[START, () => 'a', ['a']]] }],
    ['a router without ends as the only way in', { nodes: ['a'], routers: [[START, () => 'a']] }],
    [
      'a local node among others, in a graph whose other nodes have a task queue',
      {
        nodes: { a: { run: 'local', activity: { startToCloseTimeout: '1s' } }, b: {} },
        activity: { taskQueue: 'gpu', heartbeatTimeout: '5s' },
      },
    ],
    ['a node without a way out', { nodes: ['a'], edges: [[START, 'a']] }],
  ])('%s', (_, plan) => {
    expect(buildGraph(plan).name).toBe('test');
  });

  test('no node that only an unreachable router could reach', () => {
    const plan: GraphPlan = { nodes: ['a', 'b', 'c'], edges: [[START, 'a']], routers: [['b', () => 'c']] };
    expect(refusalOf(() => buildGraph(plan)).code).toBe('UNREACHABLE_NODE');
  });
});

test('a compiled graph does not change when its builder goes on', () => {
  const builder = new StateGraph(new StateSchema({})).addNode('a').addEdge(START, 'a');
  const compiled = builder.compile({ name: 'first' });
  builder.addNode('b').addEdge('a', 'b');
  expect(compiled.describe().nodes.map(({ name }) => name)).toEqual(['a']);
});
