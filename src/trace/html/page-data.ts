import type { Trace } from '../trace';

/** A scenario played in one way. */
export interface Variant {
  readonly mode: 'mock' | 'live';
  readonly traces: readonly Trace[];
}

/** One of a chapter's scenarios. */
export interface Scenario {
  readonly name: string;
  readonly variants: readonly Variant[];
}

/** What the page is given, as JSON. */
export interface PageData {
  readonly title: string;
  /** A chapter of scenarios; otherwise there is one scenario of one trace. */
  readonly chapter: boolean;
  readonly scenarios: readonly Scenario[];
}
