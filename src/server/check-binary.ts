import { runCommand } from './run-command';
import type { CheckedBinary } from './server-origin';

/** The oldest server line that the library was run against. */
const oldestServer = { major: 1, minor: 28 } as const;
const versionTimeoutMs = 20_000;

export type BinaryCheck =
  | ({ readonly kind: 'runs'; readonly cliVersion: string } & CheckedBinary)
  | { readonly kind: 'unusable'; readonly reason: string };

/**
 * Runs `<binary> --version` and says whether it is a Temporal CLI that runs here and whose server is new enough. Never
 * rejects; ends after 20 s at the latest.
 *
 * @example
 * const check = await checkBinary('/usr/bin/temporal', process.env);
 */
export async function checkBinary(binary: string, env: NodeJS.ProcessEnv): Promise<BinaryCheck> {
  const result = await runCommand(binary, ['--version'], { env, timeoutMs: versionTimeoutMs });
  if (result.kind === 'failed') return { kind: 'unusable', reason: `${binary} --version failed, ${result.reason}` };
  const version = result.stdout.trim();
  const cli = /^temporal version (\S+)/.exec(version);
  if (cli === null)
    return { kind: 'unusable', reason: `${binary} is not the Temporal CLI, --version says '${version}'` };
  const server = /server (\d+)\.(\d+)/i.exec(version);
  if (server !== null && isOlder(Number(server[1]), Number(server[2]))) {
    const wanted = `${oldestServer.major}.${oldestServer.minor}`;
    return {
      kind: 'unusable',
      reason: `${binary} holds Server ${server[1]}.${server[2]}, ${wanted} or newer is needed`,
    };
  }
  return { kind: 'runs', cliVersion: cli[1]!, binary, version };
}

function isOlder(major: number, minor: number): boolean {
  return major < oldestServer.major || (major === oldestServer.major && minor < oldestServer.minor);
}
