import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import { canonicalJson, type Json } from './json';

/** A 128-bit SHA-256 digest of a JSON value, as 32 hex digits; the order of keys does not matter. */
export function digestOf(value: Json): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value)))).slice(0, 32);
}
