import { AsyncLocalStorage } from 'node:async_hooks';
import { END, interrupt, type ApprovalDecision, type ApprovalGateOptions, type ApprovalPolicy } from 'abeyance';
import type { WorkflowNode } from '../../src/graph/node-definition';
import { NodeRun, provideNodeRunStorage } from '../../src/graph/node-run';
import type { Answer } from '../../src/graph/question';
import { runBody } from '../../src/graph/run-body';
import { buildGraph } from './support/build-graph';
import { call, mailDesk } from './support/mail-desk';
import { inMemory, openIds, resume } from './support/run-in-memory';

const REJECTED = 'A human rejected this call; it was not run.';
const send = (id: string, to = 'ana') => call(id, 'send_mail', { to });
const del = (id: string, path = '/tmp') => call(id, 'delete_file', { path });
const read = (id: string, path = '/etc') => call(id, 'read_file', { path });

const ALL = ['approve', 'deny', 'edit', 'respond'] as const;
const editable: Partial<ApprovalGateOptions> = { policy: { send_mail: { allow: ALL } } };

describe('a policy is refused when the graph is built', () => {
  test.each<[string, object, RegExp]>([
    ['for a tool that the tool node does not have', { policy: { sendmail: true } }, /"sendmail".*send_mail, read_file/],
    ['for such a tool, though it only lets it pass', { policy: { sendmail: false } }, /"sendmail"/],
    ['with nothing to decide', { policy: { send_mail: { allow: [] } } }, /"allow".*approve, deny, edit, respond/],
    ['with a decision there is not', { policy: { send_mail: { allow: ['accept'] } } }, /"accept"/],
    ['with a misspelt option', { policy: { send_mail: { alow: ['approve'] } } }, /"alow".*allow, deadline/],
    ['with a deadline that is none', { policy: { send_mail: { deadline: 'tomorrow' } } }, /"tomorrow"/],
    ['with a deadline that has passed', { policy: { send_mail: { deadline: 0 } } }, /positive/],
    ['with a condition that is no function', { policy: { send_mail: { when: true } } }, /"when"/],
    ['that is neither yes, no nor rules', { policy: { send_mail: 'yes' } }, /"send_mail" is yes/],
    ['under a misspelt name', { polcy: { send_mail: true } }, /"polcy"/],
  ])('%s', (_, options, message) => {
    expect(() => mailDesk(options)).toThrow(
      expect.objectContaining({
        name: 'GraphDefinitionError',
        code: 'INVALID_OPTION',
        message: expect.stringMatching(message),
      }),
    );
  });
});

describe('which calls are asked about', () => {
  test.each<[string, Partial<ApprovalGateOptions>, string[]]>([
    ['all that the policy does not let pass', { policy: { read_file: false } }, ['c1', 'c3']],
    ['all, where there is no policy', {}, ['c1', 'c2', 'c3']],
    ['of the tools that are named, the policy coming first', { tools: [], policy: { delete_file: true } }, ['c3']],
    [
      'those of which "when" says so',
      { policy: { send_mail: { when: ({ args }) => (args as any).to !== 'ana' } } },
      ['c2', 'c3'],
    ],
  ])('%s', async (_, options, ids) => {
    const desk = mailDesk(options);
    await desk.ask(send('c1'), read('c2'), del('c3'));
    expect(await openIds(desk)).toEqual(ids.map((id) => `1.gate:call:${id}`));
  });

  test('"when" sees the call and the state', async () => {
    const when = ({ args }: any, { trusted }: any): boolean => !trusted.includes(args.to);
    const desk = mailDesk({ policy: { send_mail: { when } } });
    const messages = [{ id: 'm', role: 'ai', content: '', tool_calls: [send('c1', 'ana'), send('c2', 'bo')] }];
    await desk.invoke({ trusted: ['ana'], messages });
    expect(await openIds(desk)).toEqual(['1.gate:call:c2']);
  });

  test('a call that was asked about and denied stays denied, though "when" has changed its mind', async () => {
    let asks = true;
    const desk = mailDesk({ policy: { send_mail: { when: () => asks } } });
    await desk.ask(send('c1'));
    asks = false;
    await desk.thread().deny();
    await desk.thread().untilStopped();
    expect(desk.ran).toEqual([]);
  });

  test('a "when" that throws fails the run and lets nothing pass', async () => {
    const when = (): never => {
      throw new TypeError('no such list');
    };
    const desk = mailDesk({ policy: { send_mail: { when } } });
    await expect(desk.ask(send('c1'))).rejects.toMatchObject({ code: 'NODE_FAILED', node: 'gate' });
    expect(desk.ran).toEqual([]);
  });

  test('what is described is bound to the call that it is about', async () => {
    const described = async (to: string): Promise<any> => {
      const desk = mailDesk({ policy: { send_mail: { describe: ({ name }) => `may I ${name}?` } } });
      await desk.ask(send('c1', to));
      return (await desk.thread().getState()).interrupts[0];
    };
    const [ana, bo] = [await described('ana'), await described('bo')];
    expect(ana).toMatchObject({ value: 'may I send_mail?', call: { tool: 'send_mail', args: { to: 'ana' } } });
    expect(bo.digest).not.toBe(ana.digest);
  });
});

describe('a question', () => {
  const questionOf = async (options: Partial<ApprovalGateOptions>): Promise<any> => {
    const desk = mailDesk(options);
    await desk.ask(send('c1'));
    return (await desk.thread().getState()).interrupts[0];
  };

  test('shows what it allows', async () => {
    expect((await questionOf({ policy: { send_mail: { allow: ['deny', 'edit', 'approve'] } } })).allow).toEqual([
      'approve',
      'deny',
      'edit',
    ]);
  });

  test('has the same digest as ever where that is approve and deny', async () => {
    const plain = await questionOf({});
    const same = await questionOf({ policy: { send_mail: { allow: ['deny', 'approve'], deadline: '1 hour' } } });
    expect([same.digest, same.allow]).toEqual([plain.digest, undefined]);
    expect((await questionOf(editable)).digest).not.toBe(plain.digest);
  });
});

describe('an edited call', () => {
  test('runs with the new arguments, and the model is told that a human changed them and what ran', async () => {
    const desk = mailDesk(editable);
    await desk.ask(send('c1', 'everybody'));
    await desk.thread().edit({ to: 'bo' }, { by: 'ana', note: 'not to all' });
    await desk.thread().untilStopped();
    expect(desk.ran).toEqual(['mailed bo']);
    expect(await desk.told()).toEqual([
      [
        'c1',
        'A human changed the arguments of this call before it ran. Their reason: not to all\nWhat ran: send_mail({"to":"bo"})\nmailed bo',
        'success',
      ],
    ]);
  });

  test.each<[string, unknown]>([
    ['that do not fit the tool', { to: 7 }],
    ['that are none', 'bo'],
  ])('with arguments %s is refused to whoever edited, and the question stays open', async (_, args) => {
    const desk = mailDesk(editable);
    await desk.ask(send('c1'));
    await expect(desk.thread().edit(args)).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
      message: expect.stringContaining('do not fit the tool'),
    });
    await desk.thread().edit({ to: 'bo' });
    await desk.thread().untilStopped();
    expect(desk.ran).toEqual(['mailed bo']);
  });

  test('is checked where what is shown hides the tool, too', async () => {
    const desk = mailDesk({ policy: { send_mail: { allow: ALL, describe: () => 'mail?' } } });
    await desk.ask(send('c1'));
    await expect(desk.thread().edit({ too: 'bo' })).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
  });

  test.each([
    { type: 'edit', args: { path: '/' }, tool: 'delete_file' },
    { type: 'edit', args: { path: '/' }, name: 'delete_file' },
  ])('cannot become a call of another tool: %j', async (answer) => {
    const desk = mailDesk({ policy: { send_mail: { allow: ALL } } });
    await desk.ask(send('c1'));
    await expect(desk.thread().resume(answer)).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    const sly = { name: 'delete_file' } as object;
    await expect(desk.thread().edit({ to: 'bo' }, sly)).rejects.toMatchObject({ code: 'DECISION_MALFORMED' });
    expect(await openIds(desk)).toEqual(['1.gate:call:c1']);
    expect(desk.ran).toEqual([]);
  });
});

test('the gate itself sends back an edit that does not fit, should one get by', () => {
  provideNodeRunStorage(new AsyncLocalStorage<NodeRun>());
  const { graph } = mailDesk(editable);
  const body = (graph.shape.nodes.get('gate') as WorkflowNode).fn;
  const state = { messages: [{ id: 'm', role: 'ai', content: '', tool_calls: [send('c1')] }] };
  const visit = (answers: readonly Answer[]): any => {
    const info = { threadId: 't', graph: 'test', node: 'gate', task: '1.gate', step: 1, visit: 1, attempt: 1 };
    const ports = { signal: new AbortController().signal, saveOnce: () => undefined };
    return runBody({ graph, body, state, run: new NodeRun({ ...info, idempotencyKey: 'k' }, answers, {}, ports) });
  };
  const [{ id, digest }] = visit([]).questions;
  const answer = { id, digest, value: { type: 'edit', args: { to: 7 } }, via: 'test' };
  expect(visit([answer])).toMatchObject({
    kind: 'rejected',
    question: id,
    reason: expect.stringContaining('do not fit'),
  });
});

describe('a call that a person responds to', () => {
  test.each<[string, unknown, string]>([
    ['text', 'it is in the post', 'it is in the post'],
    ['anything else', { sent: true }, '{"sent":true}'],
  ])('is not run, and has the %s for its result', async (_, response, content) => {
    const desk = mailDesk(editable);
    await desk.ask(send('c1'));
    await desk.thread().respond(response, { by: 'ana' });
    await desk.thread().untilStopped();
    expect(desk.ran).toEqual([]);
    expect(await desk.told()).toEqual([['c1', content, 'success']]);
  });

  test('leads where the tools lead, as if it had run', async () => {
    const desk = mailDesk({ ...editable, denied: 'gate' });
    await desk.ask(send('c1'));
    await desk.thread().respond('done');
    await desk.thread().untilStopped();
    expect((await desk.thread().getState()).status).toBe('done');
  });
});

describe('several calls of one message', () => {
  test('keep their order, whatever is decided on each', async () => {
    const desk = mailDesk({ policy: { send_mail: { allow: ALL }, read_file: false } });
    await desk.ask(del('c1'), send('c2', 'a'), read('c3'), send('c4', 'b'), send('c5', 'c'));
    await resume(desk, {
      '1.gate:call:c5': { type: 'respond', response: 'by hand' },
      '1.gate:call:c1': { type: 'deny', note: 'no' },
      '1.gate:call:c4': { type: 'edit', args: { to: 'z' } },
      '1.gate:call:c2': true,
    });
    expect([...desk.ran].sort()).toEqual(['mailed a', 'mailed z', 'read /etc']);
    expect(await desk.told()).toEqual([
      ['c1', `denied by approver: no\n${REJECTED}`, 'error'],
      ['c2', 'mailed a', 'success'],
      ['c3', 'read /etc', 'success'],
      ['c4', expect.stringMatching(/^A human changed .*\nWhat ran: send_mail\({"to":"z"}\)\nmailed z$/s), 'success'],
      ['c5', 'by hand', 'success'],
    ]);
  });

  test('counted wrongly are refused, the gate stays open, and the right answer is accepted', async () => {
    const desk = mailDesk({ policy: { read_file: false } });
    await desk.ask(send('c1'), read('c2'), del('c3'));
    const [mail, file] = ['1.gate:call:c1', '1.gate:call:c3'] as const;
    const three = { [mail]: true, [file]: true, '1.gate:call:c2': true };
    await expect(desk.thread().resume(three)).rejects.toMatchObject({
      code: 'QUESTION_UNKNOWN',
      message: expect.stringContaining('1.gate:call:c2'),
      open: [{ id: mail }, { id: file }],
    });
    await expect(desk.thread().resume([true, true])).rejects.toMatchObject({ code: 'ANSWER_AMBIGUOUS' });
    await expect(desk.thread().resume({ ['f'.repeat(32)]: true })).rejects.toMatchObject({ code: 'ANSWER_AMBIGUOUS' });
    expect(desk.ran).toEqual([]);
    await resume(desk, { [file]: false, [mail]: true });
    expect([...desk.ran].sort()).toEqual(['mailed ana', 'read /etc']);
  });

  test('one decision at a time may come, and the second of two people is told who was first', async () => {
    const desk = mailDesk(editable);
    await desk.ask(send('c1', 'a'), send('c2', 'b'));
    const question = '1.gate:call:c1';
    const both = [desk.thread().edit({ to: 'z' }, { question, by: 'ana' }), desk.thread().deny({ question, by: 'bo' })];
    const [first, second] = await Promise.allSettled(both);
    expect(first).toMatchObject({ status: 'fulfilled', value: { kind: 'accepted' } });
    expect(second).toMatchObject({
      reason: { code: 'QUESTION_SETTLED', message: expect.stringContaining('edited by ana') },
    });
    expect(desk.ran).toEqual([]);
    await desk.thread().deny({ question: '1.gate:call:c2' });
    await desk.thread().untilStopped();
    expect(desk.ran).toEqual(['mailed z']);
  });

  test('all denied lead elsewhere, each with its reason for whoever reads on', async () => {
    const desk = mailDesk({ denied: 'tools' });
    await desk.ask(send('c1'), del('c2'));
    await resume(desk, { '1.gate:call:c1': false, '1.gate:call:c2': { type: 'deny', note: 'no' } });
    expect(await desk.told()).toEqual([
      ['c1', `denied by approver\n${REJECTED}`, 'error'],
      ['c2', `denied by approver: no\n${REJECTED}`, 'error'],
    ]);
  });
});

describe('a decision that the question does not allow is refused, naming what it allows', () => {
  type Decide = (thread: ReturnType<ReturnType<typeof mailDesk>['thread']>) => Promise<unknown>;

  test.each<[string, ApprovalPolicy, Decide, string]>([
    ['edit', {}, (thread) => thread.edit({ to: 'bo' }), 'approve, deny'],
    ['respond', {}, (thread) => thread.respond('x'), 'approve, deny'],
    ['edit in a resume', {}, (thread) => thread.resume({ type: 'edit', args: { to: 'bo' } }), 'approve, deny'],
    ['approve', { send_mail: { allow: ['respond'] } }, (thread) => thread.approve(), 'respond'],
    ['deny', { send_mail: { allow: ['approve', 'edit'] } }, (thread) => thread.deny(), 'approve, edit'],
  ])('%s', async (_, policy, decide, allowed) => {
    const desk = mailDesk({ policy });
    await desk.ask(send('c1'));
    await expect(decide(desk.thread())).rejects.toMatchObject({
      code: 'ANSWER_INVALID',
      message: expect.stringContaining(`It allows: ${allowed}.`),
    });
    expect(await openIds(desk)).toEqual(['1.gate:call:c1']);
  });

  test.each(['edit', 'respond'] as const)('%s, on a plain question', async (word) => {
    const run = inMemory(buildGraph({ nodes: ['ask'] }), { ask: () => void interrupt('what now?') });
    await run.invoke();
    await expect(run.thread()[word]('x')).rejects.toMatchObject({ code: 'ANSWER_INVALID' });
    expect(await openIds(run)).toEqual(['1.ask:0']);
  });
});

describe("a node's own approval", () => {
  const asking = (options: object, told: ApprovalDecision[] = []) => {
    const ask = (): void => void told.push(interrupt('may I?', { approval: true, ...options }));
    return { ...inMemory(buildGraph({ nodes: ['ask'] }), { ask }), told };
  };

  test('may allow an edit and a response, and is handed the whole decision', async () => {
    const edited = asking({ allow: ['approve', 'edit'] });
    await edited.invoke();
    await edited.thread().edit({ total: 5 }, { by: 'ana', note: 'less' });
    await edited.thread().untilStopped();
    expect(edited.told).toStrictEqual([{ type: 'edit', args: { total: 5 }, by: 'ana', note: 'less' }]);

    const responded = asking({ allow: ['respond'] });
    await responded.invoke();
    await responded.thread().respond(false);
    await responded.thread().untilStopped();
    expect(responded.told).toStrictEqual([{ type: 'respond', response: false }]);
  });

  test.each<[string, object]>([
    ['nothing', { allow: [] }],
    ['what there is not', { allow: ['ignore'] }],
    ['something, though it is no approval', { allow: ['edit'], approval: false }],
  ])('cannot allow %s', async (_, options) => {
    await expect(asking(options).invoke()).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});

test('a call without a decision leads to END as before where no tool was asked for', async () => {
  const desk = mailDesk({ ...editable, denied: END });
  await desk.ask();
  expect((await desk.thread().getState()).status).toBe('done');
});
