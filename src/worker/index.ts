/**
 * `abeyance/worker`: serves graphs from a Temporal worker.
 *
 * @module
 */
export { AbeyancePlugin } from './abeyance-plugin';
