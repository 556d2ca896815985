export { type RunningServer, startServer, type StartServerOptions } from './start-server';
export {
  abeyanceSearchAttributes,
  type SearchAttributes,
  type SearchAttributeType,
  tunedDynamicConfig,
} from './dev-server-arguments';
export { type BinaryOrigin, type CheckedBinary, type ServerOrigin } from './server-origin';
export { PortInUseError } from './port-in-use-error';
export { ServerDiedError } from './server-died-error';
export { ServerStartError } from './server-start-error';
export { type FailedWay, ServerUnavailableError } from './server-unavailable-error';
export { type OnProgress } from './report-progress';
