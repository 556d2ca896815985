import { graphWorkflow } from 'abeyance/workflow';
import * as graphs from './graphs';
import * as streaming from './stream-graph';

export * from './floor-workflows';
export const gate = graphWorkflow(graphs.gate);
export const chain = graphWorkflow(graphs.chain);
export const local_chain = graphWorkflow(graphs.local_chain);
export const fan = graphWorkflow(graphs.fan);
export const clock = graphWorkflow(streaming.clock);
