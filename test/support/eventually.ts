const INTERVAL = 20;

/** Looks again and again until the check no longer throws, and gives what it returned; throws its last error at the end. */
export async function eventually<T>(check: () => T | Promise<T>, timeout = 10_000): Promise<T> {
  const end = Date.now() + timeout;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}
