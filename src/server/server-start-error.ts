/**
 * Says that a Temporal dev server was launched but never served, with the end of what it printed. `code` is
 * `SERVER_START_FAILED`. The process is gone when this is thrown.
 *
 * @example
 * try { await startServer({ dbFilename }); } catch (e) { if (e instanceof ServerStartError) console.error(e.output); }
 */
export class ServerStartError extends Error {
  readonly code = 'SERVER_START_FAILED';
  /** The last lines that the server wrote before it was given up. */
  readonly output: string;

  constructor(binary: string, whatHappened: string, output: string) {
    super(
      `The Temporal dev server (${binary}) ${whatHappened}. Read what it printed last, or set TEMPORAL_ADDRESS to a ` +
        `server that runs:\n${output === '' ? '  (nothing)' : output}`,
    );
    this.name = 'ServerStartError';
    this.output = output;
  }
}
