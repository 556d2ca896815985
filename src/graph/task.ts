import type { Json } from './json';
import type { CompletedOutcome } from './outcome';
import type { Answer, Question } from './question';
import type { TaskLine } from './run-view';
import type { Scope } from './scope';
import { prefixOf, type Write } from './write-state';

/** One piece of work of a superstep, as it is kept in a snapshot. */
export interface Task {
  /** `<step>.<node>`, with `.<index>` for a Send, `.c<n>` for a tool call; in a subgraph after the id of the task around it and a slash. */
  readonly id: string;
  readonly node: string;
  readonly step: number;
  /** Tasks of one group are routed together: the tool calls of one node. Else the task's own id. */
  readonly group: string;
  /** A Send's input, which stands in for the state. */
  readonly input?: Json;
  /** The tool call this task runs. */
  readonly call?: Json;
  /** How often it has been scheduled. */
  readonly visit: number;
  /** `entered`: a subgraph runs in it. `held`: a breakpoint keeps its superstep back. */
  readonly phase: 'ready' | 'running' | 'waiting' | 'entered' | 'held' | 'done';
  readonly open: readonly Question[];
  /** Questions that have their answer: one is opened again when the node sends the answer back. */
  readonly answered: readonly Question[];
  readonly answers: readonly Answer[];
  readonly once: Readonly<Record<string, Json>>;
  readonly outcome?: CompletedOutcome;
  /** The subgraph that runs in it. */
  readonly inner?: Scope;
  /** Its outcome was given to it from outside the run. */
  readonly edited?: true;
  /** Under what its outcome may be used again. */
  readonly cacheKey?: string;
  /** Of a subgraph that was given out to run elsewhere: its tasks, as it last told. */
  readonly child?: { readonly tasks: readonly TaskLine[] };
  /** In a run that is a subgraph's: what ids of new messages begin with, so that they are none of the run around. */
  readonly within?: string;
}

/** A task that waits to be scheduled for the first time. */
export function newTask(fields: Pick<Task, 'id' | 'node' | 'step'> & Partial<Task>): Task {
  return { group: fields.id, visit: 0, phase: 'ready', open: [], answered: [], answers: [], once: {}, ...fields };
}

/** What a finished task wrote, in the order it wrote it; nothing while it is not done. */
export function writesOf({ id, node, outcome, within }: Task): readonly Write[] {
  return (outcome?.updates ?? []).map((update, index) => {
    const write = { node, task: id, index, update };
    const prefix = outcome?.prefixes?.[index] ?? (within === undefined ? undefined : within + prefixOf(write));
    return { ...write, ...(prefix !== undefined && { prefix }) };
  });
}

/** True for a task that was given out and has not ended: a subgraph that runs elsewhere may wait meanwhile. */
export function isAtWork({ phase, child }: Task): boolean {
  return phase === 'running' || (phase === 'waiting' && child !== undefined);
}

/** The nodes on the way to a task, from the run's graph inwards: `review/ask` for the task `2.review/1.ask`. */
export function nodePathOf(taskId: string): string {
  return taskId
    .split('/')
    .map((part) => part.split('.')[1] ?? part)
    .join('/');
}
