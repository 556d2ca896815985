import { createRequire } from 'node:module';
import type { BundleOptions } from '@temporalio/worker';

/**
 * Bundles zod once, and loads it once for all workflows of a worker.
 *
 * Without this a bundle holds zod twice, as a module for `import` and as another for `require`, and both are run anew for
 * each workflow, which costs more than the rest of a short run. zod keeps no state of a workflow's.
 */
export function shareZod(options: BundleOptions): BundleOptions {
  const zod = resolveZod(options.workflowsPath);
  if (zod === undefined) return options;
  return {
    ...options,
    preloadModules: [...(options.preloadModules ?? []), zod],
    webpackConfigHook: (config) => {
      const hooked = options.webpackConfigHook?.(config) ?? config;
      return { ...hooked, resolve: { ...hooked.resolve, alias: { ...hooked.resolve?.alias, zod$: zod } } };
    },
  };
}

function resolveZod(workflowsPath: string): string | undefined {
  try {
    return createRequire(workflowsPath).resolve('zod');
  } catch {
    return undefined;
  }
}
