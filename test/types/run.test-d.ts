import { z } from 'zod';
import {
  Command,
  INTERRUPT,
  interrupt,
  isInterrupted,
  MessagesValue,
  nodeContext,
  once,
  Overwrite,
  START,
  StateGraph,
  StateSchema,
  tool,
  type ApprovalDecision,
  type GraphRunner,
  type GraphThread,
} from 'abeyance';
import { implementTool } from 'abeyance/activity';
import type { GraphClient } from 'abeyance/client';
import type { InMemoryGraphs } from 'abeyance/testing';

/** True where two types are the same, `any` being the same as itself only. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._: Same<A, B> extends true ? [] : [never]): void {}

// Answers.
const count = interrupt('how many?', { schema: z.object({ count: z.coerce.number() }) });
same<typeof count, { count: number }>();
const decision = interrupt('approve?', { approval: true });
same<typeof decision, ApprovalDecision>();
const anything = interrupt('?');
same<typeof anything, any>();
const keyed = interrupt('?', { key: 'k' });
same<typeof keyed, any>();
const claimed = interrupt<boolean>('?');
same<typeof claimed, boolean>();
// @ts-expect-error an answer is what its schema says
interrupt('?', { schema: z.boolean() }).toFixed();
const ticket = once('ticket', async () => ({ id: 1 }));
same<typeof ticket, Promise<{ id: number }>>();

// Tools.
const order = tool({ name: 'order', description: '', schema: z.object({ item: z.string() }) });
implementTool(order, async ({ item }, { callId }) => item + callId);
// @ts-expect-error an argument that the schema does not have
implementTool(order, async ({ quantity }) => quantity);

// Runs.
const State = new StateSchema({ total: z.number(), messages: MessagesValue, approved: z.boolean().default(false) });
const graph = new StateGraph(State).addNode('a').addEdge(START, 'a').compile({ name: 'graph' });

export async function typedByTheGraph(graphs: GraphRunner): Promise<void> {
  const result = await graphs.invoke(graph, { total: 1, messages: 'hi' }, { threadId: 't' });
  same<typeof result.total, number>();
  same<typeof result.approved, boolean>();
  void result[INTERRUPT]?.[0]?.id;
  if (isInterrupted<{ question: string }>(result)) {
    same<(typeof result.__interrupt__)[0]['value'], { question: string }>();
    same<typeof result.total, number>();
  }
  // @ts-expect-error a value that the graph does not have
  void result.nope;
  // @ts-expect-error the result is read-only
  result.total = 2;
  const { values } = await graphs.thread(graph, 't').getState();
  same<typeof values.total, number>();
  // @ts-expect-error a value that the graph does not have
  void values.nope;
}

export async function inputs(graphs: GraphRunner): Promise<void> {
  await graphs.invoke(graph, {});
  await graphs.invoke(graph, { messages: new Overwrite([]) });
  await graphs.invoke(graph, new Command({ resume: true }), { threadId: 't' });
  // @ts-expect-error a wrong key
  await graphs.invoke(graph, { totl: 1 });
  // @ts-expect-error a wrong key beside a right one
  await graphs.invoke(graph, { total: 1, totl: 1 });
  // @ts-expect-error a mistyped value
  await graphs.invoke(graph, { total: 'one' });
  // @ts-expect-error a wrong key
  await graphs.start(graph, { totl: 1 });
  // @ts-expect-error a Command starts nothing
  await graphs.start(graph, new Command({ resume: true }));
  // @ts-expect-error an unknown option
  await graphs.invoke(graph, {}, { thread: 't' });
}

export async function decisions(thread: GraphThread): Promise<void> {
  await thread.approve({ by: 'ana', note: 'fine', question: '1.a:0', digest: 'd', decisionId: 'x' });
  await thread.resume({ any: ['thing'] }, { node: 'a' });
  // @ts-expect-error an unknown detail
  await thread.deny({ who: 'ana' });
}

export async function untyped(client: GraphClient, memory: InMemoryGraphs, runner: GraphRunner): Promise<void> {
  const threads = [client.thread('t'), memory.thread('t'), runner.thread('t')];
  same<(typeof threads)[number], GraphThread<any>>();
  const { values } = await memory.thread('t').getState();
  void values.whatever;
  // @ts-expect-error a graph without an id
  runner.thread(graph);
}

// Streams.
export async function streams(graphs: GraphRunner): Promise<void> {
  for await (const event of graphs.stream(graph, { total: 1 }, { threadId: 't' })) {
    if (event.kind === 'values') {
      same<typeof event.values.total, number>();
      if (isInterrupted(event.values)) void event.values.__interrupt__[0]?.value;
    }
    same<typeof event.offset, string>();
    same<
      typeof event.kind,
      'values' | 'updates' | 'task-start' | 'task-end' | 'attempt-failed' | 'questions' | 'end'
    >();
  }
  for await (const event of graphs.thread(graph, 't').stream({ modes: ['messages', 'values'], after: 'offset' })) {
    same<typeof event.kind, 'messages' | 'values' | 'end'>();
    if (event.kind === 'messages') same<typeof event.text, string>();
  }
  void graphs.stream(graph, null, { threadId: 't', signal: new AbortController().signal });
  void graphs.stream(graph, new Command({ resume: true }), { threadId: 't', recursionLimit: 5 });
  // @ts-expect-error a wrong key
  void graphs.stream(graph, { totl: 1 });
  // @ts-expect-error a mode that is none
  void graphs.stream(graph, {}, { modes: ['debug'] });
  // @ts-expect-error only a thread is taken up after an offset
  void graphs.stream(graph, {}, { after: 'offset' });
  nodeContext().write({ percent: 50 });
}
