import { Command, isInterrupted, type GraphThread } from 'abeyance';
import { gated_agent, pausing_order, rerunning_order, two_step_order } from './graphs';
import type { Stage } from './stage';

/** The chapter's scenarios, by the name they are reported under. */
export const SCENARIOS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  interrupt_pauses_the_run_and_returns_immediately: pausesAndReturns,
  command_resume_dispatches_straight_to_the_pending_node: resumesThePendingNode,
  code_before_the_interrupt_call_runs_twice_on_resume: runsTwice,
  an_approval_gate_actually_gates_the_action: gatesTheAction,
};

/** The checkpoint of a thread: its values, the nodes it waits in, and what it asks. */
async function checkpoint(thread: GraphThread): Promise<Record<string, unknown>> {
  const { values, next, interrupts } = await thread.getState();
  return { values, pending_node: next, pending_interrupt_value: interrupts[0]?.value ?? null };
}

async function pausesAndReturns(stage: Stage): Promise<void> {
  const threadId = stage.newThread('pausing-order');
  let raised = false;
  const result = await stage.step('pause', async () => {
    try {
      return await stage.graphs.invoke(pausing_order, { order_total: 500, approved: false }, { threadId });
    } catch {
      raised = true;
      return undefined;
    }
  });
  stage.observe('checkpoint_after_pause', await checkpoint(stage.graphs.thread(pausing_order, threadId)));
  stage.observe('the_call_returned_instead_of_raising', {
    raised,
    interrupt_present: isInterrupted(result),
    interrupt_value: isInterrupted(result) ? result.__interrupt__[0].value : null,
    approved_field_untouched: result?.approved,
  });
}

async function resumesThePendingNode(stage: Stage): Promise<void> {
  const threadId = stage.newThread('two-step-order');
  const thread = stage.graphs.thread.bind(stage.graphs, two_step_order, threadId);
  const stepOneRuns = (): number => stage.effects.of('step_one_ran', threadId).length;

  await stage.step('pause', () =>
    stage.graphs.invoke(two_step_order, { order_total: 500, approved: false }, { threadId }),
  );
  stage.observe('checkpoint_after_pause', { step_one_run_count: stepOneRuns(), ...(await checkpoint(thread())) });

  const final = await stage.step('resume', () =>
    stage.graphs.invoke(two_step_order, new Command({ resume: true }), { threadId }),
  );
  stage.observe('checkpoint_after_resume', { step_one_run_count: stepOneRuns(), ...(await checkpoint(thread())) });
  stage.observe('only_the_pending_node_reran', { step_one_run_count: stepOneRuns(), final_approved: final.approved });
}

async function runsTwice(stage: Stage): Promise<void> {
  const threadId = stage.newThread('rerunning-order');
  const runs = (): number => stage.effects.of('line_before_the_question_ran', threadId).length;

  await stage.step('pause', () => stage.graphs.invoke(rerunning_order, { order_total: 500 }, { threadId }));
  stage.observe('before_interrupt_runs_so_far', { count: runs() });

  await stage.step('resume', () => stage.graphs.invoke(rerunning_order, new Command({ resume: true }), { threadId }));
  stage.observe('before_interrupt_runs_so_far', { count: runs() });
  stage.observe('the_pre_interrupt_line_ran_twice', { before_interrupt_runs: runs() });
}

async function gatesTheAction(stage: Stage): Promise<void> {
  const approved = stage.newThread('gated-agent-approved');
  const denied = stage.newThread('gated-agent-denied');
  const orders = (): unknown[] => stage.effects.of('order_placed', approved, denied).map(({ text }) => text);
  const messages = [{ role: 'human' as const, content: 'Order 500 widgets.' }];

  const play = async (threadId: string, decision: 'approved' | 'denied'): Promise<string | undefined> => {
    await stage.step(`pause ${decision}`, () => stage.graphs.invoke(gated_agent, { messages }, { threadId }));
    const thread = stage.graphs.thread(gated_agent, threadId);
    stage.observe('checkpoint_after_pause', await checkpoint(thread));
    const final = await stage.step(`resume ${decision}`, async () => {
      await (decision === 'approved' ? thread.approve({ by: 'demo' }) : thread.deny({ by: 'demo' }));
      return thread.untilStopped();
    });
    stage.observe('orders_placed_so_far', { orders: orders() });
    return final.messages.at(-1)?.content;
  };

  const approvedFinal = await play(approved, 'approved');
  const deniedFinal = await play(denied, 'denied');
  stage.observe('the_gate_actually_gated_the_order', {
    orders_placed: orders(),
    approved_thread_final: approvedFinal,
    denied_thread_final: deniedFinal,
  });
}
