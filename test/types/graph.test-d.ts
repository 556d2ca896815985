import { z } from 'zod';
import { approvalGate, Command, END, inWorkflow, MessagesValue, Send, START, StateGraph, StateSchema } from 'abeyance';

const State = new StateSchema({ total: z.number(), note: z.string().optional(), messages: MessagesValue });
const graph = new StateGraph(State).addNode('a').addNode('b');

// Edges.
graph.addEdge(START, 'a').addEdge('a', 'b').addEdge('b', END).addEdge(['a', 'b'], END);
// @ts-expect-error an edge to an unknown node
graph.addEdge('a', 'nope');
// @ts-expect-error an edge from an unknown node
graph.addEdge('nope', 'a');
// @ts-expect-error a join of an unknown node
graph.addEdge(['a', 'nope'], 'b');
// @ts-expect-error an edge from END
graph.addEdge(END, 'a');
// @ts-expect-error an edge to START
graph.addEdge('a', START);
// @ts-expect-error a node that is added only later
new StateGraph(State).addNode('a').addEdge('a', 'b').addNode('b');

// Routers.
graph.addConditionalEdges('a', ({ total }) => (total > 1 ? 'b' : END));
graph.addConditionalEdges(START, ({ messages }) => messages.map((message) => new Send('a', message)));
graph.addConditionalEdges('a', () => ['b', END, new Send('a', {})]);
graph.addConditionalEdges('a', () => 'b', ['b', END]);
// @ts-expect-error a router that returns an unknown node
graph.addConditionalEdges('a', () => 'nope');
// @ts-expect-error a router that returns an unknown node among others
graph.addConditionalEdges('a', ({ total }) => (total > 1 ? 'b' : 'nope'));
// @ts-expect-error a router that sends to an unknown node
graph.addConditionalEdges('a', () => new Send('nope', {}));
// @ts-expect-error a router that returns what is not among its ends
graph.addConditionalEdges('a', () => 'a', ['b']);
// @ts-expect-error an unknown node among the ends
graph.addConditionalEdges('a', () => 'b', ['b', 'nope']);
// @ts-expect-error a router of an unknown node
graph.addConditionalEdges('nope', () => 'b');
// @ts-expect-error a router that is asynchronous
graph.addConditionalEdges('a', async () => 'b');
// @ts-expect-error a router that returns nothing
graph.addConditionalEdges('a', () => undefined);
// @ts-expect-error a router that reads a key the state does not have
graph.addConditionalEdges('a', ({ nope }) => 'b');

// Nodes.
graph.addNode('c', { reads: ['total'], activity: { startToCloseTimeout: '1 minute', retry: { maximumAttempts: 2 } } });
graph.addNode(
  'd',
  inWorkflow(({ total, note }) => ({ total: total + 1, note })),
);
graph.addNode(
  'e',
  inWorkflow(() => new Command({ update: { total: 1 }, goto: 'a' }), { ends: ['a'] }),
);
graph.addNode('f', approvalGate({ approved: 'a' }));
// @ts-expect-error a key that the state does not have
graph.addNode('g', { reads: ['nope'] });
// @ts-expect-error a duration that is none
graph.addNode('h', { activity: { startToCloseTimeout: 'soon' } });
graph.addNode(
  'i',
  // @ts-expect-error a mistyped value
  inWorkflow(() => ({ total: 'one' })),
);
graph.addNode(
  'j',
  // @ts-expect-error a key that the state does not have
  inWorkflow(({ nope }) => ({ total: nope })),
);

// What the schema says.
const state: typeof State.State = { total: 1, note: undefined, messages: [] };
const update: typeof State.Update = { messages: 'hi' };
// @ts-expect-error a conversation is read as messages
const wrong: typeof State.State = { total: 1, note: undefined, messages: 'hi' };
void [state, update, wrong];
