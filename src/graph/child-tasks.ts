import { decisionWithin, verdictAround } from './child-report';
import type { AnyGraph } from './compiled-graph';
import { answersById, type Decision, type DecisionRecord, type Verdict } from './decision';
import type { EngineSnapshot, ParentTask } from './engine-snapshot';
import { isAskedBy, judge, openQuestions } from './judge';
import { accept, digestOfDecision, withRecord } from './ledger';
import type { GraphNode } from './node-definition';
import type { JudgedDecision, PassedOn } from './passed-on';
import type { Answer, Question } from './question';
import { leavesOf, scopeOf, type ParentWrites } from './scope';
import type { Channels } from './state-schema';
import { definitionAt, frameWithin, graphAround, startOfSubgraph } from './subgraph';
import type { Breakpoints, Frame } from './frame';
import { nodePathOf, type Task } from './task';
import type { Write } from './write-state';

/** A subgraph to run elsewhere now, with what it starts on. */
export interface ChildDispatch {
  /** The subgraph. */
  readonly graph: AnyGraph;
  readonly task: Task;
  readonly definition: GraphNode;
  readonly state: Channels;
  readonly parent: ParentTask;
  /** The run's breakpoints in it, by its own paths. */
  readonly breakpoints: Breakpoints;
}

/** What the run of a subgraph leaves to the run around it. */
export interface SubgraphEnd {
  readonly channels: Channels;
  readonly written?: readonly Write[];
  readonly toParent?: ParentWrites;
}

/** True for the task of a subgraph that runs elsewhere. */
export function isChildTask(graph: AnyGraph, { inline }: EngineSnapshot, task: Task): boolean {
  return inline !== true && task.inner === undefined && definitionAt(graph, nodePathOf(task.id))?.kind === 'graph';
}

/** What a run is begun with where no run around it is: it is nobody's subgraph then, whatever it takes over. */
export function withoutParent<T extends { readonly parent?: ParentTask }>({
  parent: _,
  ...rest
}: T): Omit<T, 'parent'> {
  return rest;
}

/** The frame a task's own graph runs in. */
export function frameAround(frame: Frame, task: Task): Frame {
  return { ...frame, graph: graphAround(frame.graph, nodePathOf(task.id)) };
}

/** What a subgraph is given out with. @throws {StateError} where it does not fit. @throws {GraphRunError} where `input` fails. */
export function childDispatch(frame: Frame, state: EngineSnapshot, task: Task): ChildDispatch {
  const path = nodePathOf(task.id);
  const around = frameAround(frame, task);
  const definition = definitionAt(frame.graph, path) as GraphNode;
  const { shared = [] } = frameWithin(around, task, definition);
  const within = `${state.parent?.within ?? ''}${task.id}/`;
  return {
    graph: definition.graph,
    task,
    definition,
    state: startOfSubgraph(around, scopeOf(state, task.id), task, definition),
    parent: { task: task.id, visit: task.visit, within, shared },
    breakpoints: {
      before: breakpointsWithin(frame.breakpoints.before, path),
      after: breakpointsWithin(frame.breakpoints.after, path),
    },
  };
}

function breakpointsWithin(paths: readonly string[], path: string): readonly string[] {
  return paths.flatMap((one) => (one === '*' ? one : one.startsWith(`${path}/`) ? one.slice(path.length + 1) : []));
}

/**
 * Passes a decision on to the subgraphs whose open questions it is for; answers to questions of this run itself that come
 * with it are handed over at once. Undefined where it is for this run alone, or would be refused or kept.
 */
export function passOn(
  graph: AnyGraph,
  state: EngineSnapshot,
  passed: PassedOn,
  decision: Decision,
  record?: number,
): { readonly state: EngineSnapshot; readonly token: string } | undefined {
  if (decision.update !== undefined) return undefined;
  const { verdict, answers } = judge({ ...state, graph }, decision);
  if (verdict.kind !== 'accepted') return undefined;
  const asked = new Map<string, string[]>();
  const own: Answer[] = [];
  for (const answer of answers) {
    const owner = childAsking(state, answer.id);
    if (owner) asked.set(owner.id, [...(asked.get(owner.id) ?? []), answer.id]);
    else own.push(answer);
  }
  if (asked.size === 0) return undefined;
  const parts = new Map([...asked].map(([task, ids]) => [task, decisionWithin(task, decision, ids)]));
  const whole = { decision, own: own.map(({ id }) => id), ...(record !== undefined && { record }) };
  return { token: passed.add(whole, parts), state: own.reduce(accept, state) };
}

/** Passes kept decisions on for which a subgraph's question has opened; one that could be for several is refused. */
export function passKept(graph: AnyGraph, state: EngineSnapshot, passed: PassedOn, at: string): EngineSnapshot {
  return state.ledger.reduce((before, { decision, verdict }, index) => {
    const [only, ...more] = verdict.kind === 'kept' && !passed.has(index) ? meantBy(before, decision) : [];
    if (!only) return before;
    const bound = more.length > 0 ? decision : { ...decision, node: undefined, question: only.id };
    const next = passOn(graph, before, passed, bound, index);
    if (next) return next.state;
    return withRecord(
      before,
      { ...recordAt(before, index), verdict: judge({ ...before, graph }, bound).verdict, at },
      index,
    );
  }, state);
}

function meantBy(state: EngineSnapshot, decision: Decision): readonly Question[] {
  return leavesOf(state)
    .flatMap(({ open, child }) => (child ? open : []))
    .filter((question) => question.id === decision.question || isAskedBy(question, decision.node));
}

/** Writes down what became of a decision that was passed on. */
export function concluded(
  graph: AnyGraph,
  state: EngineSnapshot,
  judged: JudgedDecision,
  at: string,
): { readonly state: EngineSnapshot; readonly verdict: Verdict } {
  const { decision, record } = judged;
  const digest = digestOfDecision(decision);
  const { decisionId: id } = decision;
  // Sent twice before its verdict came, it is one decision all the same.
  const known = state.ledger.find((one) => id !== undefined && one.decision.decisionId === id && one.digest === digest);
  if (known && record === undefined) return { state, verdict: known.verdict };
  const verdict = verdictOf(graph, state, judged);
  if (record !== undefined) {
    return { verdict, state: withRecord(state, { ...recordAt(state, record), verdict, at }, record) };
  }
  return { verdict, state: withRecord(state, { decision, digest, verdict, at }) };
}

function verdictOf(graph: AnyGraph, state: EngineSnapshot, { decision, own, parts }: JudgedDecision): Verdict {
  const verdicts = [...parts].map(([task, verdict]) => verdictAround(task, verdict));
  const accepted = [...own, ...verdicts.flatMap((one) => (one.kind === 'accepted' ? one.questions : []))];
  const refused = verdicts.find((one) => one.kind === 'refused');
  if (!refused) return { kind: 'accepted', questions: accepted };
  // Judged here once more it is refused in the words of this thread, who decided included.
  const here = judge({ ...state, graph }, withoutAnswers(decision, accepted)).verdict;
  const open = openQuestions(state).map(({ id, node, value }) => ({ id, node, value }));
  const verdict = here.kind === 'refused' ? here : { ...refused, open };
  if (accepted.length === 0) return verdict;
  const rest = `Answered all the same: ${accepted.join(', ')}.`;
  return { ...verdict, message: `${verdict.message.replace(/ Nothing changed\.$/, '')} ${rest}` };
}

function withoutAnswers(decision: Decision, ids: readonly string[]): Decision {
  const many = answersById(decision);
  if (!many || decision.type !== 'resume') return decision;
  const left = Object.entries(many).filter(([id]) => !ids.includes(id));
  return { ...decision, value: Object.fromEntries(left) as never };
}

function childAsking(state: EngineSnapshot, question: string): Task | undefined {
  return leavesOf(state).find(({ child, open }) => child && open.some(({ id }) => id === question));
}

function recordAt({ ledger }: EngineSnapshot, index: number): DecisionRecord {
  return ledger[index] as DecisionRecord;
}
