import { graphWorkflow } from 'abeyance/workflow';
import * as graphs from './graphs';

export const pausing_order = graphWorkflow(graphs.pausing_order);
export const two_step_order = graphWorkflow(graphs.two_step_order);
export const rerunning_order = graphWorkflow(graphs.rerunning_order);
export const gated_agent = graphWorkflow(graphs.gated_agent);
