import type { GlobalOptions } from './cli-globals';
import type { Session } from './cli-session';

/** Connects as the options, the environment and the profile say, works, and disconnects. */
export async function withServer(globals: GlobalOptions, work: (session: Session) => Promise<void>): Promise<void> {
  // Loaded when a server is needed: help, usage and recorded histories do without.
  const { Session: Opened, fromServerError } = await import('./cli-session.js');
  const session = await Opened.open(globals);
  try {
    await work(session);
  } catch (error) {
    throw fromServerError(error);
  } finally {
    await session.close();
  }
}
