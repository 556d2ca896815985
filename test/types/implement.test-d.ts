import { z } from 'zod';
import {
  approvalGate,
  Command,
  END,
  implement,
  inWorkflow,
  interrupt,
  MessagesValue,
  modelNode,
  Overwrite,
  Send,
  START,
  StateGraph,
  StateSchema,
  tool,
  toolNode,
} from 'abeyance';

const State = new StateSchema({
  total: z.number(),
  approved: z.boolean().default(false),
  mode: z.enum(['fast', 'slow']).optional(),
  messages: MessagesValue,
});
const look = tool({ name: 'look', description: '', schema: z.object({}) });
const graph = new StateGraph(State)
  .addNode('plain')
  .addNode('narrow', { reads: ['total'] })
  .addNode(
    'here',
    inWorkflow(() => ({})),
  )
  .addNode('gate', approvalGate({ approved: 'tools' }))
  .addNode('model', modelNode({ model: 'm' }))
  .addNode('tools', toolNode({ tools: [look] }))
  .addEdge(START, 'plain')
  .compile({ name: 'graph' });

const narrow = async () => ({});

// What fits.
implement(graph, { plain: async () => ({ total: 1 }), narrow });
implement(graph, { plain: () => ({ total: 1, approved: true }), narrow });
implement(graph, { plain: async () => ({}), narrow: async ({ total }) => ({ total: total + 1 }) });
implement(graph, { plain: async () => undefined, narrow });
implement(graph, { plain: async () => {}, narrow });
implement(graph, { plain: async ({ total }) => ({ approved: interrupt({ total }) }), narrow });
implement(graph, { plain: async () => ({ messages: 'hi' }), narrow });
implement(graph, { plain: async () => ({ messages: new Overwrite([]) }), narrow });
implement(graph, { plain: async ({ total }) => (total > 1 ? { approved: true } : {}), narrow });
implement(graph, { plain: async ({ total }) => (total > 1 ? { approved: true } : { total: 2 }), narrow });
implement(graph, { plain: async () => new Command({ update: { total: 1 }, goto: 'narrow' }), narrow });
implement(graph, { plain: async () => new Command({ goto: END }), narrow });
implement(graph, { plain: async () => new Command({ goto: ['narrow', new Send('here', { any: 'thing' })] }), narrow });
implement(graph, { plain: async () => [{ total: 1 }, { approved: true }], narrow });
implement(graph, { plain: async () => [new Command({ goto: 'narrow' }), { total: 1 }], narrow });
implement(graph, {
  plain: async ({ total }) => (total > 1 ? new Command({ goto: 'narrow' }) : { approved: true }),
  narrow,
});

// Literals keep their type, wherever they stand.
implement(graph, { plain: () => ({ mode: 'fast' }), narrow });
implement(graph, { plain: async () => ({ messages: [{ role: 'ai', content: 'hi' }] }), narrow });
implement(graph, { plain: async () => new Command({ update: { mode: 'fast' }, goto: 'narrow' }), narrow });
implement(graph, { plain: async () => [{ mode: 'fast' }, new Command({ update: { mode: 'slow' } })], narrow });
implement(graph, { plain: async ({ total }) => (total > 1 ? { mode: 'fast' } : new Command({ goto: END })), narrow });

// @ts-expect-error a missing node
implement(graph, { plain: async () => ({}) });
// @ts-expect-error a node the graph does not have
implement(graph, { plain: async () => ({}), narrow, extra: async () => ({}) });
// @ts-expect-error a mistyped name
implement(graph, { plian: async () => ({}), narrow });
// @ts-expect-error a node that runs in workflow code
implement(graph, { plain: async () => ({}), narrow, here: () => ({}) });
// @ts-expect-error an approval gate
implement(graph, { plain: async () => ({}), narrow, gate: () => ({}) });
// @ts-expect-error a model node
implement(graph, { plain: async () => ({}), narrow, model: async () => ({}) });
// @ts-expect-error a tool node
implement(graph, { plain: async () => ({}), narrow, tools: async () => ({}) });
// @ts-expect-error a body that is none
implement(graph, { plain: 7, narrow });

// @ts-expect-error a mistyped value, synchronous
implement(graph, { plain: () => ({ total: 'one' }), narrow });
// @ts-expect-error a mistyped value, asynchronous
implement(graph, { plain: async () => ({ total: 'one' }), narrow });
// @ts-expect-error an unknown key, synchronous
implement(graph, { plain: () => ({ totl: 1 }), narrow });
// @ts-expect-error an unknown key, asynchronous
implement(graph, { plain: async () => ({ totl: 1 }), narrow });
// @ts-expect-error an unknown key beside a known one, synchronous
implement(graph, { plain: () => ({ total: 1, totl: 1 }), narrow });
// @ts-expect-error an unknown key beside a known one, asynchronous
implement(graph, { plain: async () => ({ total: 1, totl: 1 }), narrow });
// @ts-expect-error an unknown key on one of two ways out
implement(graph, { plain: async ({ total }) => (total > 1 ? { totl: 1 } : { total: 1 }), narrow });
// @ts-expect-error a string
implement(graph, { plain: async () => 'done', narrow });
// @ts-expect-error a message of an unknown role
implement(graph, { plain: async () => ({ messages: [{ role: 'robot', content: '' }] }), narrow });
// @ts-expect-error an Overwrite of another type
implement(graph, { plain: async () => ({ messages: new Overwrite('x') }), narrow });

// @ts-expect-error a key that the node does not read
implement(graph, { plain: async () => ({}), narrow: async ({ approved }) => ({ approved }) });
// @ts-expect-error a key that the state does not have
implement(graph, { plain: async ({ nope }) => ({}), narrow });
implement(graph, {
  // @ts-expect-error the state is read-only
  plain: async (state) => void (state.total = 2),
  narrow,
});

// @ts-expect-error a goto to an unknown node
implement(graph, { plain: async () => new Command({ goto: 'nope' }), narrow });
// @ts-expect-error a goto to an unknown node among others
implement(graph, { plain: async () => new Command({ goto: ['narrow', 'nope'] }), narrow });
// @ts-expect-error a Send to an unknown node
implement(graph, { plain: async () => new Command({ goto: new Send('nope', {}) }), narrow });
// @ts-expect-error a mistyped value in a command
implement(graph, { plain: async () => new Command({ update: { total: 'one' } }), narrow });
// @ts-expect-error an unknown key in a command
implement(graph, { plain: async () => new Command({ update: { totl: 1 } }), narrow });
// @ts-expect-error an unknown key in a command, synchronous
implement(graph, { plain: () => new Command({ update: { total: 1, totl: 1 }, goto: 'narrow' }), narrow });
// @ts-expect-error a mistyped value in a list
implement(graph, { plain: async () => [{ total: 'one' }], narrow });
// @ts-expect-error an unknown key in a list
implement(graph, { plain: async () => [{ totl: 1 }], narrow });
// @ts-expect-error a goto to an unknown node in a list
implement(graph, { plain: async () => [new Command({ goto: 'nope' })], narrow });
// @ts-expect-error a goto to an unknown node on one of two ways out
implement(graph, { plain: async ({ total }) => (total > 1 ? new Command({ goto: 'nope' }) : { total }), narrow });
