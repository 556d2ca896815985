/** Times and sizes as people read them. */

export function duration(ms: number): string {
  if (ms < 1) return ms === 0 ? '0 ms' : `${ms.toFixed(2)} ms`;
  if (ms < 100) return `${trimmed(ms, 1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1000, ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

export function count(value: number): string {
  return value.toLocaleString('en-US').replaceAll(',', '\u2009');
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytesShown(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${trimmed(bytes / 1024, 1)} kB` : `${trimmed(bytes / 1_048_576, 1)} MB`;
}

/** A time of a history, in UTC: the same wherever the file is opened. */
export function moment(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const text = date.toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 23)} UTC`;
}

export function short(text: string, most = 90): string {
  const line = text
    .slice(0, most * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > most || text.length > most * 4 ? `${line.slice(0, most - 1)}…` : line;
}

/** JSON on one line, cut before it is long: the value may be megabytes. */
export function inline(value: unknown, most = 90): string {
  return short(JSON.stringify(clipped(value, most, 0)) ?? '', most);
}

function clipped(value: unknown, most: number, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, most);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 3) return '…';
  if (Array.isArray(value)) return value.slice(0, 12).map((one) => clipped(one, most, depth + 1));
  const entries = Object.entries(value).slice(0, 12);
  return Object.fromEntries(entries.map(([key, one]) => [key.slice(0, most), clipped(one, most, depth + 1)]));
}
