import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { replayHistories, type RecordedHistory } from 'abeyance/testing';
import { bundleWorkflows } from '../support/bundle-workflows';

const DIRECTORY = join(__dirname, '..', 'histories');

function recorded(): readonly RecordedHistory[] {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.json'));
  return files.map((file) => ({ workflowId: file, json: readFileSync(join(DIRECTORY, file), 'utf8') }));
}

beforeAll(() => {
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'OFF' } as never } });
});

it('keeps a history of every thread of the chapter', () => {
  const names = recorded().map(({ workflowId }) => workflowId.split('.')[0]);
  expect([...new Set(names)].sort()).toEqual([
    'gated-agent-approved',
    'gated-agent-denied',
    'pausing-order',
    'rerunning-order',
    'two-step-order',
  ]);
});

it('replays every recorded history against the workflows of today', async () => {
  const code = await bundleWorkflows(require.resolve('../../examples/interrupt-chapter/workflows'));
  const results = await replayHistories(recorded(), { workflowBundle: { code } });
  expect(results.filter(({ error }) => error)).toEqual([]);
  expect(results).toHaveLength(recorded().length);
});

it('catches a graph that was changed under a run that waits', async () => {
  const code = await bundleWorkflows(require.resolve('./changed-workflows'));
  const [history] = recorded().filter(({ workflowId }) => workflowId.startsWith('two-step-order'));
  const [result] = await replayHistories([history as RecordedHistory], { workflowBundle: { code } });
  expect(result?.error?.name).toBe('DeterminismViolationError');
});
