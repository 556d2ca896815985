import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
  type WorkerPlugin,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { GraphDependencies } from 'abeyance/activity';
import { GraphClient } from 'abeyance/client';
import { AbeyancePlugin } from 'abeyance/worker';
import { bundleWorkflows } from './bundle-workflows';

// What the plugin preloads where a worker bundles by itself.
const PRELOADED = ['zod', 'abeyance', 'abeyance/workflow'];

// An open run may have pages of history over gRPC's default limit.
const CHANNEL = { 'grpc.max_receive_message_length': 64 * 1024 * 1024 };

/** A test file's own task queue on the real server, with a worker that serves it. */
export interface OnServer {
  readonly client: Client;
  readonly graphs: GraphClient;
  readonly taskQueue: string;
  /** A thread id that no other test uses. */
  threadId(name: string): string;
  /** Stops the worker, as a deploy does; `startWorker` brings another. */
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
}

/** Where the tests' server is, for tests that speak to it in other ways. */
export function testServer(): {
  readonly address: string;
  readonly namespace: string;
  readonly bundle: string;
  readonly binary: string;
} {
  const { ABEYANCE_TEST_ADDRESS, ABEYANCE_TEST_NAMESPACE, ABEYANCE_TEST_BUNDLE, ABEYANCE_TEST_BINARY } = process.env;
  if (!ABEYANCE_TEST_ADDRESS || !ABEYANCE_TEST_BUNDLE) throw new Error('the global setup has not run');
  return {
    address: ABEYANCE_TEST_ADDRESS,
    namespace: ABEYANCE_TEST_NAMESPACE ?? 'default',
    bundle: ABEYANCE_TEST_BUNDLE,
    binary: ABEYANCE_TEST_BINARY ?? 'temporal',
  };
}

/**
 * Gives a test file the real server: connects before its tests, and after them replays every history they made.
 *
 * `dependencies` is called once, when the worker is first made. `silent` keeps errors that a test provokes out of the log.
 * `workflows` is a workflows file of the test's own, where it needs more graphs than all tests share.
 * `plugins` go beside ours, and `worker` over its other options; replays are given both.
 */
export function onServer(
  dependencies: () => GraphDependencies,
  { silent = false, ...options }: Options = {},
): OnServer {
  const taskQueue = `test-${randomUUID()}`;
  beforeAll(() => quiet(silent));
  const serving = new Serving(taskQueue, dependencies, options);
  beforeAll(() => serving.open());
  // Long histories take their time to replay.
  afterAll(() => serving.close(), 300_000);
  return serving;
}

interface Options {
  readonly silent?: boolean;
  readonly workflows?: string;
  readonly dataConverter?: DataConverter;
  readonly plugins?: readonly WorkerPlugin[];
  /** Called whenever a worker is made. */
  readonly worker?: () => Partial<Pick<WorkerOptions, 'maxCachedWorkflows' | 'workflowBundle'>>;
}

class Serving implements OnServer {
  client!: Client;
  graphs!: GraphClient;
  private connection!: Connection;
  private native!: NativeConnection;
  private worker: { readonly worker: Worker; readonly done: Promise<void> } | undefined;
  private readonly handedOut = new Set<string>();
  private readonly plugin: () => AbeyancePlugin;
  private workflowBundle!: WorkflowBundleOption;

  constructor(
    readonly taskQueue: string,
    dependencies: () => GraphDependencies,
    private readonly options: Omit<Options, 'silent'>,
  ) {
    let plugin: AbeyancePlugin | undefined;
    this.plugin = () => (plugin ??= new AbeyancePlugin(dependencies()));
  }

  threadId(name: string): string {
    const id = `${name}-${randomUUID()}`;
    this.handedOut.add(id);
    return id;
  }

  async open(): Promise<void> {
    const { address, namespace, bundle } = testServer();
    this.workflowBundle = this.options.workflows
      ? { code: await bundleWorkflows(this.options.workflows, { preloadModules: PRELOADED }) }
      : { codePath: bundle };
    this.connection = await Connection.connect({ address, channelArgs: CHANNEL });
    this.native = await NativeConnection.connect({ address });
    this.client = new Client({ connection: this.connection, namespace, dataConverter: this.options.dataConverter });
    this.graphs = new GraphClient(this.client, { taskQueue: this.taskQueue });
    await this.startWorker();
  }

  async startWorker(): Promise<void> {
    const { namespace } = testServer();
    const worker = await Worker.create({
      connection: this.native,
      namespace,
      taskQueue: this.taskQueue,
      workflowBundle: this.workflowBundle,
      plugins: [this.plugin(), ...(this.options.plugins ?? [])],
      dataConverter: this.options.dataConverter,
      shutdownGraceTime: '1s',
      // Else what the stopped worker's own queue holds comes to the next one after ten seconds.
      stickyQueueScheduleToStartTimeout: '1s',
      ...this.options.worker?.(),
    });
    this.worker = { worker, done: worker.run() };
  }

  async stopWorker(): Promise<void> {
    this.worker?.worker.shutdown();
    await this.worker?.done;
    this.worker = undefined;
  }

  async close(): Promise<void> {
    await this.stopWorker();
    await this.replayAll();
    await this.connection.close();
    await this.native.close();
  }

  private async ranAnything(): Promise<boolean> {
    const queueOf = (id: string): Promise<string | undefined> =>
      this.client.workflow
        .getHandle(id)
        .describe()
        .then(({ taskQueue }) => taskQueue)
        .catch(() => undefined);
    return (await Promise.all([...this.handedOut].map(queueOf))).includes(this.taskQueue);
  }

  /** Of every run: those the server lists, and what they are chained to by continue-as-new, which it may list later. */
  private async *histories(): AsyncGenerator<{ workflowId: string; history: History }> {
    const due = new Map<string, string>();
    for await (const { runId, workflowId } of this.client.workflow.list({ query: `TaskQueue = "${this.taskQueue}"` }))
      due.set(runId, workflowId);
    // Grows while it is walked.
    for (const [runId, workflowId] of due) {
      const history = await this.client.workflow.getHandle(workflowId, runId).fetchHistory();
      // By its own id: the ids of child workflows are made of it.
      yield { workflowId, history };
      const before = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
      const after = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
      for (const linked of [before, after]) if (linked && !due.has(linked)) due.set(linked, workflowId);
    }
  }

  private async replayAll(): Promise<void> {
    const { dataConverter, plugins = [], worker } = this.options;
    const workflowBundle = worker?.().workflowBundle ?? this.workflowBundle;
    const replays = Worker.runReplayHistories(
      { workflowBundle, dataConverter, plugins: [...plugins] },
      this.histories(),
    );
    let replayed = 0;
    for await (const { workflowId, error } of replays) {
      if (error) throw new Error(`the history of ${workflowId} does not replay`, { cause: error });
      replayed += 1;
    }
    if (replayed === 0 && (await this.ranAnything())) throw new Error('no history was found to replay');
  }
}

let isQuiet = false;

function quiet(silent: boolean): void {
  if (isQuiet) return;
  isQuiet = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR', silent ? () => undefined : undefined),
    telemetryOptions: { logging: { filter: 'ERROR' } as never },
  });
}
