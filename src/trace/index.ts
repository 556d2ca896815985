/**
 * `abeyance/trace`: reads what happened on a thread from its event histories, without server and worker, and shows it.
 *
 * @module
 */
export { decodeHistory } from './decode-history';
export { DecisionMade, VerdictShown } from './decision-made';
export { HistoryError } from './history-error';
export type { HistoryInput } from './history-event';
export {
  Attempt,
  Child,
  ForeignActivity,
  Item,
  LooseDecision,
  MessageIn,
  MessageShown,
  NodeOutcome,
  NodeVisit,
  Timer,
  Tokens,
  ToolRun,
  Turn,
  Wait,
} from './item';
export { Failure, Recorded, Span } from './recorded';
export { tokensOfItems, totalsOf } from './totals-of';
export { checkpointsOf } from './checkpoints-of';
export { Checkpoint, Note, Run, Stop, Totals, Trace } from './trace';
export { traceOf, type TraceOptions } from './trace-of';
export { WireExchange } from './wire-exchange';
export { renderText, type TextOptions } from './render-text';
export { renderHtml, type ChapterToRender, type VariantToRender } from './html/render-html';
