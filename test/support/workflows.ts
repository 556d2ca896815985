import { graphWorkflow } from 'abeyance/workflow';
import * as graphs from './graphs';

export const order = graphWorkflow(graphs.order);
