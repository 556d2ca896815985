import type { Json } from '../graph/json';
import type { Recorded } from './recorded';
import { arrayOf, objectOf, textOf, type Loose } from './untrusted';

// Deeper than a graph writes (200), shallower than what a recursive reader or JSON.stringify survives.
const MAX_DEPTH = 250;
const TOO_DEEP = `… (nested deeper than ${MAX_DEPTH} levels)`;

const NULL: Recorded = { kind: 'json', value: null };
const utf8 = new TextDecoder();

/** Reads the payloads of an input or result: protobuf’s `{ payloads }`, or the shorthand of the command line. */
export function payloadsOf(value: unknown): readonly Recorded[] {
  if (Array.isArray(value)) return value.map(recordedOf);
  return arrayOf(objectOf(value).payloads).map(recordedOf);
}

/** Reads the first payload of an input or result. */
export function firstPayload(value: unknown): Recorded | undefined {
  return payloadsOf(value)[0];
}

/** Reads one payload; a value that is none was decoded by whoever exported the history. */
export function recordedOf(value: unknown): Recorded {
  const encoding = encodingOf(value);
  if (encoding === undefined) return value === undefined ? NULL : decodedBefore(value);
  const bytes = bytesOf((value as Loose).data);
  if (encoding === 'binary/null') return NULL;
  if (isStoredElsewhere(value as Loose)) return { kind: 'encoded', encoding: 'external storage', bytes: bytes.length };
  if (encoding.startsWith('json/')) {
    try {
      return { kind: 'json', value: pruned(JSON.parse(utf8.decode(bytes)) as Json) };
    } catch {
      // What is not what it says is shown as what it is: bytes.
    }
  }
  return { kind: 'encoded', encoding, bytes: bytes.length };
}

// What the SDK's external storage leaves in the payload's place.
function isStoredElsewhere({ metadata }: Loose): boolean {
  const type = objectOf(metadata).messageType;
  return type !== undefined && utf8.decode(bytesOf(type)) === 'temporal.api.sdk.v1.ExternalStorageReference';
}

/** The JSON of a recorded value, where it is readable. */
export function jsonOf(recorded: Recorded | undefined): Json | undefined {
  return recorded?.kind === 'json' ? recorded.value : undefined;
}

/** True for a payload: an object whose metadata name an encoding. */
export function isPayload(value: unknown): value is Loose {
  return encodingOf(value) !== undefined;
}

/** Bytes, as protobuf holds them or as base64. */
export function bytesOf(data: unknown): Uint8Array {
  if (data instanceof Uint8Array) return data;
  return Buffer.from(textOf(data) ?? '', 'base64');
}

function encodingOf(value: unknown): string | undefined {
  const { metadata } = objectOf(value);
  const { encoding } = objectOf(metadata);
  return typeof encoding === 'string' || encoding instanceof Uint8Array ? utf8.decode(bytesOf(encoding)) : undefined;
}

function decodedBefore(value: unknown): Recorded {
  try {
    return { kind: 'json', value: pruned(JSON.parse(JSON.stringify(value)) as Json) };
  } catch {
    return { kind: 'missing', reason: 'The export holds something that is not JSON.' };
  }
}

/** Cuts off what is nested too deep, in place: the value is our own copy. Walks without recursion. */
function pruned(value: Json): Json {
  let level: object[] = isContainer(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    const below: object[] = [];
    for (const container of level as Record<string, unknown>[]) {
      for (const key of Object.keys(container)) {
        const item = container[key];
        if (!isContainer(item)) continue;
        if (depth >= MAX_DEPTH) Object.defineProperty(container, key, { value: TOO_DEEP, enumerable: true });
        else below.push(item);
      }
    }
    level = below;
  }
  return value;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
