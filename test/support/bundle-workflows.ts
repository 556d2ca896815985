import { bundleWorkflowCode, DefaultLogger, type BundlerPlugin, type WorkerOptions } from '@temporalio/worker';

type WebpackConfigHook = NonNullable<NonNullable<WorkerOptions['bundlerOptions']>['webpackConfigHook']>;

/** Lets a bundle import the package by name without a build of it. */
export const fromSource: WebpackConfigHook = (config) => ({
  ...config,
  resolve: { ...config.resolve, conditionNames: ['abeyance-source', 'webpack', 'import', 'require', 'default'] },
});

/** The bundle of a workflows file, as code; modules to be loaded once for all its workflows are named. */
export async function bundleWorkflows(
  workflowsPath: string,
  options: { readonly plugins?: BundlerPlugin[]; readonly preloadModules?: string[] } = {},
): Promise<string> {
  const logger = new DefaultLogger('WARN');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger, webpackConfigHook: fromSource, ...options });
  return code;
}
