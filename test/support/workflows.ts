import { graphWorkflow } from 'abeyance/workflow';
import * as asking from './asking-graphs';
import * as children from './child-graphs';
import * as failures from './failing-graphs';
import * as gated from './gated-graphs';
import * as graphs from './graphs';
import { handled as handledGraph } from './handled-graph';
import * as sizes from './large-graphs';
import * as local from './local-graphs';
import * as long from './long-graphs';
import { ordeal as ordealGraph } from './ordeal-graph';
import * as modelling from './model-graphs';
import * as streaming from './stream-graphs';

export * from '../../examples/interrupt-chapter/workflows';
export const order = graphWorkflow(graphs.order);

export const ask = graphWorkflow(asking.ask);
export const ask_briefly = graphWorkflow(asking.ask_briefly);
export const ask_twice = graphWorkflow(asking.ask_twice);
export const gate = graphWorkflow(asking.gate);
export const two_gates = graphWorkflow(asking.two_gates);
export const slow_sibling = graphWorkflow(asking.slow_sibling);
export const diary = graphWorkflow(asking.diary);
export const errand = graphWorkflow(asking.errand);
export const careless = graphWorkflow(asking.careless);
export const ordeal = graphWorkflow(ordealGraph);

export const failing = graphWorkflow(failures.failing);
export const two_writers = graphWorkflow(failures.two_writers);
export const handled = graphWorkflow(handledGraph);
export const picky = graphWorkflow(failures.picky);

export const chat = graphWorkflow(modelling.chat);
export const advised = graphWorkflow(modelling.advised);
export const errands = graphWorkflow(modelling.errands);
export const strict_errands = graphWorkflow(modelling.strict_errands);

export const stages = graphWorkflow(streaming.stages);
export const rolling_stages = graphWorkflow(streaming.rolling_stages, { continueAsNewAfter: { events: 20 } });

export const large = graphWorkflow(sizes.large);
export const wide = graphWorkflow(sizes.wide);
export const overweight = graphWorkflow(sizes.overweight);

export const rolling_loop = graphWorkflow(long.rolling_loop, { continueAsNewAfter: { events: 30 } });
export const rolling_gates = graphWorkflow(long.rolling_gates, { continueAsNewAfter: { events: 25 } });
export const rolling_crowd = graphWorkflow(long.rolling_crowd, { continueAsNewAfter: { events: 20 } });
export const rolling_overlap = graphWorkflow(long.rolling_overlap, { continueAsNewAfter: { events: 30 } });
export const marathon = graphWorkflow(long.marathon, { continueAsNewAfter: { events: 500 } });
export const hoard = graphWorkflow(long.hoard);
export const hoard_read = graphWorkflow(long.hoard_read);
export const overgrown = graphWorkflow(long.overgrown);
export const hoard_stored = graphWorkflow(long.hoard_stored, {
  continueAsNewAfter: { events: 400 },
  externalStorage: true,
});
export const stored_large = graphWorkflow(long.stored_large, { externalStorage: true });
export const clerk = graphWorkflow(gated.clerk);
export const hasty_clerk = graphWorkflow(gated.hasty_clerk);
export const impatient = graphWorkflow(gated.impatient);
export const two_deadlines = graphWorkflow(gated.two_deadlines);
export const strict_deadline = graphWorkflow(gated.strict_deadline);

export const inquiry = graphWorkflow(children.inquiry);
export const case_file = graphWorkflow(children.case_file);
export const archive = graphWorkflow(children.archive);
export const hearing = graphWorkflow(children.hearing);
export const counter = graphWorkflow(children.counter);
export const shop = graphWorkflow(children.shop);
export const speaker = graphWorkflow(children.speaker);
export const debate = graphWorkflow(children.debate);
export const shaky = graphWorkflow(children.shaky);
export const reckless = graphWorkflow(children.reckless);
export const cautious = graphWorkflow(children.cautious);
export const lost = graphWorkflow(children.lost);
export const guided = graphWorkflow(children.guided);
export const doomed = graphWorkflow(children.doomed);
export const guarded = graphWorkflow(children.guarded);
export const climb = graphWorkflow(children.climb, { continueAsNewAfter: { events: 25 } });
export const expedition = graphWorkflow(children.expedition);
export const walk = graphWorkflow(children.walk);
export const vigil = graphWorkflow(children.vigil, { continueAsNewAfter: { events: 20 } });
export const local_chain = graphWorkflow(local.local_chain);
export const local_ask = graphWorkflow(local.local_ask);
export const local_flaky = graphWorkflow(local.local_flaky);
export const local_mended = graphWorkflow(local.local_mended);
export const local_patient = graphWorkflow(local.local_patient);
export const local_hang = graphWorkflow(local.local_hang);
export const local_slow = graphWorkflow(local.local_slow);
export const local_crowd = graphWorkflow(local.local_crowd);
export const local_beside = graphWorkflow(local.local_beside);
export const local_heavy = graphWorkflow(local.local_heavy);
export const local_left = graphWorkflow(local.local_left);
export const local_right = graphWorkflow(local.local_right);
export const local_abreast = graphWorkflow(local.local_abreast);
