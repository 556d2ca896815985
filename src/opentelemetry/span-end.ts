import type { Attributes } from '@opentelemetry/api';
import type { ModelRecord, NodeResult, ToolRecord } from '../activities/call-record';
import type { ModelUsage } from '../activities/chat-model';
import type { Exchange } from '../graph/exchange';
import { isJsonObject, type Json } from '../graph/json';
import { replyAsJson } from './message-content';
import { ABEYANCE, ERROR_TYPE, GEN_AI, GEN_AI_CONTENT, GENERAL } from './semantic-conventions';

/** What is known of an attempt once it has ended with a result. A pause is one: nothing has gone wrong. */
export function endAttributes(result: NodeResult): Attributes {
  const outcome = { [ABEYANCE.outcome]: result.kind, ...questionsOf(result) };
  const { record } = result;
  switch (record?.kind) {
    case undefined:
      return outcome;
    case 'model':
      return { ...outcome, ...modelAttributes(record) };
    case 'tool':
      return { ...outcome, ...(record.error !== undefined && { [GENERAL.errorType]: ERROR_TYPE.tool }) };
    default:
      return record satisfies never;
  }
}

function questionsOf(result: NodeResult): Attributes {
  switch (result.kind) {
    case 'completed':
      return {};
    case 'interrupted':
      return { [ABEYANCE.questions]: result.questions.map(({ id }) => id) };
    case 'rejected':
      return { [ABEYANCE.questions]: [result.question] };
    default:
      return result satisfies never;
  }
}

function modelAttributes({ model, finishReason, usage, attempt, exchanges }: ModelRecord): Attributes {
  const exchange = exchanges?.findLast((one) => one.attempt === attempt);
  return {
    ...(exchange && exchangeAttributes(exchange)),
    [GEN_AI.responseModel]: model,
    ...(finishReason !== undefined && { [GEN_AI.responseFinishReasons]: [finishReason] }),
    ...(usage && usageAttributes(usage)),
  };
}

/** What an exchange tells: bodies that are not on record tell nothing. */
export function exchangeAttributes({ request, response, finishReason, usage }: Exchange): Attributes {
  return {
    ...requestAttributes(request.body),
    ...responseAttributes(response?.body),
    ...(finishReason !== undefined && { [GEN_AI.responseFinishReasons]: [finishReason] }),
    ...(usage && usageAttributes(usage)),
  };
}

function requestAttributes(body: Json | undefined): Attributes {
  if (body === undefined || !isJsonObject(body)) return {};
  const { model, temperature, top_p: topP, max_tokens: maxTokens, seed, stop } = body;
  return {
    ...(typeof model === 'string' && { [GEN_AI.requestModel]: model }),
    ...(typeof temperature === 'number' && { [GEN_AI.requestTemperature]: temperature }),
    ...(typeof topP === 'number' && { [GEN_AI.requestTopP]: topP }),
    ...(typeof maxTokens === 'number' && { [GEN_AI.requestMaxTokens]: maxTokens }),
    ...(typeof seed === 'number' && { [GEN_AI.requestSeed]: seed }),
    ...(stop !== undefined && { [GEN_AI.requestStopSequences]: stopsOf(stop) }),
  };
}

function stopsOf(stop: Json): string[] {
  return (Array.isArray(stop) ? (stop as readonly Json[]) : [stop]).filter((one) => typeof one === 'string');
}

function responseAttributes(body: Json | undefined): Attributes {
  if (body === undefined || !isJsonObject(body)) return {};
  const { id, model } = body;
  return {
    ...(typeof id === 'string' && { [GEN_AI.responseId]: id }),
    ...(typeof model === 'string' && { [GEN_AI.responseModel]: model }),
  };
}

function usageAttributes({ input, output, cached, reasoning }: ModelUsage): Attributes {
  return {
    [GEN_AI.usageInputTokens]: input,
    [GEN_AI.usageOutputTokens]: output,
    ...(cached !== undefined && { [GEN_AI.usageCacheReadInputTokens]: cached }),
    ...(reasoning !== undefined && { [GEN_AI.usageReasoningOutputTokens]: reasoning }),
  };
}

/** What an attempt gave. */
export function outputContent({ record }: NodeResult): Attributes {
  switch (record?.kind) {
    case undefined:
      return {};
    case 'model':
      return { [GEN_AI_CONTENT.outputMessages]: replyAsJson(record.reply) };
    case 'tool':
      return toolContent(record);
    default:
      return record satisfies never;
  }
}

function toolContent({ args, result }: ToolRecord): Attributes {
  return {
    ...(args !== undefined && { [GEN_AI_CONTENT.toolCallArguments]: JSON.stringify(args) }),
    ...(result !== undefined && { [GEN_AI_CONTENT.toolCallResult]: JSON.stringify(result) }),
  };
}
