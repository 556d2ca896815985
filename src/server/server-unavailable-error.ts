/** One way to get a server that was tried, and why it gave none. */
export interface FailedWay {
  readonly way: string;
  readonly reason: string;
}

/**
 * Says that no Temporal server could be found, downloaded or built, lists every way tried with its reason, and how to
 * provide one. `code` is `NO_SERVER`; `ways` holds the same list as data.
 *
 * @example
 * try { await startServer(); } catch (e) { if (e instanceof ServerUnavailableError) console.error(e.message); }
 */
export class ServerUnavailableError extends Error {
  readonly code = 'NO_SERVER';
  readonly ways: readonly FailedWay[];

  constructor(ways: readonly FailedWay[], binaryToProvide: string) {
    super(describe(ways, binaryToProvide));
    this.name = 'ServerUnavailableError';
    this.ways = ways;
  }
}

function describe(ways: readonly FailedWay[], binaryToProvide: string): string {
  return [
    'No Temporal server could be found or obtained. Tried, in this order:',
    ...ways.map(({ way, reason }, index) => `  ${index + 1}. ${way}: ${reason}`),
    'Do one of these:',
    '  - start a server (for example `docker compose up`) and set TEMPORAL_ADDRESS=localhost:7233',
    '  - install the Temporal CLI (https://docs.temporal.io/cli) so that `temporal` is on your PATH',
    `  - put a Temporal CLI binary at ${binaryToProvide}`,
    '  - install @temporalio/testing and allow it to download from temporal.download',
    '  - install Go 1.24 or newer, so that the CLI can be built once and cached',
  ].join('\n');
}
