import { createRequire } from 'node:module';
import type { BundleOptions } from '@temporalio/worker';

// They keep no state of a workflow's: what a run owns hangs on objects that its workflow function makes.
const OURS = ['abeyance', 'abeyance/workflow'];

/**
 * Loads zod and this package once for all workflows of a worker, and bundles zod once.
 *
 * Without this a bundle holds zod twice, as a module for `import` and as another for `require`, and all of it is run anew
 * for each workflow, which costs more than the rest of a short run.
 */
export function preloadModules(options: BundleOptions): BundleOptions {
  const zod = resolve('zod', options.workflowsPath);
  const ours = OURS.filter((name) => resolve(name, options.workflowsPath) !== undefined);
  const preloaded = { ...options, preloadModules: [...(options.preloadModules ?? []), ...(zod ? [zod] : []), ...ours] };
  if (zod === undefined) return preloaded;
  return {
    ...preloaded,
    webpackConfigHook: (config) => {
      const hooked = options.webpackConfigHook?.(config) ?? config;
      return { ...hooked, resolve: { ...hooked.resolve, alias: { ...hooked.resolve?.alias, zod$: zod } } };
    },
  };
}

// What the workflows cannot see is not there to be loaded early.
function resolve(name: string, workflowsPath: string): string | undefined {
  try {
    return createRequire(workflowsPath).resolve(name);
  } catch {
    return undefined;
  }
}
