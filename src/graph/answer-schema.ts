import { z } from 'zod';
import { explainMismatch } from './explain-mismatch';
import { toJson, type Json } from './json';

/** An answer's schema as JSON Schema, to be shown with the question and checked before the node is asked. */
export function answerSchemaOf(schema: z.ZodType): Json {
  const shown = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (!takesMore(zodSchema)) return;
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Record<string, unknown>)[key];
    },
  });
  return toJson(shown);
}

// What coerces, or works on the answer first, takes more than its JSON Schema would say.
function takesMore({ _zod: { def } }: z.core.$ZodTypes): boolean {
  if ('coerce' in def && def.coerce) return true;
  if (def.type === 'string' && [def, ...(def.checks ?? []).map((check) => check._zod.def)].some(isInexact)) return true;
  return def.type === 'catch' || (def.type === 'pipe' && def.in._zod.def.type === 'transform');
}

// JSON Schema knows no flags of a pattern, and nothing of what changes a text before it is checked.
function isInexact(check: object): boolean {
  if ('check' in check && check.check === 'overwrite') return true;
  return 'pattern' in check && check.pattern instanceof RegExp && check.pattern.flags !== '';
}

/** What a question's schema has against an answer; undefined where it fits, or only the node itself can tell. */
export function answerMisfit(schema: Json | undefined, answer: Json): string | undefined {
  if (schema === undefined) return undefined;
  try {
    const parsed = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema).safeParse(answer);
    return parsed.success ? undefined : explainMismatch(parsed.error);
  } catch {
    return undefined;
  }
}
