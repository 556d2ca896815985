import { NOT_RECORDED } from '../graph/exchange';
import type { Json } from '../graph/json';

const SECRET_HEADER =
  /auth(?!ority)|cookie|api-?key|(^|[-_])key$|secret|password|credential(?!s)|signature|session|jwt|(^|[-_])token$/i;
// They say what a caller may send, and hold nothing of it. Nor do counters of tokens.
const PUBLIC_HEADER = /^(access-control-|www-authenticate$|proxy-authenticate$)/i;
const SECRET_PARAMETER = /key|token|secret|sig|auth|pass|credential|session|^code$/i;
const SCHEME = /^(?:bearer|basic|token|apikey|negotiate)\s+/i;

// Anything shorter would be found in honest text by chance.
const SHORTEST = 8;

/** Headers as they may be recorded: what is secret by its name or its form reads `not recorded`. */
export function publicHeaders(headers: Readonly<Record<string, string>>, redact: Redact): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (isSecretHeader(name, value)) return [name, NOT_RECORDED];
      return [name, redact(name === 'location' ? publicUrl(value) : value)];
    }),
  );
}

/** A URL as it may be recorded: without user, password and the values of parameters that look like keys. */
export function publicUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/?#@]*@/i, (_, scheme = '') => `${scheme}//${NOT_RECORDED}@`)
    .replace(/([?&#;])([^=?&#;]+)=([^&#;]*)/g, (whole, mark: string, name: string) =>
      SECRET_PARAMETER.test(name) ? `${mark}${name}=${NOT_RECORDED}` : whole,
    );
}

/** Replaces every secret it knows. */
export type Redact = (text: string) => string;

/** Everything secret in a request, so that it can be found again wherever the provider repeats it. */
export function redactorOf(
  url: string,
  headers: readonly Readonly<Record<string, string>>[],
  known: readonly string[],
): Redact {
  const secrets = new Set([...known, ...secretsOfUrl(url), ...headers.flatMap(secretsOfHeaders)]);
  const longestFirst = [...secrets].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((left, secret) => left.replaceAll(secret, NOT_RECORDED), text);
}

/** A JSON value with every text in it redacted, keys too. */
export function redactJson(value: Json, redact: Redact): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => redactJson(item, redact));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactJson(item, redact)]));
}

function isSecretHeader(name: string, value: string): boolean {
  return !PUBLIC_HEADER.test(name) && (SECRET_HEADER.test(name) || SCHEME.test(value));
}

function secretsOfHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!isSecretHeader(name, value)) return [];
    const bare = value.replace(SCHEME, '');
    // What follows a new cookie's first pair are its attributes.
    const cookies =
      name === 'set-cookie' ? value.split('\n').map((line) => line.split(';', 1)[0] ?? '') : value.split(/[;,]\s*/);
    const pairs = cookies.map((pair) => pair.slice(pair.indexOf('=') + 1));
    const decoded = /^basic\s/i.test(value) ? [Buffer.from(bare, 'base64').toString()] : [];
    return [value, bare, ...pairs, ...decoded, ...decoded.map((pair) => pair.slice(pair.indexOf(':') + 1))];
  });
}

function secretsOfUrl(url: string): string[] {
  const parsed = parseUrl(url);
  if (!parsed) return [];
  const parameters = [...parsed.searchParams].filter(([name]) => SECRET_PARAMETER.test(name));
  const values = [...parameters.map(([, value]) => value), parsed.username, parsed.password].filter(Boolean);
  return values.flatMap((value) => [value, encodeURIComponent(value), decoded(value)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
