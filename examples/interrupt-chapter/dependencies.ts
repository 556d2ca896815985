import { implement, interrupt, nodeContext } from 'abeyance';
import { implementTool, type ChatModel, type GraphDependencies } from 'abeyance/activity';
import { scriptedModel } from 'abeyance/testing';
import * as graphs from './graphs';
import type { SideEffects } from './side-effects';

/** The mock variant's model: it follows a script. */
const scripted = scriptedModel([{ toolCalls: [{ name: 'place_order', args: { item: 'widget', quantity: 500 } }] }]);

/** What the chapter may be played with beside its own. */
export interface ChapterOptions {
  /** The model that plans the order: a live one makes the live variant. */
  readonly planner?: ChatModel;
}

/** Everything the chapter's graphs run with: nodes, the tool, and a model that follows a script, or a live one. */
export function chapterDependencies(
  effects: SideEffects,
  { planner = scripted }: ChapterOptions = {},
): GraphDependencies {
  const pausing = implement(graphs.pausing_order, {
    place_order: async (state) => ({
      approved: interrupt({ question: 'approve this order?', total: state.order_total }),
    }),
  });

  const twoStep = implement(graphs.two_step_order, {
    step_one: async () => {
      effects.record({ kind: 'step_one_ran', threadId: nodeContext().threadId });
      return {};
    },
    place_order: async (state) => ({ approved: interrupt({ question: 'approve?', total: state.order_total }) }),
  });

  const rerunning = implement(graphs.rerunning_order, {
    place_order: async (state) => {
      effects.record({ kind: 'line_before_the_question_ran', threadId: nodeContext().threadId });
      return { approved: interrupt({ question: 'approve?', total: state.order_total }) };
    },
  });

  const placeOrder = implementTool(graphs.placeOrder, async ({ item, quantity }, { threadId }) => {
    const text = `ordered ${quantity} x ${item}`;
    effects.record({ kind: 'order_placed', threadId, text });
    return text;
  });

  return {
    nodes: [pausing, twoStep, rerunning],
    graphs: [graphs.gated_agent],
    tools: [placeOrder],
    models: { planner },
  };
}
