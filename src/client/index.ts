/**
 * `abeyance/client`: starts, answers and reads runs of graphs through a Temporal client.
 *
 * @module
 */
export { GraphClient, type GraphClientOptions } from './graph-client';
