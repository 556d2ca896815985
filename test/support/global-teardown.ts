import { rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Stops the server of all tests. */
export default async function teardown(): Promise<void> {
  await globalThis.abeyanceTestServer?.stop();
  if (process.env.ABEYANCE_TEST_BUNDLE)
    rmSync(dirname(process.env.ABEYANCE_TEST_BUNDLE), { recursive: true, force: true });
}
