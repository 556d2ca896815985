import { z } from 'zod';

/** What a schema had against a value, in one line. */
export function explainMismatch(error: z.core.$ZodError): string {
  return z.prettifyError(error).replaceAll('\n', ' ');
}
