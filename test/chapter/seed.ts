/** What the original chapter observed, mock variant, by scenario and key: the trace this project reproduces. */
export const SEED: Readonly<
  Record<string, { readonly steps: readonly string[]; readonly observations: Readonly<Record<string, unknown>> }>
> = {
  interrupt_pauses_the_run_and_returns_immediately: {
    steps: ['pause'],
    observations: {
      checkpoint_after_pause: {
        values: { order_total: 500, approved: false },
        pending_node: ['place_order'],
        pending_interrupt_value: { question: 'approve this order?', total: 500 },
      },
      the_call_returned_instead_of_raising: {
        raised: false,
        interrupt_present: true,
        interrupt_value: { question: 'approve this order?', total: 500 },
        approved_field_untouched: false,
      },
    },
  },
  command_resume_dispatches_straight_to_the_pending_node: {
    steps: ['pause', 'resume'],
    observations: {
      checkpoint_after_pause: {
        step_one_run_count: 1,
        values: { order_total: 500, approved: false },
        pending_node: ['place_order'],
        pending_interrupt_value: { question: 'approve?', total: 500 },
      },
      checkpoint_after_resume: {
        step_one_run_count: 1,
        values: { order_total: 500, approved: true },
        pending_node: [],
        pending_interrupt_value: null,
      },
      only_the_pending_node_reran: { step_one_run_count: 1, final_approved: true },
    },
  },
  code_before_the_interrupt_call_runs_twice_on_resume: {
    steps: ['pause', 'resume'],
    observations: {
      before_interrupt_runs_so_far: [{ count: 1 }, { count: 2 }],
      the_pre_interrupt_line_ran_twice: { before_interrupt_runs: 2 },
    },
  },
  an_approval_gate_actually_gates_the_action: {
    steps: ['pause approved', 'resume approved', 'pause denied', 'resume denied'],
    observations: {
      checkpoint_after_pause: Array.from({ length: 2 }, () => ({
        values: {
          messages: [
            { role: 'human', content: 'Order 500 widgets.' },
            { role: 'ai', content: '' },
          ],
        },
        pending_node: ['approval_gate'],
        pending_interrupt_value: { tool: 'place_order', args: { item: 'widget', quantity: 500 } },
      })),
      orders_placed_so_far: [{ orders: ['ordered 500 x widget'] }, { orders: ['ordered 500 x widget'] }],
      the_gate_actually_gated_the_order: {
        orders_placed: ['ordered 500 x widget'],
        approved_thread_final: 'ordered 500 x widget',
        denied_thread_final: 'denied by approver',
      },
    },
  },
};
