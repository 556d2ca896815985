import { AbeyanceError, type ErrorCode } from '../graph/errors';

/** What is known of a failed model call beside its message. */
export interface ModelErrorDetails extends ErrorOptions {
  /** Whether another attempt may go better. */
  readonly retryable: boolean;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
  /** The HTTP status, where one came. */
  readonly status?: number;
}

/**
 * A model gave no reply that can be used. Remedy: in the message; `retryable` ones Temporal tries again by itself.
 *
 * Models of your own may throw it too: it is the way to say when to try again, or not to.
 */
export class ModelError extends AbeyanceError {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode, message: string, { retryable, retryAfterMs, status, ...options }: ModelErrorDetails) {
    super(code, message, options);
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}
