import { NativeConnection, Worker } from '@temporalio/worker';
import { AbeyancePlugin } from 'abeyance/worker';
import { chapterDependencies } from '../../examples/interrupt-chapter/dependencies';
import { SideEffects } from '../../examples/interrupt-chapter/side-effects';
import { errandNodes, hangOnce } from './errand-nodes';
import { localNodes } from './local-nodes';
import { ordealNodes } from './ordeal-nodes';

/** Serves the chapter, the errands and the ordeal until it is killed: address, namespace, bundle, task queue, effects file. */
async function main(): Promise<void> {
  const [address, namespace = 'default', codePath = '', taskQueue = '', effectsFile = ''] = process.argv.slice(2);
  const chapter = chapterDependencies(new SideEffects(effectsFile));
  const local = localNodes({ attempts: new Map(), held: hangOnce(effectsFile) });
  const nodes = [...(chapter.nodes ?? []), ...errandNodes(effectsFile), ordealNodes(effectsFile), ...local];
  const connection = await NativeConnection.connect({ address });
  const serve = (queue: string): Promise<Worker> =>
    Worker.create({
      connection,
      namespace,
      taskQueue: queue,
      workflowBundle: { codePath },
      plugins: [new AbeyancePlugin({ ...chapter, nodes })],
      // A task that a killed worker's own queue holds goes to the next worker after this.
      stickyQueueScheduleToStartTimeout: '200ms',
    });
  // A process may well have more than one worker.
  const workers = await Promise.all([serve(taskQueue), serve(`${taskQueue}-idle`)]);
  process.send?.('serving');
  await Promise.all(workers.map((worker) => worker.run()));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
