import { z } from 'zod';

const MAX_ISSUES = 5;
const MAX_LENGTH = 1000;

/** What a schema had against a value, in one line; a long list is cut, for it travels with the answer to it. */
export function explainMismatch(error: z.core.$ZodError): string {
  const { issues } = error;
  const more = issues.length - MAX_ISSUES;
  const shown = z.prettifyError({ issues: issues.slice(0, MAX_ISSUES) }).replaceAll('\n', ' ');
  return shortened(more > 0 ? `${shown} … and ${more} more` : shown);
}

/** A text cut to what fits beside what it explains. */
export function shortened(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)} … (${text.length} characters)`;
}
