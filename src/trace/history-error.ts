/** The histories given are not what a trace can be made of. Remedy: in the message. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';

  constructor(
    /** `NO_HISTORY`: there is no run in them. `SEVERAL_THREADS`: they are of more than one. */
    readonly code: 'NO_HISTORY' | 'SEVERAL_THREADS',
    message: string,
  ) {
    super(message);
  }
}
