import type { Item } from '../../item';
import { h } from './dom';
import { activityParts, otherParts } from './detail-others';
import { section } from './detail-parts';
import { checkpointParts, runParts, stopParts, threadParts } from './detail-thread';
import { turnParts } from './detail-turn';
import { decisionParts, waitParts } from './detail-wait';
import { nodeParts, toolParts } from './detail-work';
import { jsonBlock } from './json-tree';
import type { Row, Subject } from './rows';

/** What the detail pane shows of a row: laid out, or the JSON it was laid out from. */
export function detailOf(row: Row, view: 'formatted' | 'json'): readonly Node[] {
  if (view === 'json') return [section('JSON', jsonBlock(`the ${row.kind} as JSON`, row.subject.value, 2))];
  try {
    return formatted(row.subject);
  } catch (error) {
    // A trace of another version: its JSON is better than nothing.
    const note = h('p', { class: 'dim' }, `This could not be laid out (${String(error)}).`);
    return [note, jsonBlock('the JSON', row.subject.value, 2)];
  }
}

function formatted(subject: Subject): readonly Node[] {
  switch (subject.kind) {
    case 'thread':
      return threadParts(subject.value);
    case 'run':
      return runParts(subject.value);
    case 'stop':
      return stopParts(subject.value);
    case 'checkpoint':
      return checkpointParts(subject.value);
    case 'verdict':
      return decisionParts(subject.value);
    case 'item':
      return itemParts(subject.value);
    default:
      return subject satisfies never;
  }
}

function itemParts(item: Item): readonly Node[] {
  switch (item.kind) {
    case 'turn':
      return turnParts(item);
    case 'tool':
      return toolParts(item);
    case 'node':
      return nodeParts(item);
    case 'wait':
      return waitParts(item);
    case 'decision':
      return decisionParts(item.decision);
    case 'activity':
      return activityParts(item);
    default:
      return otherParts(item);
  }
}
