import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { Attempt } from '../../src/activities/attempt-observer';
import type { NodeResult } from '../../src/activities/call-record';
import { providerName } from '../../src/opentelemetry/semantic-conventions';
import { traceAttempts } from '../../src/opentelemetry/trace-attempts';

const ATTEMPT: Attempt = {
  info: { threadId: 't', graph: 'g', node: 'n', task: '1.n', step: 1, visit: 1, attempt: 1, idempotencyKey: 'k' },
  answers: [],
  work: { kind: 'body' },
  signal: new AbortController().signal,
  failedExchange: () => undefined,
};
const DONE: NodeResult = { kind: 'completed', updates: [], goto: [] };

test.each([
  ['api.openai.com', 'openai'],
  ['eu.api.openai.com', 'openai'],
  ['orders.openai.azure.com', 'azure.ai.openai'],
  ['api.anthropic.com', 'anthropic'],
  ['api.deepseek.com', 'deepseek'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['europe-west1-aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.x.ai', 'x_ai'],
  ['localhost:11434', 'localhost:11434'],
  ['notopenai.com', 'notopenai.com'],
  ['mock', 'mock'],
])('the provider at %s is called %s', (provider, name) => {
  expect(providerName(provider)).toBe(name);
});

test('telemetry that fails does not fail the node, and is reported', async () => {
  const error = jest.fn();
  const ignored = (): void => undefined;
  diag.setLogger({ error, warn: ignored, info: ignored, debug: ignored, verbose: ignored }, DiagLogLevel.ERROR);
  const broken = (): never => {
    throw new Error('no span today');
  };
  const observe = traceAttempts({ tracer: { startSpan: broken, startActiveSpan: broken }, captureContent: true });
  await expect(observe(ATTEMPT, async () => DONE)).resolves.toBe(DONE);
  await expect(observe(ATTEMPT, () => Promise.reject(new RangeError('too far')))).rejects.toThrow('too far');
  expect(error).toHaveBeenCalledTimes(2);
  diag.disable();
});
