import { z } from 'zod';
import {
  approvalGate,
  Command,
  END,
  implement,
  inWorkflow,
  interrupt,
  MessagesValue,
  Send,
  START,
  StateGraph,
  StateSchema,
  subgraph,
  tool,
  toolNode,
  type GraphRunner,
} from 'abeyance';

const State = new StateSchema({
  total: z.number(),
  note: z.string().optional(),
  mode: z.enum(['fast', 'slow']).optional(),
  messages: MessagesValue,
});
const Parcel = z.object({ item: z.string(), size: z.enum(['s', 'l']), labels: z.array(z.string()).optional() });
const inner = new StateGraph(new StateSchema({ note: z.string().optional(), verdict: z.enum(['yes', 'no']) }))
  .addNode('judge')
  .addEdge(START, 'judge')
  .compile({ name: 'inner' });
const look = tool({ name: 'look', description: '', schema: z.object({}) });
const graph = new StateGraph(State).addNode('a').addNode('b').addNode('pack', { input: Parcel }).addNode('sub', inner);
const compiled = graph.compile({ name: 'graph', interruptBefore: ['a', 'sub/judge'], interruptAfter: '*' });

// Bodies in workflow code.
graph.addNode(
  'good 1',
  inWorkflow(({ total }) => {
    if (total > 2) return { mode: 'fast' };
    if (total > 1) return { note: 'more' };
    return {};
  }),
);
graph.addNode(
  'good 2',
  inWorkflow(({ total }) => {
    if (total > 1) return;
    return { note: 'more' };
  }),
);
graph.addNode(
  'good 3',
  inWorkflow(async ({ total }) => {
    if (total > 2) return;
    if (total > 1) return [new Command({ goto: 'a' })];
    return { mode: 'slow' };
  }),
);
graph.addNode(
  'good 4',
  inWorkflow(({ total }) => {
    if (total > 1) throw new Error('too much');
    return { total };
  }),
);
graph.addNode(
  'good 5',
  inWorkflow(() => {}),
);
graph.addNode(
  'good 6',
  inWorkflow(() => interrupt('?')),
);
graph.addNode(
  'good 7',
  inWorkflow(() => ({ note: interrupt('?') })),
);
graph.addNode(
  'good 8',
  inWorkflow(() => ({ messages: [{ role: 'ai', content: 'hi' }] })),
);
graph.addNode(
  'good 9',
  inWorkflow(() => [{ total: 1 }, new Command({ update: { mode: 'fast' }, goto: 'a' })]),
);
graph.addNode(
  'good 10',
  inWorkflow(({ total }) => [1, 2].map((more) => ({ total: total + more }))),
);
graph.addNode(
  'good 11',
  inWorkflow(({ total }) =>
    total > 1 ? new Command({ goto: 'a' }) : new Command({ goto: ['b', END], update: { total } }),
  ),
);
graph.addNode(
  'good 12',
  inWorkflow(({ total }) => (total > 1 ? new Command({ goto: 'a' }) : { mode: 'slow' })),
);
graph.addNode(
  'good 13',
  inWorkflow((): Command => new Command({ goto: 'a' })),
);
graph.addNode(
  'good 14',
  inWorkflow(({ total }: typeof State.State): typeof State.Update => ({ total })),
);
graph.addNode(
  'good 15',
  inWorkflow(({ note }: { readonly note?: string }) => ({ note })),
);
graph.addNode(
  'good 16',
  inWorkflow(() => new Command({ graph: Command.PARENT, goto: 'outside', update: { outside: 1 } })),
);
graph.addNode(
  'bad 1',
  // @ts-expect-error a mistyped value, asynchronous
  inWorkflow(async () => ({ total: 'one' })),
);
graph.addNode(
  'bad 2',
  // @ts-expect-error an unknown key
  inWorkflow(() => ({ totl: 1 })),
);
graph.addNode(
  'bad 3',
  // @ts-expect-error an unknown key beside a known one
  inWorkflow(() => ({ total: 1, totl: 1 })),
);
graph.addNode(
  'bad 4',
  // @ts-expect-error an unknown key beside a known one, asynchronous
  inWorkflow(async () => ({ total: 1, totl: 1 })),
);
graph.addNode(
  'bad 5',
  // @ts-expect-error an unknown key on one of two ways out
  inWorkflow(({ total }) => (total > 1 ? { totl: 1 } : { total: 1 })),
);
graph.addNode(
  'bad 6',
  // @ts-expect-error an unknown key of which nothing else is known
  inWorkflow(() => ({ total: 1, totl: interrupt('?') })),
);
graph.addNode(
  'bad 7',
  // @ts-expect-error an unknown key in a command
  inWorkflow(() => new Command({ update: { total: 1, totl: 1 } })),
);
graph.addNode(
  'bad 8',
  // @ts-expect-error an unknown key in a list
  inWorkflow(() => [{ total: 1, totl: 1 }]),
);
graph.addNode(
  'bad 9',
  // @ts-expect-error a mistyped value in a command, beside one for the parent
  inWorkflow(({ total }) =>
    total > 1 ? new Command({ update: { total: 'one' } }) : new Command({ graph: Command.PARENT }),
  ),
);
graph.addNode(
  'bad 10',
  // @ts-expect-error a string
  inWorkflow(() => 'done'),
);

// Where bodies go: known once the graph is compiled, for a node may be added later.
const later = graph.addNode(
  'go',
  inWorkflow(() => new Command({ goto: ['later', new Send('b', 1), END] })),
);
later.addNode('later').compile({ name: 'graph' });
// @ts-expect-error a goto to an unknown node
later.compile({ name: 'graph' });
const asynchronous = graph.addNode(
  'go',
  inWorkflow(async ({ total }) => (total > 1 ? new Command({ goto: 'nope' }) : { total })),
);
// @ts-expect-error a goto to an unknown node on one of two ways out
asynchronous.compile({ name: 'graph' });
const listed = graph.addNode(
  'go',
  inWorkflow(() => [new Command({ goto: ['a', new Send('nope', {})] })]),
);
// @ts-expect-error a Send to an unknown node, in a list
listed.compile({ name: 'graph' });
const unfit = graph.addNode(
  'go',
  inWorkflow(() => new Command({ goto: new Send('pack', { item: 1, size: 's' }) })),
);
// @ts-expect-error a Send that does not fit its node
unfit.compile({ name: 'graph' });
const mapped = graph.addNode('go', subgraph(inner, { output: () => new Command({ goto: 'nope' }) }));
// @ts-expect-error the output of a subgraph goes to an unknown node
mapped.compile({ name: 'graph' });
graph
  .addNode(
    'go',
    inWorkflow(() => new Command({ goto: 'outside', graph: Command.PARENT })),
  )
  .compile({ name: 'graph' });
const somewhere = ({ note = 'a' }: typeof State.State): Command => new Command({ goto: note });
graph.addNode('go', inWorkflow(somewhere)).compile({ name: 'graph' });

// Gates.
const tools = graph.addNode('tools', toolNode({ tools: [look] }));
tools.addNode('gate', approvalGate({ approved: 'tools' })).compile({ name: 'graph' });
tools.addNode('gate', approvalGate({ approved: 'tools', denied: 'a' })).compile({ name: 'graph' });
const astray = tools.addNode('gate', approvalGate({ approved: 'tols' }));
// @ts-expect-error approved calls go to an unknown node
astray.compile({ name: 'graph' });
const denied = tools.addNode('gate', approvalGate({ approved: 'tools', denied: 'nope' }));
// @ts-expect-error denied calls go to an unknown node
denied.compile({ name: 'graph' });

// What nodes declare.
const names: readonly string[] = ['a'];
graph
  .addNode('c', { ends: ['d', END] })
  .addNode(
    'd',
    inWorkflow(() => ({}), { ends: names }),
  )
  .compile({ name: 'graph' });
const ends = graph.addNode('c', { ends: ['nope'] });
// @ts-expect-error an unknown node among the ends
ends.compile({ name: 'graph' });
const endsHere = graph.addNode(
  'c',
  inWorkflow(() => ({}), { ends: ['nope'] }),
);
// @ts-expect-error an unknown node among the ends of a body in workflow code
endsHere.compile({ name: 'graph' });
// @ts-expect-error a breakpoint before an unknown node
graph.compile({ name: 'graph', interruptBefore: ['nope'] });
// @ts-expect-error a breakpoint in a node that is no subgraph
graph.compile({ name: 'graph', interruptAfter: ['a/judge'] });
graph.addNode('c', { onError: ({ message }) => ({ note: message, mode: 'slow' }) });
graph.addNode('c', {
  onError: ({ message }, { total }) => (total > 1 ? new Command({ goto: 'a' }) : { note: message }),
});
// @ts-expect-error an error handler that writes an unknown key
graph.addNode('c', { onError: () => ({ totl: 1 }) });
// @ts-expect-error an error handler that writes a mistyped value
graph.addNode('c', { onError: () => ({ total: 'one' }) });
// @ts-expect-error an error handler that is asynchronous
graph.addNode('c', { onError: async () => ({ total: 1 }) });

// Subgraphs.
graph.addNode('s', subgraph(inner));
graph.addNode('s', subgraph(inner, { run: 'child', input: ({ note }) => ({ note }) }));
graph.addNode(
  's',
  subgraph(inner, { input: ({ total }) => (total > 1 ? { verdict: 'yes' as const } : { note: 'little' }) }),
);
graph.addNode(
  's',
  subgraph(inner, { output: ({ verdict }) => (verdict === 'yes' ? { note: verdict } : { mode: 'slow' }) }),
);
graph.addNode('s', subgraph(inner, { output: ({ verdict }) => new Command({ update: { note: verdict }, goto: 'a' }) }));
// @ts-expect-error an input with a key that the subgraph does not have
graph.addNode('s', subgraph(inner, { input: () => ({ note: 'x', nte: 'x' }) }));
// @ts-expect-error a mistyped input
graph.addNode('s', subgraph(inner, { input: ({ total }) => ({ note: total }) }));
// @ts-expect-error an input made of a key that the state does not have
graph.addNode('s', subgraph(inner, { input: ({ totl }) => ({ note: totl }) }));
// @ts-expect-error an output with a key that the state does not have
graph.addNode('s', subgraph(inner, { output: ({ verdict }) => ({ note: verdict, verdict }) }));
// @ts-expect-error a mistyped output
graph.addNode('s', subgraph(inner, { output: ({ verdict }) => ({ mode: verdict }) }));
// @ts-expect-error an output made of a key that the subgraph does not have
graph.addNode('s', subgraph(inner, { output: ({ verdct }) => ({ note: verdct }) }));

// Sends.
graph.addConditionalEdges('a', () => new Send('pack', { item: 'cup', size: 's', labels: ['fragile'] }));
graph.addConditionalEdges('a', ({ total }) => {
  if (total > 1) return END;
  return ['cup', 'jug'].map((item) => new Send('pack', { item, size: 'l' }));
});
graph.addConditionalEdges('a', ({ note = '' }) => [new Send('pack', { item: note, size: 's' })], ['pack', END]);
const parcel: z.output<typeof Parcel> = { item: 'cup', size: 's' };
graph.addConditionalEdges('a', () => [new Send('pack', parcel), new Send('b', parcel), 'b']);
// @ts-expect-error a Send that does not fit its node
graph.addConditionalEdges('a', () => new Send('pack', { item: 1, size: 's' }));
// @ts-expect-error a Send that lacks what its node takes
graph.addConditionalEdges('a', () => [new Send('pack', { item: 'cup' })]);
// @ts-expect-error a Send that does not fit its node, with ends
graph.addConditionalEdges('a', ({ total }) => [new Send('pack', { item: total, size: 's' })], ['pack', END]);
const rest = { b: async () => ({}), pack: async ({ item }: z.output<typeof Parcel>) => ({ note: item }) };
implement(compiled, { a: () => new Command({ goto: new Send('pack', { item: 'cup', size: 's' }) }), ...rest });
implement(compiled, { a: async () => new Command({ goto: ['b', new Send('pack', parcel), END] }), ...rest });
implement(compiled, {
  a: () => new Command({ goto: names.map((item) => new Send('pack', { item, size: 'l' })) }),
  ...rest,
});
implement(compiled, { a: (): Command => new Command({ goto: new Send('b', 1) }), ...rest });
implement(compiled, { a: () => new Command({ goto: 'outside', graph: Command.PARENT, update: { any: 1 } }), ...rest });
// @ts-expect-error a Send that does not fit its node, from a body
implement(compiled, { a: () => new Command({ goto: new Send('pack', { item: 1, size: 's' }) }), ...rest });
// @ts-expect-error a Send to an unknown node among others, from a body
implement(compiled, { a: async () => new Command({ goto: ['b', new Send('nope', {})] }), ...rest });

// From outside.
export async function fromOutside(graphs: GraphRunner): Promise<void> {
  const thread = graphs.thread(compiled, 't');
  await thread.updateState({ total: 1 }, { asNode: 'a' });
  await thread.updateState({ mode: 'fast' }, { asNode: START });
  await graphs.thread('t').updateState({ any: 'thing' }, { asNode: 'anything' });
  await graphs.fork(compiled, 't', { update: { total: 1 }, asNode: 'sub' });
  await graphs.invoke(compiled, new Command({ resume: 1, update: { total: 1, mode: 'fast' } }), { threadId: 't' });
  const answer = new Command({ resume: 1 });
  await graphs.invoke(compiled, answer, { threadId: 't', interruptBefore: ['b', 'sub/judge'], interruptAfter: '*' });
  // @ts-expect-error an unknown key
  await thread.updateState({ totl: 1 });
  // @ts-expect-error an unknown key beside a known one
  await thread.updateState({ total: 1, totl: 1 });
  // @ts-expect-error an unknown node
  await thread.updateState({ total: 1 }, { asNode: 'nope' });
  // @ts-expect-error an unknown node
  await graphs.fork(compiled, 't', { asNode: 'nope' });
  // @ts-expect-error an unknown key
  await graphs.fork(compiled, 't', { update: { totl: 1 } });
  // @ts-expect-error an unknown key beside an answer
  await graphs.invoke(compiled, new Command({ resume: 1, update: { totl: 1 } }), { threadId: 't' });
  // @ts-expect-error a mistyped value beside an answer
  await graphs.invoke(compiled, new Command({ resume: 1, update: { total: 'one' } }), { threadId: 't' });
  // @ts-expect-error a breakpoint at an unknown node
  await graphs.invoke(compiled, {}, { interruptBefore: ['nope'] });
}
