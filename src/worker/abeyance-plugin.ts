import {
  Runtime,
  type BundleOptions,
  type BundlerPlugin,
  type NativeConnection,
  type Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker';
import { checkDependencies, type CheckedDependencies, type GraphDependencies } from '../activities/check-dependencies';
import { createActivities } from '../activities/create-activities';
import { GraphDefinitionError } from '../graph/errors';
import { missingSearchAttributes } from './check-search-attributes';
import { checkWorkflowExports } from './check-workflow-exports';
import { surviveLateCalls } from './late-calls';
import { preloadModules } from './preload-modules';

// By default the SDK holds heartbeats back for up to 24 s, and a second `once` of a node would go unrecorded that long.
const RECORDED_WITHIN = '50ms';

/**
 * Serves graphs from an ordinary Temporal worker: adds their nodes, models and tools as activities.
 *
 * Your own workflows and activities stay as they are. What can be known beforehand is checked at once, and at
 * `Worker.create`: every node, model and tool has an implementation, every graph that is a workflow of its own is
 * exported under its name, no activity is there twice. A namespace without our search attributes is only warned about.
 *
 * @throws {GraphDefinitionError} `MISSING_IMPLEMENTATION`, `DUPLICATE_REGISTRATION`; from `Worker.create` also
 *   `GRAPH_NAME_MISMATCH`.
 * @example
 * const worker = await Worker.create({
 *   connection,
 *   taskQueue: 'orders',
 *   workflowsPath: require.resolve('./workflows'),
 *   plugins: [new AbeyancePlugin({ nodes: [orderNodes] })],
 * });
 */
export class AbeyancePlugin implements WorkerPlugin, BundlerPlugin {
  readonly name = 'abeyance';
  private readonly dependencies: CheckedDependencies;

  constructor(dependencies: GraphDependencies) {
    this.dependencies = checkDependencies(dependencies);
  }

  /** Called when workflows are bundled: by `Worker.create`, or by `bundleWorkflowCode({ plugins })`. */
  configureBundler(options: BundleOptions): BundleOptions {
    return preloadModules(options);
  }

  /** Called by `Worker.create`. */
  async configureWorker(options: WorkerOptions): Promise<WorkerOptions> {
    const ours = createActivities(this.dependencies);
    const theirs = options.activities ?? {};
    const twice = Object.keys(ours).find((name) => name in theirs);
    if (twice !== undefined) {
      throw new GraphDefinitionError(
        'DUPLICATE_REGISTRATION',
        `The worker has an activity "${twice}" of its own. Rename it: the graph's node needs that name.`,
      );
    }
    await checkWorkflowExports(options, startable(this.dependencies));
    if (options.connection) await this.warnOfMissingAttributes(options.connection, options.namespace ?? 'default');
    return { maxHeartbeatThrottleInterval: RECORDED_WITHIN, ...options, activities: { ...theirs, ...ours } };
  }

  /** Called by `worker.run()`. */
  async runWorker(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void> {
    const restore = surviveLateCalls((message) => void Runtime.instance().logger.warn(message));
    try {
      await next(worker);
    } finally {
      restore();
    }
  }

  private async warnOfMissingAttributes(connection: NativeConnection, namespace: string): Promise<void> {
    const command = await missingSearchAttributes(connection, namespace);
    if (command === undefined) return;
    Runtime.instance().logger.warn(
      `Namespace "${namespace}" lacks search attributes, so waiting threads cannot be listed. Add them: ${command}`,
    );
  }
}

// A graph that runs within another need not be a workflow of its own, unless it runs there as a child workflow.
function startable({ graphs }: CheckedDependencies): readonly string[] {
  const nodes = [...graphs.values()].flatMap(({ shape }) => [...shape.nodes.values()]);
  const subgraphs = nodes.filter((node) => node.kind === 'graph');
  const within = new Set(subgraphs.map(({ graph }) => graph.name));
  const children = new Set(subgraphs.flatMap(({ run, graph }) => (run === 'child' ? [graph.name] : [])));
  return [...graphs.keys()].filter((name) => children.has(name) || !within.has(name));
}
