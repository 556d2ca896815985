import { z } from 'zod';
import { createAgent, MessagesValue, StateSchema, tool, type AgentOptions } from 'abeyance';
import { implementTool } from 'abeyance/activity';
import { InMemoryGraphs, scriptedModel, type ScriptedTurn } from 'abeyance/testing';

const mail = tool({ name: 'send_mail', description: 'Sends a mail.', schema: z.object({ to: z.string() }) });
const read = tool({ name: 'read_file', description: 'Reads a file.', schema: z.object({ path: z.string() }) });

type Options = Partial<AgentOptions<'clerk', any, typeof mail | typeof read>>;

const CALLS: ScriptedTurn = {
  toolCalls: [
    { id: 'c1', name: 'send_mail', args: { to: 'all' } },
    { id: 'c2', name: 'read_file', args: { path: '/etc' } },
  ],
};

/** An agent that asks for both tools once and then says how it went. */
function clerk(options: Options = {}) {
  const ran: string[] = [];
  const agent = createAgent({ name: 'clerk', model: 'planner', tools: [mail, read], ...options });
  const graphs = new InMemoryGraphs({
    graphs: [agent],
    models: { planner: scriptedModel([CALLS, { content: 'that is all' }]) },
    tools: [
      implementTool(mail, ({ to }) => (ran.push(`mailed ${to}`), 'sent')),
      implementTool(read, ({ path }) => (ran.push(`read ${path}`), 'contents')),
    ],
  });
  const invoke = () => graphs.invoke(agent, { messages: 'go' }, { threadId: 't' });
  return { agent, graphs, ran, invoke, thread: () => graphs.thread(agent, 't') };
}

const texts = ({ messages }: any): string[] => messages.map(({ role, content }: any) => `${role}: ${content}`);

describe('an agent', () => {
  test('calls the model and the tools it asks for, until it asks for none', async () => {
    const { invoke, ran } = clerk();
    expect(texts(await invoke())).toEqual(['human: go', 'ai: ', 'tool: sent', 'tool: contents', 'ai: that is all']);
    expect([...ran].sort()).toEqual(['mailed all', 'read /etc']);
  });

  test('asks before the tools that need it, and before no other', async () => {
    const { invoke, thread, ran } = clerk({ interruptOn: { send_mail: true } });
    await invoke();
    expect((await thread().getState()).interrupts.map(({ value }) => value)).toEqual([
      { tool: 'send_mail', args: { to: 'all' } },
    ]);
    await thread().approve();
    expect(texts(await thread().untilStopped())).toEqual([
      'human: go',
      'ai: ',
      'tool: sent',
      'tool: contents',
      'ai: that is all',
    ]);
    expect([...ran].sort()).toEqual(['mailed all', 'read /etc']);
  });

  test('tells the model what was denied, and why, and goes on', async () => {
    const { invoke, thread, ran } = clerk({ interruptOn: { send_mail: true, read_file: true } });
    await invoke();
    await thread().deny({ question: '2.approval_gate:call:c1', note: 'no' });
    await thread().deny({ question: '2.approval_gate:call:c2' });
    expect(texts(await thread().untilStopped())).toEqual([
      'human: go',
      'ai: ',
      'tool: denied by approver: no\nA human rejected this call; it was not run.',
      'tool: denied by approver\nA human rejected this call; it was not run.',
      'ai: that is all',
    ]);
    expect(ran).toEqual([]);
  });

  test('takes the whole policy', async () => {
    const { invoke, thread, ran } = clerk({
      interruptOn: { send_mail: { allow: ['edit', 'deny'], deadline: '1 hour' } },
    });
    await invoke();
    expect((await thread().getState()).interrupts).toMatchObject([
      { allow: ['deny', 'edit'], expiresAt: expect.any(String) },
    ]);
    await thread().edit({ to: 'bo' });
    await thread().untilStopped();
    expect([...ran].sort()).toEqual(['mailed bo', 'read /etc']);
  });

  test.each<[string, Options, string[]]>([
    ['has a gate where a tool needs one', { interruptOn: { send_mail: true } }, ['agent', 'approval_gate', 'tools']],
    ['has none where no tool does', { interruptOn: { send_mail: false } }, ['agent', 'tools']],
    ['has none where nothing is said', {}, ['agent', 'tools']],
    ['is only a model where there are no tools', { tools: [] }, ['agent']],
  ])('%s', (_, options, nodes) => {
    const agent = createAgent({ name: 'clerk', model: 'planner', tools: [mail, read], ...options });
    expect(agent.describe().nodes.map(({ name }) => name)).toEqual(nodes);
  });

  test('keeps what else its state has', async () => {
    const state = new StateSchema({ messages: MessagesValue, desk: z.string().default('front') });
    const when = (_: unknown, { desk }: any): boolean => desk === 'front';
    const { invoke, thread } = clerk({ state, interruptOn: { send_mail: { when } } });
    expect(await invoke()).toMatchObject({ desk: 'front' });
    expect((await thread().getState()).status).toBe('waiting');
  });

  test('stops at its limit', async () => {
    const { invoke } = clerk({ recursionLimit: 2 });
    await expect(invoke()).rejects.toMatchObject({ code: 'GRAPH_RECURSION_LIMIT' });
  });

  test.each<[string, object]>([
    ['a tool it does not have', { interruptOn: { sendmail: true } }],
    ['such a tool, though it only lets it pass', { interruptOn: { sendmail: false } }],
    ['nothing to decide', { interruptOn: { send_mail: { allow: [] } } }],
    ['a misspelt rule', { interruptOn: { send_mail: { alow: ['edit'] } } }],
    ['a misspelt option', { interuptOn: { send_mail: true } }],
  ])('is refused with %s', (_, options) => {
    expect(() => clerk(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});
