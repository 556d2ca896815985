import type { Item } from '../../item';
import type { Checkpoint, Run, Stop, Trace } from '../../trace';
import { h } from './dom';
import { facts, failureBlock, ms, recordedBlock, section, spanFacts, valueBlock } from './detail-parts';
import { count, duration, moment, plural } from './format';
import { bdi } from './text';

export function threadParts({ thread, totals, notes }: Trace): readonly Node[] {
  const { tokens } = totals;
  return [
    section(
      'Thread',
      facts(
        ['Graph', thread.graph],
        ['Status', thread.status],
        ...spanFacts(thread.span),
        ['Active', duration(totals.activeMs)],
        ['Waiting', duration(totals.waitingMs)],
        ['Fingerprint', thread.fingerprint],
      ),
    ),
    section(
      'Totals',
      facts(
        ['Runs', totals.runs],
        ['Stops', totals.stops],
        ['Turns', totals.turns],
        ['Messages', totals.messages],
        ['Tool calls', totals.toolCalls],
        ['Node visits', totals.nodes],
        ['Waits', totals.waits],
        ['Retries', totals.retries],
        ['Failures', totals.failures],
        ['Refused decisions', totals.refusedDecisions],
        ['Tokens in', `${count(tokens.input)}${tokens.cached ? ` (${count(tokens.cached)} cached)` : ''}`],
        ['Tokens out', `${count(tokens.output)}${tokens.reasoning ? ` (${count(tokens.reasoning)} reasoning)` : ''}`],
      ),
    ),
    notes.length > 0
      ? section('What the histories do not say', h('ul', {}, ...notes.map(({ message }) => h('li', {}, bdi(message)))))
      : undefined,
  ].filter((part) => part !== undefined);
}

export function runParts(run: Run): readonly Node[] {
  return [
    section(
      `Run ${run.number}`,
      facts(
        ['Graph', run.graph],
        ['Status', run.status],
        ...spanFacts(run.span),
        ['Run id', bdi(run.runId, 'mono')],
        ['Events', count(run.events)],
        ['Read with graph', run.folded ? 'yes: values and verdicts are exact' : 'no'],
        ['Task queue', run.taskQueue],
        ['Started by', run.startedBy],
        ['Run before', run.previousRunId],
        ['Run after', run.nextRunId],
        ['Parent', run.parent?.workflowId],
      ),
    ),
    failureBlock(run.failure),
    section('Input', recordedBlock('the input', run.input)),
    run.carry && section('Taken over from the run before', recordedBlock('what was taken over', run.carry)),
    run.result && section('Result', recordedBlock('the result', run.result)),
  ].filter((part) => part !== undefined);
}

export function stopParts(stop: Stop): readonly Node[] {
  return [
    section(
      stop.name,
      facts(
        ['Began with', stop.began],
        ['Ended', stop.ended],
        ...spanFacts(stop.span),
        ['Then stood still', ms(stop.pause?.durationMs)],
        ['What happened', happened(stop.items)],
      ),
    ),
    ...(stop.checkpoint ? checkpointParts(stop.checkpoint) : []),
  ];
}

function happened(items: readonly Item[]): string {
  const kinds = [...new Set(items.map(({ kind }) => kind))];
  return kinds.map((kind) => plural(items.filter((item) => item.kind === kind).length, kind)).join(', ');
}

export function checkpointParts({ at, step, values, source, next, questions }: Checkpoint): readonly Node[] {
  const open = questions.map((one) =>
    h('div', { class: 'card' }, facts(['Node', one.node], ['Id', one.id]), valueBlock('the question', one.value)),
  );
  return [
    section(
      'Checkpoint',
      facts(['At', moment(at)], ['Step', step], ['Pending nodes', next.join(', ') || 'none'], ['Values from', source]),
    ),
    section('Values', recordedBlock('the values', values)),
    ...(open.length > 0 ? [section(`Open questions (${open.length})`, ...open)] : []),
  ];
}
