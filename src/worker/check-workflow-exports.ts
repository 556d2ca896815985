import assert from 'node:assert';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createContext, runInContext } from 'node:vm';
import type { WorkerOptions } from '@temporalio/worker';
import { GraphDefinitionError } from '../graph/errors';
import { graphOfWorkflow } from '../workflows/graph-of-workflow';

type Exports = Readonly<Record<string, unknown>>;

/**
 * Checks that each graph is exported under its own name by what the worker bundles.
 *
 * Temporal finds a workflow by its export. A graph under another name would leave its runs retrying their first task
 * for ever, so the worker refuses to start instead. Where the exports cannot be loaded outside the sandbox, nothing is
 * said: the bundler, which sees them next, explains it better.
 *
 * @throws {GraphDefinitionError} `GRAPH_NAME_MISMATCH`.
 */
export async function checkWorkflowExports(options: WorkerOptions, graphs: readonly string[]): Promise<void> {
  const exports = await workflowExports(options);
  if (!exports) return;
  for (const [name, workflow] of Object.entries(exports)) {
    const graph = graphOfWorkflow(workflow);
    if (graph === undefined || graph === name || exports[graph] === workflow) continue;
    const message = `Graph "${graph}" is exported as "${name}". Export it under its own name: export const ${graph} = graphWorkflow(…).`;
    throw new GraphDefinitionError('GRAPH_NAME_MISMATCH', message);
  }
  const missing = graphs.find((graph) => graphOfWorkflow(exports[graph]) !== graph);
  if (missing === undefined) return;
  const message = `The worker's workflows do not export graph "${missing}". Add to them: export const ${missing} = graphWorkflow(…).`;
  throw new GraphDefinitionError('GRAPH_NAME_MISMATCH', message);
}

async function workflowExports({ workflowsPath, workflowBundle }: WorkerOptions): Promise<Exports | undefined> {
  try {
    if (workflowBundle)
      return bundleExports(
        'code' in workflowBundle ? workflowBundle.code : await readFile(workflowBundle.codePath, 'utf8'),
      );
    return workflowsPath ? (createRequire(__filename)(workflowsPath) as Exports) : undefined;
  } catch {
    return undefined;
  }
}

function bundleExports(code: string): Exports {
  const sandbox = createContext({
    TextEncoder,
    TextDecoder,
    URL,
    AbortController,
    console,
    assert,
    __webpack_module_cache__: {},
  });
  runInContext(code, sandbox, { timeout: 10_000 });
  return (sandbox as { __TEMPORAL__: { importWorkflows(): Exports } }).__TEMPORAL__.importWorkflows();
}
