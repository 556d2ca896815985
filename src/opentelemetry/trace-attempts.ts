import {
  context,
  diag,
  INVALID_SPAN_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { Attempt, AttemptObserver } from '../activities/attempt-observer';
import type { NodeResult } from '../activities/call-record';
import { AbeyanceError, messageOf } from '../graph/errors';
import { ERROR_TYPE, GENERAL } from './semantic-conventions';
import { endAttributes, exchangeAttributes, outputContent } from './span-end';
import { inputContent, spanStart } from './span-start';

/** How attempts are traced. */
export interface Tracing {
  readonly tracer: Tracer;
  readonly captureContent: boolean;
}

/** Gives every attempt a span, under which its body runs. Telemetry that fails is missing; it fails no node. */
export function traceAttempts({ tracer, captureContent }: Tracing): AttemptObserver {
  return async (attempt, body) => {
    const span = begin(tracer, attempt);
    if (captureContent) describe(span, () => inputContent(attempt.work));
    try {
      const result = await context.with(trace.setSpan(context.active(), span), body);
      describe(span, () => endAttributes(result));
      if (captureContent) describe(span, () => outputContent(result));
      const told = toolErrorOf(result);
      if (told !== undefined) setFailed(span, captureContent ? told : undefined);
      return result;
    } catch (thrown) {
      describe(span, () => failureAttributes(attempt, thrown));
      setFailed(span, captureContent ? messageOf(thrown) : undefined);
      throw thrown;
    } finally {
      span.end();
    }
  };
}

function begin(tracer: Tracer, attempt: Attempt): Span {
  try {
    const { name, options } = spanStart(attempt);
    return tracer.startSpan(name, options);
  } catch (error) {
    diag.error('abeyance: an attempt goes without a span', error);
    return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  }
}

function describe(span: Span, attributes: () => Attributes): void {
  if (!span.isRecording()) return;
  try {
    span.setAttributes(attributes());
  } catch (error) {
    diag.error('abeyance: a span goes without some of its attributes', error);
  }
}

// Messages of errors repeat what a model was told and a tool was given: content.
function setFailed(span: Span, message: string | undefined): void {
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
}

function toolErrorOf({ record }: NodeResult): string | undefined {
  return record?.kind === 'tool' ? record.error : undefined;
}

function failureAttributes({ signal, failedExchange }: Attempt, thrown: unknown): Attributes {
  const exchange = failedExchange();
  return {
    ...(exchange && exchangeAttributes(exchange)),
    [GENERAL.errorType]: signal.aborted ? ERROR_TYPE.cancelled : errorTypeOf(thrown),
  };
}

function errorTypeOf(thrown: unknown): string {
  if (thrown instanceof AbeyanceError) return thrown.code;
  if (!(thrown instanceof Error)) return ERROR_TYPE.other;
  const { type } = thrown as { readonly type?: unknown };
  return thrown.name === 'ApplicationFailure' && typeof type === 'string' ? type : thrown.name;
}
