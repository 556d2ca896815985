import { SpanKind, type Attributes, type SpanOptions } from '@opentelemetry/api';
import type { Attempt, Work } from '../activities/attempt-observer';
import { instructionsAsJson, messagesAsJson, toolsAsJson } from './message-content';
import { ABEYANCE, GENERAL, GEN_AI, GEN_AI_CONTENT, OPERATION, providerName, TOOL_TYPE } from './semantic-conventions';

/** What a span is begun with; a sampler sees all of it but the content. */
export interface SpanStart {
  readonly name: string;
  readonly options: SpanOptions;
}

/** The span of an attempt: `chat {model}`, `execute_tool {tool}`, or `node {node}` for a body of its own. */
export function spanStart({ info, answers, work }: Attempt): SpanStart {
  const { name, kind, attributes } = startOf(work, info.node);
  const where: Attributes = {
    [GEN_AI.conversationId]: info.threadId,
    [ABEYANCE.threadId]: info.threadId,
    [ABEYANCE.graph]: info.graph,
    [ABEYANCE.node]: info.node,
    [ABEYANCE.task]: info.task,
    [ABEYANCE.step]: info.step,
    [ABEYANCE.visit]: info.visit,
    [ABEYANCE.attempt]: info.attempt,
    ...(answers.length > 0 && { [ABEYANCE.answered]: answers.map(({ id }) => id) }),
  };
  return { name, options: { kind, attributes: { ...attributes, ...where } } };
}

interface Start {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

function startOf(work: Work, node: string): Start {
  switch (work.kind) {
    case 'body':
      return { name: `node ${node}`, kind: SpanKind.INTERNAL, attributes: {} };
    case 'tool': {
      const { id, name } = work.call;
      const attributes = {
        [GEN_AI.operationName]: OPERATION.executeTool,
        [GEN_AI.toolName]: name,
        [GEN_AI.toolCallId]: id,
        [GEN_AI.toolType]: TOOL_TYPE,
      };
      return { name: `${OPERATION.executeTool} ${name}`, kind: SpanKind.INTERNAL, attributes };
    }
    case 'model':
      return chatStart(work);
    default:
      return work satisfies never;
  }
}

function chatStart({ target, model }: Extract<Work, { kind: 'model' }>): Start {
  const attributes: Attributes = {
    [GEN_AI.operationName]: OPERATION.chat,
    [ABEYANCE.model]: target.name,
    ...(model && { [GEN_AI.providerName]: providerName(model.provider) }),
    ...(model?.model && { [GEN_AI.requestModel]: model.model }),
    ...(model?.endpoint && {
      [GENERAL.serverAddress]: model.endpoint.address,
      [GENERAL.serverPort]: model.endpoint.port,
    }),
  };
  const name = model?.model ? `${OPERATION.chat} ${model.model}` : OPERATION.chat;
  return { name, kind: SpanKind.CLIENT, attributes };
}

/** What an attempt is given to work on. */
export function inputContent(work: Work): Attributes {
  switch (work.kind) {
    case 'body':
      return {};
    case 'tool':
      return { [GEN_AI_CONTENT.toolCallArguments]: JSON.stringify(work.call.args) };
    case 'model': {
      const { messages, target } = work;
      return {
        [GEN_AI_CONTENT.inputMessages]: messagesAsJson(messages),
        ...(target.system !== undefined && {
          [GEN_AI_CONTENT.systemInstructions]: instructionsAsJson(target.system),
        }),
        ...(target.tools.length > 0 && { [GEN_AI_CONTENT.toolDefinitions]: toolsAsJson(target.tools) }),
      };
    }
    default:
      return work satisfies never;
  }
}
