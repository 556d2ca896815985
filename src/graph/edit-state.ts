import { END, START } from './commands';
import type { AnyGraph } from './compiled-graph';
import type { EngineSnapshot } from './engine-snapshot';
import { StateError } from './errors';
import type { JsonObject } from './json';
import { planNext, planStart } from './plan';
import { refuseWithinReach } from './subgraph';
import type { Frame } from './frame';
import { enter } from './superstep';
import { newTask, type Task } from './task';
import { applyWrites, readEncodedUpdate } from './write-state';

/** A write to the state from outside the run. */
export interface StateEdit {
  /** Encoded as `encodeUpdate` encodes it. */
  readonly update: JsonObject;
  /**
   * Whose update it counts as: that node has run then, and its edges say what comes next. `START`: as a new input;
   * `END`: nothing comes next. Without it nothing but the values changes.
   */
  readonly asNode?: string;
}

/** A run with an update written to its state, and nothing else changed. @throws {StateError} as for any write. */
export function writeFromOutside(
  graph: AnyGraph,
  state: EngineSnapshot,
  update: JsonObject,
  by = 'update',
): EngineSnapshot {
  const edits = (state.edits ?? 0) + 1;
  const encoded = readEncodedUpdate(graph.schema, update, by);
  refuseWithinReach(graph, state, encoded, by);
  const task = `${state.step}.update${edits}`;
  const prefix = state.parent && `${state.parent.within}${task}`;
  const write = { node: by, task, index: 0, update: encoded, ...(prefix !== undefined && { prefix }) };
  return { ...state, edits, channels: applyWrites(graph.schema, state.channels, [write]) };
}

/**
 * A run with its state edited, while nothing runs.
 *
 * @throws {StateError} `STATE_UPDATE_CONFLICT` where the edit would drop a task that waits; as for any write.
 */
export function editState(frame: Frame, state: EngineSnapshot, { update, asNode }: StateEdit): EngineSnapshot {
  const { graph } = frame;
  const by = asNode === START || asNode === END ? undefined : asNode;
  const written = (): EngineSnapshot => writeFromOutside(graph, state, update, by);
  if (asNode === undefined) return written();
  if (asNode === END) return { ...withoutHeld(written()), tasks: [], pending: { joins: {}, deferred: [] } };
  if (asNode !== START && !graph.shape.nodes.has(asNode)) {
    const message = `The state cannot be updated as "${asNode}", which is no node of "${graph.name}". The nodes are: ${[...graph.shape.nodes.keys()].join(', ')}.`;
    throw new StateError('UNKNOWN_NODE', message, asNode);
  }
  const own = state.tasks.filter(({ node }) => node === asNode);
  refuseDropping(state, asNode, own);
  const encoded = readEncodedUpdate(graph.schema, update, by ?? 'update');
  const edits = (state.edits ?? 0) + 1;
  if (own.length > 0 && !state.held)
    return { ...state, edits, tasks: state.tasks.map((task) => (own.includes(task) ? ran(task, encoded) : task)) };
  const next = withoutHeld(written());
  if (asNode === START) return enter(frame, next, planStart(graph, next.channels), next.channels);
  const did = ran(newTask({ id: `${state.step}.${asNode}`, node: asNode, step: state.step }), encoded);
  const plan = planNext(graph, state.channels, [did], state.pending);
  return enter(frame, { ...next, tasks: [] }, plan, next.channels, [asNode]);
}

// Whoever edits the state must not make a waiting call vanish without a word.
function refuseDropping({ tasks, held }: EngineSnapshot, asNode: string, own: readonly Task[]): void {
  if (own.length > 1) {
    const message = `"${asNode}" has ${own.length} tasks that wait, so an update as "${asNode}" does not say which. Answer them instead.`;
    throw new StateError('STATE_UPDATE_CONFLICT', message, asNode);
  }
  // Where all have finished and the run has failed on that, one of them may be stood in for.
  if (own.some(({ phase }) => phase === 'done') && tasks.some(({ phase }) => phase !== 'done')) {
    const message = `"${asNode}" has finished in this superstep, and what it wrote is kept. Leave asNode out, or wait until the others have finished too.`;
    throw new StateError('STATE_UPDATE_CONFLICT', message, asNode);
  }
  const others = tasks.filter((task) => task.phase !== 'done' && !own.includes(task));
  if (others.length === 0 || (own.length > 0 && !held)) return;
  const dropped = others;
  const waiting = [...new Set(dropped.map(({ node }) => node))].join(', ');
  const message = `An update as "${asNode}" would drop what waits: ${waiting}. Update as one of them, leave asNode out, or answer them first.`;
  throw new StateError('STATE_UPDATE_CONFLICT', message, asNode);
}

function withoutHeld(state: EngineSnapshot): EngineSnapshot {
  const { held: _, ...rest } = state;
  return rest;
}

function ran(task: Task, update: JsonObject): Task {
  const { inner: _, child: __, ...own } = task;
  const updates = Object.keys(update).length === 0 ? [] : [update];
  const outcome = { kind: 'completed', updates, goto: [] } as const;
  return { ...own, phase: 'done', open: [], answers: [], once: {}, outcome, edited: true };
}
