import { GraphDefinitionError } from './errors';
import { bytesOf } from './size-limit';

const MAX_BYTES = 1_000;
const QUOTES = 2;

/** True for a text that Temporal takes as the id of a workflow: one of 1 to 1,000 bytes. */
export function isWorkflowId(id: unknown): boolean {
  return typeof id === 'string' && id !== '' && bytesOf(id) - QUOTES <= MAX_BYTES;
}

/** Refuses an id under which no thread can be begun. @throws {GraphDefinitionError} `INVALID_OPTION`. */
export function checkThreadId(id: unknown): void {
  if (isWorkflowId(id)) return;
  throw new GraphDefinitionError('INVALID_OPTION', `threadId must be a text of 1 to ${MAX_BYTES} bytes.`);
}
