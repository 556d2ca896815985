/** A Temporal CLI binary that was run once and answered with its version. */
export interface CheckedBinary {
  readonly binary: string;
  /** What `temporal --version` printed, for example `temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)`. */
  readonly version: string;
}

/** Where the binary of a server that we start came from. */
export type BinaryOrigin = CheckedBinary & { readonly kind: 'path' | 'cache' | 'sdk-download' | 'go-install' };

/** Where a running server came from: one that was already there (`existing`), or one started from a binary. */
export type ServerOrigin = { readonly kind: 'existing' } | BinaryOrigin;
