import { launchDevServer } from './dev-server-process';
import { abeyanceSearchAttributes, devServerArguments, type SearchAttributes } from './dev-server-arguments';
import { findServer } from './find-server';
import { freePort, isPortFree } from './free-port';
import { PortInUseError } from './port-in-use-error';
import { type OnProgress, progressToStderr } from './report-progress';
import type { ServerDiedError } from './server-died-error';
import type { BinaryOrigin, ServerOrigin } from './server-origin';
import { ServerStartError } from './server-start-error';

const ip = '127.0.0.1';
const namespace = 'default';
const startTimeoutMs = 30_000;
const startAttempts = 3;

export interface StartServerOptions {
  /** Serve the Temporal web UI too. Default: true. */
  readonly ui?: boolean;
  /** File that keeps workflows across restarts. Default: none, everything is gone at `stop()`. */
  readonly dbFilename?: string;
  /** gRPC port. Default: a free one. */
  readonly port?: number;
  /** Port of the web UI. Default: a free one. */
  readonly uiPort?: number;
  /** Search attributes to register besides the library's own. Default: none. */
  readonly searchAttributes?: SearchAttributes;
  /** Receives lines about downloads and builds that take over a second. Default: lines on standard error. */
  readonly onProgress?: OnProgress;
  /** Environment to read and to hand to the server. Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface RunningServer {
  /** gRPC address, `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** Address of the web UI; absent with `ui: false` and for a server that was already there. */
  readonly uiUrl?: string;
  readonly origin: ServerOrigin;
  /**
   * Settles with an error when the server's process ends although nobody called `stop()`; else never, and never for a
   * server that was already there. It does not reject: who does not look is not disturbed.
   *
   * @example
   * void server.died.then((error) => console.error(error.message));
   */
  readonly died: Promise<ServerDiedError>;
  /**
   * Ends the server and settles when its process is gone (killed after 5 s if it does not obey). Does nothing for a
   * server that was already there, and nothing the second time.
   *
   * @example
   * await server.stop();
   */
  stop(): Promise<void>;
}

/**
 * Finds or obtains a real Temporal server and starts it, tuned for short latencies and with the library's search
 * attributes registered.
 *
 * With `TEMPORAL_ADDRESS` set that server is used as it is (namespace `TEMPORAL_NAMESPACE` or `default`; no profile
 * file is read, no connection tried). Else a dev server is started from `temporal` on the PATH, from the cache, from
 * the SDK's download or from `go install`; the latter two can take minutes once and are cached (`ABEYANCE_CACHE_DIR`,
 * else the user's cache folder). Settles when the server answers for its namespace, at the latest 30 s after it was
 * launched. The server keeps the program running until `stop()`, and ends with it, however it ends.
 *
 * @throws ServerUnavailableError (`NO_SERVER`), PortInUseError (`PORT_IN_USE`), ServerStartError
 * (`SERVER_START_FAILED`).
 * @example
 * const server = await startServer();
 * const connection = await Connection.connect({ address: server.address });
 * // ...
 * await server.stop();
 */
export async function startServer(options: StartServerOptions = {}): Promise<RunningServer> {
  const { env = process.env, onProgress = progressToStderr } = options;
  const found = await findServer({ env, onProgress });
  switch (found.kind) {
    case 'existing':
      return {
        address: found.address,
        namespace: found.namespace,
        origin: { kind: 'existing' },
        died: new Promise(() => undefined),
        stop: () => Promise.resolve(),
      };
    case 'binary':
      return startBinary(found.origin, options, env);
  }
}

async function startBinary(
  origin: BinaryOrigin,
  options: StartServerOptions,
  env: NodeJS.ProcessEnv,
): Promise<RunningServer> {
  const { ui = true, port: wantedPort, uiPort: wantedUiPort, dbFilename } = options;
  if (wantedPort !== undefined) await requireFree('port', wantedPort);
  if (ui && wantedUiPort !== undefined) await requireFree('uiPort', wantedUiPort);
  const searchAttributes = { ...options.searchAttributes, ...abeyanceSearchAttributes };
  for (let attempt = 1; ; attempt++) {
    const port = wantedPort ?? (await freePort(ip));
    const uiPort = ui ? (wantedUiPort ?? (await freePort(ip))) : undefined;
    const address = `${ip}:${port}`;
    const launch = await launchDevServer({
      binary: origin.binary,
      args: devServerArguments({ ip, port, uiPort, dbFilename, searchAttributes }),
      env: withoutTemporalSettings(env),
      address,
      namespace,
      timeoutMs: startTimeoutMs,
    });
    if (launch.kind === 'serving') {
      const uiUrl = uiPort === undefined ? {} : { uiUrl: `http://${ip}:${uiPort}` };
      return { address, namespace, ...uiUrl, origin, died: launch.died, stop: launch.stop };
    }
    // A server that ends at once most likely lost a port to another process: new ports, another try.
    if (launch.kind === 'silent' || attempt === startAttempts) {
      throw new ServerStartError(origin.binary, launch.whatHappened, launch.output);
    }
  }
}

async function requireFree(option: 'port' | 'uiPort', port: number): Promise<void> {
  if (!(await isPortFree(ip, port))) throw new PortInUseError(option, port);
}

/** The CLI reads its flags' defaults from TEMPORAL_* too: a profile must not bend a server of ours. */
function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
