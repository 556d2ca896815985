import { z } from 'zod';
import {
  approvalGate,
  createAgent,
  implement,
  interrupt,
  MessagesValue,
  StateSchema,
  tool,
  type ApprovalDecision,
  type GraphRunner,
  type Json,
} from 'abeyance';
import { graphWorkflow } from 'abeyance/workflow';

/** True where two types are the same, `any` being the same as itself only. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._: Same<A, B> extends true ? [] : [never]): void {}

const mail = tool({ name: 'send_mail', description: '', schema: z.object({ to: z.string() }) });
const read = tool({ name: 'read_file', description: '', schema: z.object({ path: z.string() }) });
const State = new StateSchema({ messages: MessagesValue, desk: z.string().default('front') });

// Decisions.
export function told(decision: ApprovalDecision): unknown {
  same<typeof decision.by, string | undefined>();
  same<typeof decision.args, Json | undefined>();
  switch (decision.type) {
    case 'edit':
      same<typeof decision.args, Json>();
      return decision.args;
    case 'respond':
      same<typeof decision.response, Json>();
      return decision.response;
    case 'approve':
    case 'deny':
    case 'timeout':
      return decision.note;
    default:
      return decision satisfies never;
  }
}

const allowed = interrupt('may I?', { approval: true, allow: ['approve', 'edit'], deadline: '1 hour' });
same<typeof allowed, ApprovalDecision>();
// @ts-expect-error no such decision
interrupt('may I?', { approval: true, allow: ['accept'] });
const count = interrupt('how many?', { schema: z.coerce.number(), deadline: '1 hour', otherwise: '0' });
same<typeof count, number>();
// @ts-expect-error not what an answer is
interrupt('go on?', { schema: z.boolean(), deadline: '1 hour', otherwise: 'yes' });

export async function decided(graphs: GraphRunner): Promise<void> {
  const thread = graphs.thread('t');
  await thread.edit({ to: 'bo' }, { by: 'ana', question: 'q' });
  await thread.respond('by hand', { note: 'phoned' });
  // @ts-expect-error an edit says what of
  await thread.edit();
}

// Gates.
approvalGate({
  approved: 'tools',
  policy: {
    send_mail: { allow: ['deny', 'edit'], deadline: '1 hour', when: ({ name }) => name !== '' },
    read_file: false,
  },
});
// @ts-expect-error a misspelt rule
approvalGate({ approved: 'tools', policy: { send_mail: { alow: ['edit'] } } });
// @ts-expect-error a misspelt option
approvalGate({ approved: 'tools', polcy: {} });

// Agents.
const clerk = createAgent({
  name: 'clerk',
  model: 'planner',
  tools: [mail, read],
  state: State,
  interruptOn: { send_mail: { when: ({ name }, { desk }) => name !== desk }, read_file: false },
});
same<typeof clerk.name, 'clerk'>();
same<typeof clerk.schema.State.desk, string>();
graphWorkflow(clerk);
implement(clerk, {});
const plain = createAgent({ name: 'plain', model: 'planner', tools: [mail] });

export async function typedAgents(graphs: GraphRunner): Promise<void> {
  const done = await graphs.invoke(clerk, { messages: 'hi', desk: 'back' }, { threadId: 't' });
  same<typeof done.desk, string>();
  const other = await graphs.invoke(plain, { messages: 'hi' });
  void other.messages[0]?.content;
  // @ts-expect-error no such key
  await graphs.invoke(plain, { desk: 'back' });
}

// @ts-expect-error no such tool
createAgent({ name: 'a', model: 'm', tools: [mail], interruptOn: { sendmail: true } });
// @ts-expect-error a conversation is needed
createAgent({ name: 'a', model: 'm', tools: [mail], state: new StateSchema({ desk: z.string() }) });
// @ts-expect-error an agent has no activity node
implement(clerk, { agent: async () => ({}) });
