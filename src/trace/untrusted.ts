/** An object of unknown content. */
export type Loose = { readonly [key: string]: unknown };

const NOTHING: Loose = {};

/** The value where it is an object, else an empty one. */
export function objectOf(value: unknown): Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : NOTHING;
}

/** The value where it is an array, else an empty one. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The value where it is a text that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The texts of an array. */
export function textsOf(value: unknown): string[] {
  return arrayOf(value).filter((one): one is string => typeof one === 'string');
}

/** A number, also one written as a text or as the 64-bit object of a protobuf library. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'object' && value !== null && 'low' in value && 'high' in value) {
    return Number(value.high) * 2 ** 32 + (Number(value.low) >>> 0);
  }
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The properties that have a value, so that none reads `undefined`. */
export function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
