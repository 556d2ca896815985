import { implement, nodeContext } from 'abeyance';
import { handled } from '../support/handled-graph';
import { workflowTaskFailures } from '../support/histories';
import { onServer } from '../support/on-server';

const attempts: string[] = [];
const nodes = implement(handled, {
  fails: async () => {
    attempts.push(`fails ${nodeContext().attempt}`);
    throw new Error(`broken ${nodeContext().attempt}`);
  },
  // Until its attempt is given up.
  hangs: async () => {
    attempts.push(`hangs ${nodeContext().attempt}`);
    const { signal } = nodeContext();
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
    return {};
  },
  unserved: async () => {
    attempts.push('unserved');
    return {};
  },
  after: async () => ({ log: 'after' }),
});

const server = onServer(() => ({ nodes: [nodes] }), { silent: true });

it('a handler stands in after the retries of Temporal, for a timeout, and where no worker takes the node', async () => {
  const threadId = server.threadId('handled');
  const { log } = await server.graphs.invoke(handled, {}, { threadId });
  expect(log).toEqual([
    'fails: NODE_FAILED: Node "fails" failed: broken 3',
    expect.stringMatching(/^hangs: NODE_FAILED: Node "hangs" failed: .*timeout/i),
    expect.stringMatching(/^unserved: NODE_FAILED: Node "unserved" failed: .*timeout/i),
    'after',
  ]);
  expect([...attempts].sort()).toEqual(['fails 1', 'fails 2', 'fails 3', 'hangs 1', 'hangs 2']);
  expect(await workflowTaskFailures(server.client, threadId)).toBe(0);

  // What the history is worked through to is what the run wrote, word for word.
  const checkpoints: unknown[] = [];
  for await (const { values } of server.graphs.thread(handled, threadId).getStateHistory())
    checkpoints.push(values.log);
  expect(checkpoints).toEqual([log, log.slice(0, 3), []]);
});
