import { graphWorkflow } from 'abeyance/workflow';
import * as graphs from './graphs';

export * from '../../examples/interrupt-chapter/workflows';
export const order = graphWorkflow(graphs.order);
