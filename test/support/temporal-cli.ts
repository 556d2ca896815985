import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testServer } from './on-server';

const run = promisify(execFile);

/** Runs the bare `temporal` command against the tests' server; in a process of its own, so the worker here goes on. */
export async function temporal(...args: readonly string[]): Promise<string> {
  const { address, namespace, binary } = testServer();
  const { stdout } = await run(binary, [...args, '--address', address, '--namespace', namespace]);
  return stdout;
}

/** Sends a signal as a person at a terminal would; each payload as the JSON text that is typed. */
export async function signal(workflowId: string, name: string, ...payloads: readonly string[]): Promise<void> {
  const inputs = payloads.flatMap((payload) => ['--input', payload]);
  await temporal('workflow', 'signal', '--workflow-id', workflowId, '--name', name, ...inputs);
}
