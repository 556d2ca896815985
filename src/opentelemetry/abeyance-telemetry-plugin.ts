import { trace, type Tracer } from '@opentelemetry/api';
import type { WorkerOptions, WorkerPlugin } from '@temporalio/worker';
import { withAttemptObserver, type AttemptObserver } from '../activities/attempt-observer';
import { traceAttempts } from './trace-attempts';

/** How spans are made. */
export interface TelemetryOptions {
  /**
   * Puts messages, system prompts, tool declarations, arguments, results and the words of errors on spans. Default
   * false: they leave the worker then, and are likely to hold what is personal.
   */
  readonly captureContent?: boolean;
  /** Default: that of the globally registered provider, under the name `abeyance`. */
  readonly tracer?: Tracer;
}

/**
 * Gives every attempt at a node, model call and tool call an OpenTelemetry span, by the GenAI semantic conventions.
 *
 * A span is made where the work is done and nowhere else, so a replay, an evicted workflow or a worker that takes over
 * makes none again; an attempt whose worker is killed leaves none. Spans are children of whatever span is active: beside
 * Temporal's `OpenTelemetryPlugin`, of its `RunActivity`. A pause is an outcome, not an error. Order among plugins does
 * not matter. Needs the package `@opentelemetry/api`.
 *
 * @example
 * const worker = await Worker.create({
 *   connection,
 *   taskQueue: 'orders',
 *   workflowsPath: require.resolve('./workflows'),
 *   plugins: [
 *     new OpenTelemetryPlugin({ resource, spanProcessor }),
 *     new AbeyancePlugin({ nodes: [orderNodes] }),
 *     new AbeyanceTelemetryPlugin(),
 *   ],
 * });
 */
export class AbeyanceTelemetryPlugin implements WorkerPlugin {
  readonly name = 'abeyance-telemetry';
  private readonly observer: AttemptObserver;

  constructor({ captureContent = false, tracer = trace.getTracer('abeyance') }: TelemetryOptions = {}) {
    this.observer = traceAttempts({ tracer, captureContent });
  }

  /** Called by `Worker.create`. */
  configureWorker(options: WorkerOptions): WorkerOptions {
    const { activity = [], ...others } = options.interceptors ?? {};
    const inbound = {
      execute: <I>(input: I, next: (input: I) => Promise<unknown>) =>
        withAttemptObserver(this.observer, () => next(input)),
    };
    return { ...options, interceptors: { ...others, activity: [...activity, () => ({ inbound })] } };
  }
}
