import type { z } from 'zod';
import type { AnyGraph } from './compiled-graph';
import { toJson, type Json, type JsonObject } from './json';
import { decodeState, decodeValue } from './write-state';

/** What a node's body is given: the state it reads, or the input of its Send. */
export function seenState(
  graph: AnyGraph,
  node: string,
  { input, reads }: { readonly input?: z.ZodType | ((state: any) => unknown); readonly reads?: readonly string[] },
  given: Json,
  isSend: boolean,
): unknown {
  if (!isSend) return decodeState(graph.schema, given as JsonObject, node, reads);
  return input && typeof input !== 'function' ? decodeValue(input, given, node, 'input') : toJson(given);
}
