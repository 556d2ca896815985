import { graphWorkflow } from 'abeyance/workflow';
import * as graphs from './graph.js';

export const order = graphWorkflow(graphs.order);
