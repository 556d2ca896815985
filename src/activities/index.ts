/**
 * `abeyance/activity`: what runs on the worker beside node bodies: models and tools.
 *
 * @module
 */
export type { ModelRecord, NodeResult, ToolRecord } from './call-record';
export type { ChatModel, ModelContext, ModelReply, ModelRequest, ModelUsage } from './chat-model';
export type { GraphDependencies } from './check-dependencies';
export type { Fetch } from './capture-fetch';
export { Exchange } from '../graph/exchange';
export { ModelError, type ModelErrorDetails } from './model-error';
export { openaiModel } from './openai-model';
export type { OpenAiModelOptions, RecordLevel } from './openai-options';
export { implementTool, type ToolBody, type ToolContext, type ToolImplementation } from './implement-tool';
