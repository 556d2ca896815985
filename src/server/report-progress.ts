/** Receives one line about work that takes a while. */
export type OnProgress = (message: string) => void;

export interface ProgressPace {
  readonly firstAfterMs: number;
  readonly thenEveryMs: number;
}

const defaultPace: ProgressPace = { firstAfterMs: 1_000, thenEveryMs: 5_000 };

/** Writes the line to standard error. */
export const progressToStderr: OnProgress = (message) => void process.stderr.write(`abeyance: ${message}\n`);

/**
 * Runs `work` and reports on it: nothing if it ends within a second, else `label` and `hint`, then the elapsed seconds
 * every five seconds, then that it ended. Settles as `work` does.
 *
 * @example
 * await reportProgress('building', 'cached afterwards', console.error, () => build());
 */
export async function reportProgress<T>(
  label: string,
  hint: string,
  onProgress: OnProgress,
  work: () => Promise<T>,
  pace: ProgressPace = defaultPace,
): Promise<T> {
  const started = Date.now();
  const elapsed = () => `${Math.round((Date.now() - started) / 1_000)} s`;
  let announced = false;
  let timer: NodeJS.Timeout;
  const tick = () => {
    onProgress(announced ? `${label}: ${elapsed()} so far` : `${label} (${hint})`);
    announced = true;
    timer = setTimeout(tick, pace.thenEveryMs).unref();
  };
  timer = setTimeout(tick, pace.firstAfterMs).unref();
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (announced) onProgress(`${label}: ended after ${elapsed()}`);
  }
}
