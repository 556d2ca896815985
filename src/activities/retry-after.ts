const LONGEST_WAIT = 24 * 60 * 60 * 1000;

/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date.
 *
 * Undefined where it asks for nothing that can be read, or for a time that has passed; a day at most.
 */
export function retryAfterOf(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const asked = milliseconds(headers['retry-after-ms']) ?? untilDate(headers['retry-after'], now);
  return asked !== undefined && asked > 0 ? Math.min(Math.ceil(asked), LONGEST_WAIT) : undefined;
}

function milliseconds(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

function untilDate(value: string | undefined, now: number): number | undefined {
  const seconds = milliseconds(value);
  if (seconds !== undefined) return seconds * 1000;
  const at = value === undefined ? NaN : Date.parse(value);
  return Number.isNaN(at) ? undefined : at - now;
}
