/** A value that JSON carries without loss. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** An object of JSON values. */
export type JsonObject = { readonly [key: string]: Json };

/** Where a value stopped being JSON, and why. */
export class NotJsonError extends TypeError {
  constructor(
    readonly path: string,
    readonly found: string,
  ) {
    super(`${path || 'the value'} is ${found}, which JSON cannot carry faithfully`);
    this.name = 'NotJsonError';
  }
}

const MAX_DEPTH = 200;

/**
 * Copies a value as JSON, or throws where JSON would change it.
 *
 * Properties that are `undefined` are left out, as JSON leaves them out; everything else that would
 * come back different (Date, Map, BigInt, NaN, class instances, functions, cycles) is refused with its path.
 *
 * @throws {NotJsonError} naming the path and what was found there.
 */
export function toJson(value: unknown, path = '', depth = 0): Json {
  if (depth > MAX_DEPTH) throw new NotJsonError(path, `nested deeper than ${MAX_DEPTH} levels, or cyclic`);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotJsonError(path, String(value));
      // JSON has no minus zero: what a worker sends would come back as zero.
      return value === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      return Array.isArray(value) ? copyArray(value, path, depth) : copyObject(value, path, depth);
    default:
      throw new NotJsonError(path, value === undefined ? 'undefined' : `a ${typeof value}`);
  }
}

function copyArray(items: readonly unknown[], path: string, depth: number): Json {
  return Array.from(items, (item, index) => toJson(item, `${path}[${index}]`, depth + 1));
}

function copyObject(value: object, path: string, depth: number): Json {
  const proto: unknown = Object.getPrototypeOf(value);
  // Objects made in another realm (a sandbox, a test runner) have an Object.prototype that is not ours.
  const plain = proto === null || Object.getPrototypeOf(proto) === null;
  if (!plain) throw new NotJsonError(path, `a ${value.constructor?.name ?? 'class instance'}`);
  const copy: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const json = toJson(item, path ? `${path}.${key}` : key, depth + 1);
    if (key === '__proto__') Object.defineProperty(copy, key, { value: json, enumerable: true });
    else copy[key] = json;
  }
  return copy;
}

/** True for a JSON object, as opposed to an array, a scalar or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same text for the same value, whatever order its keys were written in. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${entries.join(',')}}`;
}
