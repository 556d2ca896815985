import { progressToStderr, reportProgress } from '../server/report-progress';

const PACE = { firstAfterMs: 2_000, thenEveryMs: 5_000 };

/** Does what may take long, and says so on standard error while it does. */
export function slowly<T>(label: string, hint: string, work: () => Promise<T>): Promise<T> {
  return reportProgress(label, hint, progressToStderr, work, PACE);
}
