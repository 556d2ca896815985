import type { DecisionMade } from '../../decision-made';
import type { Item } from '../../item';
import type { Checkpoint, Run, Stop, Trace } from '../../trace';
import type { IconName } from './dom';
import { inline, short } from './format';

/** What a row of the tree stands for. */
export type Subject =
  | { readonly kind: 'thread'; readonly value: Trace }
  | { readonly kind: 'run'; readonly value: Run }
  | { readonly kind: 'stop'; readonly value: Stop }
  | { readonly kind: 'checkpoint'; readonly value: Checkpoint }
  | { readonly kind: 'verdict'; readonly value: DecisionMade }
  | { readonly kind: 'item'; readonly value: Item };

/** A row of the tree: times are milliseconds from the start of the earliest thread on the page. */
export interface Row {
  readonly id: string;
  readonly icon: IconName;
  readonly kind: string;
  readonly name: string;
  readonly note: string;
  readonly status: string;
  readonly from: number;
  readonly to: number;
  readonly point: boolean;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
  readonly subject: Subject;
  readonly children: readonly Row[];
  readonly depth: number;
}

type Plain = Omit<Row, 'id' | 'depth' | 'children' | 'tokens' | 'point' | 'note' | 'status'> &
  Partial<Pick<Row, 'tokens' | 'point' | 'note' | 'status'>> & { readonly children?: readonly Plain[] };

/** The rows of these traces on one time axis. */
export function rowsOf(traces: readonly Trace[]): readonly Row[] {
  const starts = traces.map(({ thread }) => Date.parse(thread.span.from) || 0);
  const zero = Math.min(...starts);
  const plain = traces.map((trace, index) => threadRow(trace, (starts[index] ?? zero) - zero));
  return plain.map((row, index) => placed(row, String(index), 0));
}

/** These rows and all below them. */
export function everyRow(rows: readonly Row[]): readonly Row[] {
  return rows.flatMap((row) => [row, ...everyRow(row.children)]);
}

function placed(row: Plain, id: string, depth: number): Row {
  const children = (row.children ?? []).map((child, index) => placed(child, `${id}.${index}`, depth + 1));
  return { note: '', status: '', tokens: undefined, point: false, ...row, id, depth, children };
}

function stretch(span: { readonly offsetMs: number; readonly durationMs: number }, start: number) {
  return { from: start + span.offsetMs, to: start + span.offsetMs + span.durationMs };
}

function threadRow(trace: Trace, start: number): Plain {
  const { thread, totals, runs } = trace;
  return {
    icon: 'thread',
    kind: 'thread',
    name: thread.id,
    status: thread.status,
    ...stretch(thread.span, start),
    tokens: someTokens(totals.tokens),
    subject: { kind: 'thread', value: trace },
    children: runs.map((run) => runRow(run, trace, start)),
  };
}

function runRow(run: Run, trace: Trace, start: number): Plain {
  return {
    icon: 'run',
    kind: 'run',
    name: trace.runs.length > 1 ? `run ${run.number}` : 'run',
    note: run.graph,
    status: run.status,
    ...stretch(run.span, start),
    subject: { kind: 'run', value: run },
    children: run.stops.map((stop) => stopRow(stop, trace, start)),
  };
}

function stopRow(stop: Stop, trace: Trace, start: number): Plain {
  const items = stop.items.map((item) => itemRow(item, start));
  return {
    icon: 'stop',
    kind: 'stop',
    name: stop.name,
    note: stop.began === 'decision' ? 'after a decision' : '',
    status: stop.ended,
    ...stretch(stop.span, start),
    tokens: someTokens(sumTokens(stop.items)),
    subject: { kind: 'stop', value: stop },
    children: [...items, ...(stop.checkpoint ? [checkpointRow(stop.checkpoint, stop, start)] : [])],
  };
}

function sumTokens(items: readonly Item[]) {
  const turns = items.flatMap((item) => (item.kind === 'turn' && item.tokens ? [item.tokens] : []));
  const sum = (key: 'input' | 'output') => turns.reduce((total, tokens) => total + tokens[key], 0);
  return { input: sum('input'), output: sum('output') };
}

function someTokens(tokens: { readonly input: number; readonly output: number }) {
  return tokens.input + tokens.output > 0 ? tokens : undefined;
}

function checkpointRow(checkpoint: Checkpoint, stop: Stop, start: number): Plain {
  const at = start + stop.span.offsetMs + stop.span.durationMs;
  const next = checkpoint.next.length > 0 ? `next: ${checkpoint.next.join(', ')}` : 'nothing pending';
  const subject = { kind: 'checkpoint', value: checkpoint } as const;
  return {
    icon: 'checkpoint',
    kind: 'checkpoint',
    name: 'checkpoint',
    note: next,
    from: at,
    to: at,
    point: true,
    subject,
  };
}

function itemRow(item: Item, start: number): Plain {
  const { offsetMs, durationMs } = item.span;
  return {
    ...stretch({ offsetMs, durationMs }, start),
    ...labelOf(item),
    subject: { kind: 'item', value: item },
    point: item.kind === 'decision' || item.kind === 'message',
    ...(item.kind === 'turn' && item.tokens && { tokens: item.tokens }),
    ...(item.kind === 'wait' && { children: verdictRows(item, start) }),
  };
}

function verdictRows(wait: Extract<Item, { kind: 'wait' }>, start: number): readonly Plain[] {
  const sentBack = wait.sentBack.flatMap(({ decision }) => decision ?? []);
  const decisions = [...wait.refused, ...sentBack, ...(wait.decision ? [wait.decision] : [])];
  return decisions.map((decision) => ({
    icon: 'decision' as const,
    kind: 'decision',
    name: decision.verdict.kind === 'refused' ? decision.type : decisionName(decision),
    note: decision.by ? `by ${decision.by}` : '',
    status: decision.verdict.kind,
    from: start + decision.offsetMs,
    to: start + decision.offsetMs,
    point: true,
    subject: { kind: 'verdict' as const, value: decision },
  }));
}

export function decisionName({ type, verdict }: DecisionMade): string {
  const past = {
    approve: 'approved',
    deny: 'denied',
    edit: 'edited',
    respond: 'responded to',
    resume: 'answered',
    expire: 'expired',
    unreadable: 'unreadable decision',
  } as const;
  return verdict.kind === 'accepted' || type === 'unreadable' ? past[type] : `${type} (${verdict.kind})`;
}

/** How a wait is named: by what became of it. */
export function waitName({ status, decision, asks }: Extract<Item, { kind: 'wait' }>): string {
  if (status === 'open') return asks === 'approval' ? 'waiting for approval' : 'waiting for an answer';
  return decision && status === 'answered' ? `human wait · ${decisionName(decision)}` : `human wait · ${status}`;
}

type Label = Pick<Plain, 'icon' | 'kind' | 'name' | 'note' | 'status'>;

function labelOf(item: Item): Label {
  switch (item.kind) {
    case 'turn':
      return turnLabel(item);
    case 'tool':
      return toolLabel(item);
    case 'node':
      return { icon: 'node', kind: 'node', name: item.node, note: nodeNote(item), status: item.status };
    case 'wait':
      return { icon: 'wait', kind: 'human wait', name: waitName(item), note: inline(item.value), status: item.status };
    case 'decision':
      return {
        icon: 'decision',
        kind: 'decision',
        name: decisionName(item.decision),
        note: item.decision.by ? `by ${item.decision.by}` : '',
        status: item.decision.verdict.kind,
      };
    case 'timer':
      return { icon: 'timer', kind: 'timer', name: 'timer', note: item.summary ?? '', status: item.status };
    case 'child':
      return { icon: 'child', kind: 'child workflow', name: item.type, note: item.workflowId, status: item.status };
    case 'activity':
      return { icon: 'activity', kind: 'activity', name: item.type, note: '', status: item.status };
    case 'message':
      return { icon: 'message', kind: item.via, name: item.name, note: '', status: '' };
    default:
      return unknownLabel(item);
  }
}

function turnLabel({ number, model, status, askedFor, respondedWith }: Extract<Item, { kind: 'turn' }>): Label {
  const asked = askedFor.length > 0 ? `asked for: ${askedFor.join(', ')}` : '';
  const said = respondedWith ? `responded with: ${short(respondedWith)}` : '';
  const note = [asked, said].filter(Boolean).join(' · ');
  return { icon: 'turn', kind: 'turn', name: `turn ${number} · ${model.name}`, note, status };
}

function toolLabel({ tool, given, args, error, status, edited }: Extract<Item, { kind: 'tool' }>): Label {
  const shown = args ?? (given.kind === 'json' ? given.value : undefined);
  const ran = shown === undefined ? '' : inline(shown);
  const note = error ? `error: ${short(error)}` : edited ? `edited: ${ran}` : ran;
  return { icon: 'tool', kind: 'tool', name: tool, note, status: error ? 'failed' : status };
}

/** Of a trace written by a later version. */
function unknownLabel(item: never): Label {
  const { kind } = item as { readonly kind: string };
  return { icon: 'activity', kind, name: kind, note: '', status: '' };
}

function nodeNote({ visit, outcome }: Extract<Item, { kind: 'node' }>): string {
  const again = visit > 1 ? `visit ${visit}` : '';
  const end = outcome && outcome.kind !== 'completed' ? outcome.kind : '';
  return [again, end].filter(Boolean).join(' · ');
}
