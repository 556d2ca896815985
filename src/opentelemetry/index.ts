/**
 * `abeyance/opentelemetry`: spans of nodes, model calls and tool calls. Needs `@opentelemetry/api`.
 *
 * @module
 */
export { AbeyanceTelemetryPlugin, type TelemetryOptions } from './abeyance-telemetry-plugin';
