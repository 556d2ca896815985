import { z } from 'zod';
import { GraphDefinitionError } from './errors';
import { toJson, type JsonObject } from './json';

/** A tool as a model is told of it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments: the properties as written, and no more. */
  readonly schema: JsonObject;
}

/** A tool that models may ask for: declared where workflow code may see it, implemented on the worker. */
export interface Tool<N extends string = string, S extends z.ZodObject = z.ZodObject> {
  readonly kind: 'tool';
  readonly name: N;
  readonly description: string;
  readonly schema: S;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Declares a tool; `implementTool` gives it a body on the worker.
 *
 * The name is limited to what model providers accept: letters, digits, `_` and `-`, at most 64.
 *
 * @throws {GraphDefinitionError} `INVALID_NAME`.
 * @example
 * export const placeOrder = tool({
 *   name: 'place_order',
 *   description: 'Place an order for a quantity of an item.',
 *   schema: z.object({ item: z.string(), quantity: z.int() }),
 * });
 */
export function tool<const N extends string, S extends z.ZodObject>(declared: {
  readonly name: N;
  readonly description: string;
  readonly schema: S;
}): Tool<N, S> {
  if (!NAME.test(declared.name)) {
    const message = `"${declared.name}" cannot name a tool. Use 1 to 64 letters, digits, "_" or "-".`;
    throw new GraphDefinitionError('INVALID_NAME', message);
  }
  return { kind: 'tool', ...declared };
}

/** The declaration that goes to the model and on record. */
export function declarationOf({ name, description, schema }: Tool): ToolDeclaration {
  return { name, description, schema: bare(z.toJSONSchema(schema, { io: 'input' })) };
}

// z.toJSONSchema adds the dialect, the safe-integer bounds and additionalProperties; a model needs none of them.
function bare(schema: unknown): JsonObject {
  const json = toJson(schema) as JsonObject;
  return strip(json) as JsonObject;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== 'object' || value === null) return value;
  const isObjectSchema = 'properties' in value && (value as { type?: unknown }).type === 'object';
  const isInteger = (value as { type?: unknown }).type === 'integer';
  const kept = Object.entries(value).filter(([key, item]) => {
    if (key === '$schema') return false;
    if (isObjectSchema && key === 'additionalProperties') return item !== false;
    return !(isInteger && (item === Number.MAX_SAFE_INTEGER || item === Number.MIN_SAFE_INTEGER));
  });
  return Object.fromEntries(kept.map(([key, item]) => [key, strip(item)]));
}
