/**
 * Says that a port asked for by `port` or `uiPort` is taken; nothing was started. `code` is `PORT_IN_USE`.
 *
 * @example
 * try { await startServer({ port: 7233 }); } catch (e) { if (e instanceof PortInUseError) await startServer(); }
 */
export class PortInUseError extends Error {
  readonly code = 'PORT_IN_USE';
  readonly port: number;

  constructor(option: 'port' | 'uiPort', port: number) {
    super(
      `Port ${port} (option ${option}) is taken by another process. Choose another port, leave ${option} out to get a ` +
        'free one, or set TEMPORAL_ADDRESS if the process there is the server you want.',
    );
    this.name = 'PortInUseError';
    this.port = port;
  }
}
