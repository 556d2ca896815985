import { NativeConnection, Worker } from '@temporalio/worker';
import { AbeyancePlugin } from 'abeyance/worker';
import { chapterDependencies, type ChapterOptions } from './dependencies';
import { SideEffects } from './side-effects';

/** The task queue the chapter's graphs are served on. */
export const TASK_QUEUE = 'interrupt-chapter';

/** A worker that serves the chapter: an ordinary Temporal worker and one plugin. */
export async function createChapterWorker(
  address: string,
  namespace: string,
  effectsFile: string,
  options: ChapterOptions = {},
): Promise<Worker> {
  const connection = await NativeConnection.connect({ address });
  return Worker.create({
    connection,
    namespace,
    taskQueue: TASK_QUEUE,
    workflowsPath: require.resolve('./workflows'),
    plugins: [new AbeyancePlugin(chapterDependencies(new SideEffects(effectsFile), options))],
  });
}
