/**
 * Says that a Temporal dev server ended although nobody stopped it, with the end of what it printed. `code` is
 * `SERVER_DIED`. Workflows are gone with it, unless it had a `dbFilename`.
 *
 * @example
 * void server.died.then((error) => console.error(error.message));
 */
export class ServerDiedError extends Error {
  readonly code = 'SERVER_DIED';
  /** The last lines that the server wrote. */
  readonly output: string;

  constructor(binary: string, how: string, output: string) {
    super(
      `The Temporal dev server (${binary}) has ended by itself (${how}). Read what it printed last and start it again; ` +
        `without a database file its workflows are gone:\n${output === '' ? '  (nothing)' : output}`,
    );
    this.name = 'ServerDiedError';
    this.output = output;
  }
}
