import { graphWorkflow } from 'abeyance/workflow';
import { order } from './graphs';

export const other_name = graphWorkflow(order);
