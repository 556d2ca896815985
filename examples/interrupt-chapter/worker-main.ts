import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { createChapterWorker } from './worker';

/** Serves the chapter until it is told to stop: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `CHAPTER_EFFECTS_FILE`. */
async function main(): Promise<void> {
  const { TEMPORAL_ADDRESS = '127.0.0.1:7233', TEMPORAL_NAMESPACE = 'default' } = process.env;
  const effects = process.env.CHAPTER_EFFECTS_FILE ?? join(tmpdir(), 'interrupt-chapter-effects.jsonl');
  const worker = await createChapterWorker(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, effects);
  await worker.run();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
