/** The workflow's time, ISO 8601: the same whenever its history is replayed. */
export function now(): string {
  return new Date().toISOString();
}

/** True where the moment has come. */
export function isPast(moment: string | undefined): boolean {
  return moment !== undefined && moment <= now();
}
