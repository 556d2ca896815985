import { z } from 'zod';
import { END, inWorkflow, MessagesValue, modelNode, START, StateGraph, StateSchema, tool, toolNode } from 'abeyance';
import { buildGraph, type GraphPlan } from './support/build-graph';

const PLAN: GraphPlan = {
  nodes: ['a', 'b'],
  edges: [
    [START, 'a'],
    ['a', 'b'],
    ['b', END],
  ],
};

describe('the fingerprint of a graph', () => {
  test('is the same for the same graph, compiled twice', () => {
    expect(buildGraph(PLAN).fingerprint).toBe(buildGraph(PLAN).fingerprint);
  });

  test('does not depend on the graph’s name or limits', () => {
    expect(buildGraph({ ...PLAN, name: 'other', recursionLimit: 3 }).fingerprint).toBe(buildGraph(PLAN).fingerprint);
  });

  test.each<[string, GraphPlan]>([
    ['a node is added', { nodes: ['a', 'b', 'c'], edges: [...(PLAN.edges ?? []), ['b', 'c']] }],
    ['a node changes its kind', { ...PLAN, nodes: { a: undefined, b: inWorkflow(() => ({})) } }],
    ['an edge is added', { ...PLAN, edges: [...(PLAN.edges ?? []), ['a', END]] }],
    [
      'an edge becomes conditional',
      {
        nodes: ['a', 'b'],
        edges: [
          [START, 'a'],
          ['b', END],
        ],
        routers: [['a', () => 'b', ['b']]],
      },
    ],
    ['a state key is added', { ...PLAN, state: { log: z.any(), more: z.any() } }],
  ])('changes when %s', (_, plan) => {
    expect(buildGraph(plan).fingerprint).not.toBe(buildGraph(PLAN).fingerprint);
  });
});

const look = tool({ name: 'look', description: 'Looks.', schema: z.object({}) });
const agent = new StateGraph(new StateSchema({ messages: MessagesValue }))
  .addNode('think', modelNode({ model: 'm', tools: [look] }))
  .addNode('act', toolNode({ tools: [look] }))
  .addNode(
    'tidy',
    inWorkflow(() => ({})),
  )
  .addNode('send', { ends: [END] })
  .addEdge(START, 'think')
  .addConditionalEdges('think', () => END, ['act', END])
  .addEdge(['act', 'think'], 'tidy')
  .addEdge('tidy', 'send')
  .compile({ name: 'agent' });

test('a graph describes its nodes by kind and its edges by whether they are conditional', () => {
  expect(agent.describe()).toEqual({
    name: 'agent',
    fingerprint: agent.fingerprint,
    nodes: [
      { name: 'think', kind: 'model' },
      { name: 'act', kind: 'tools' },
      { name: 'tidy', kind: 'workflow' },
      { name: 'send', kind: 'activity' },
    ],
    edges: [
      { from: START, to: 'think', conditional: false },
      { from: 'tidy', to: 'send', conditional: false },
      { from: 'act', to: 'tidy', conditional: false },
      { from: 'think', to: 'tidy', conditional: false },
      { from: 'think', to: 'act', conditional: true },
      { from: 'think', to: END, conditional: true },
      { from: 'send', to: END, conditional: true },
    ],
  });
});

test('a graph draws itself as a Mermaid flowchart', () => {
  expect(agent.drawMermaid().split('\n')).toEqual([
    'flowchart TD',
    '  n0([start])',
    '  n2["think · model"]',
    '  n3["act · tools"]',
    '  n4["tidy · workflow"]',
    '  n5["send"]',
    '  n1([end])',
    '  n0 --> n2',
    '  n4 --> n5',
    '  n3 --> n4',
    '  n2 --> n4',
    '  n2 -.-> n3',
    '  n2 -.-> n1',
    '  n5 -.-> n1',
  ]);
});

test('a router that does not declare its ends is drawn to every node', () => {
  const { edges } = buildGraph({ nodes: ['a', 'b'], edges: [[START, 'a']], routers: [['a', () => END]] }).describe();
  expect(edges.filter(({ conditional }) => conditional).map(({ to }) => to)).toEqual(['a', 'b', END]);
});
