import { writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, type RunningServer } from '../../src/server';
import { bundleWorkflows } from './bundle-workflows';

declare global {
  var abeyanceTestServer: RunningServer | undefined;
}

/** Starts one real server for all tests, and bundles the test workflows once. */
export default async function setup(): Promise<void> {
  const [server, code] = await Promise.all([
    startServer({ ui: false }),
    bundleWorkflows(require.resolve('./workflows')),
  ]);
  const bundle = join(mkdtempSync(join(tmpdir(), 'abeyance-test-')), 'workflows.js');
  writeFileSync(bundle, code);
  globalThis.abeyanceTestServer = server;
  process.env.ABEYANCE_TEST_ADDRESS = server.address;
  process.env.ABEYANCE_TEST_NAMESPACE = server.namespace;
  process.env.ABEYANCE_TEST_BUNDLE = bundle;
  process.env.ABEYANCE_TEST_BINARY = 'binary' in server.origin ? server.origin.binary : 'temporal';
}
