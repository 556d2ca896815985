/**
 * `abeyance/testing`: runs graphs without a server, and stands in for models and their providers.
 *
 * @module
 */
export { InMemoryGraphs } from './in-memory-graphs';
export type { OpenAiAnswer } from './openai-answer';
export {
  startOpenAiServer,
  type OpenAiRequest,
  type OpenAiScript,
  type OpenAiServer,
  type OpenAiServerOptions,
} from './openai-server';
export {
  ScriptEndedError,
  scriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  type ScriptedTurn,
} from './scripted-model';
export {
  recordHistory,
  recordThread,
  replayHistories,
  type RecordedHistory,
  type RecordedThread,
  type ReplayResult,
} from './histories';
