import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { Resource } from '@opentelemetry/resources';

/** OpenTelemetry for a test file, registered globally, with every finished span kept. */
export class RecordedSpans {
  readonly resource = new Resource({ 'service.name': 'test' });
  readonly spanProcessor: SpanProcessor;
  private readonly exporter = new InMemorySpanExporter();

  constructor() {
    this.spanProcessor = new SimpleSpanProcessor(this.exporter);
    const provider = new BasicTracerProvider({ resource: this.resource, spanProcessors: [this.spanProcessor] });
    provider.register({ contextManager: new AsyncLocalStorageContextManager().enable() });
  }

  all(): readonly ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** Our spans of a thread, in the order they were begun. */
  of(threadId: string): readonly ReadableSpan[] {
    return this.all()
      .filter(({ attributes }) => attributes['abeyance.thread.id'] === threadId)
      .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
  }

  /** Everything that spans of a thread say, as one text. */
  textOf(threadId: string): string {
    return JSON.stringify(
      this.of(threadId).map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
    );
  }
}
