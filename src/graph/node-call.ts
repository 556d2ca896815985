import type { Dispatch } from './dispatch';
import type { Json, JsonObject } from './json';
import type { ToolCall } from './messages';
import type { Answer } from './question';
import { declarationOf, type ToolDeclaration } from './tool';

/** What an activity is told beside the state it reads; recorded with it. */
export interface NodeCall {
  readonly task: string;
  readonly step: number;
  readonly visit: number;
  readonly idempotencyKey: string;
  /** The input is a Send's own, not the state. */
  readonly send?: true;
  readonly answers?: readonly Answer[];
  readonly once?: Readonly<Record<string, Json>>;
  /** On model nodes: which model, and the tools it is told of. */
  readonly model?: ModelTarget;
  /** The result may take any size: large payloads are stored elsewhere. */
  readonly externalStorage?: true;
}

/** Which model is called, and with what beside the conversation. */
export interface ModelTarget {
  readonly name: string;
  readonly system?: string;
  readonly tools: readonly ToolDeclaration[];
}

/** The call of a dispatched task. */
export function nodeCallOf({ task, definition }: Dispatch, idempotencyKey: string): NodeCall {
  const { id, step, visit, answers, once } = task;
  const call: NodeCall = {
    task: id,
    step,
    visit,
    idempotencyKey,
    ...(task.input !== undefined && { send: true as const }),
    ...(answers.length > 0 && { answers }),
    ...(Object.keys(once).length > 0 && { once }),
  };
  if (definition.kind !== 'model') return call;
  const { model: name, system, tools } = definition;
  return { ...call, model: { name, tools: tools.map(declarationOf), ...(system !== undefined && { system }) } };
}

/** The input of a dispatched task's activity: the state it reads, or the tool call it runs. */
export function inputOf({ task, definition, state }: Dispatch): Json {
  if (definition.kind === 'tools') return task.call ?? null;
  if (definition.kind !== 'model') return state;
  return { [definition.messages]: (state as JsonObject)[definition.messages] ?? [] };
}

/** The tool call of a task that runs one. */
export function toolCallOf({ task }: Pick<Dispatch, 'task'>): ToolCall {
  return task.call as unknown as ToolCall;
}
