// Every name that goes on a span, and nothing else. Those of the GenAI conventions are of release 0.1.0 of
// open-telemetry/semantic-conventions-genai, the first since they left the general conventions (1.41). They are in
// development: a later release may rename them, and then this file changes.

/** What a span is about; also the first word of its name. */
export const OPERATION = { chat: 'chat', executeTool: 'execute_tool' } as const;

/** Of the GenAI conventions. */
export const GEN_AI = {
  operationName: 'gen_ai.operation.name',
  providerName: 'gen_ai.provider.name',
  conversationId: 'gen_ai.conversation.id',

  requestModel: 'gen_ai.request.model',
  requestTemperature: 'gen_ai.request.temperature',
  requestTopP: 'gen_ai.request.top_p',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestSeed: 'gen_ai.request.seed',
  requestStopSequences: 'gen_ai.request.stop_sequences',

  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  responseFinishReasons: 'gen_ai.response.finish_reasons',

  usageInputTokens: 'gen_ai.usage.input_tokens',
  usageOutputTokens: 'gen_ai.usage.output_tokens',
  usageCacheReadInputTokens: 'gen_ai.usage.cache_read.input_tokens',
  usageReasoningOutputTokens: 'gen_ai.usage.reasoning.output_tokens',

  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
} as const;

/** Of the GenAI conventions, opt-in there and here: what was said and handed over. */
export const GEN_AI_CONTENT = {
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolDefinitions: 'gen_ai.tool.definitions',
  toolCallArguments: 'gen_ai.tool.call.arguments',
  toolCallResult: 'gen_ai.tool.call.result',
} as const;

/** Of the general conventions; stable. */
export const GENERAL = {
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;

/** Our own. */
export const ABEYANCE = {
  threadId: 'abeyance.thread.id',
  graph: 'abeyance.graph',
  node: 'abeyance.node',
  task: 'abeyance.task',
  step: 'abeyance.step',
  /** How often the task was scheduled: 1, and one more for each pause it came back from. */
  visit: 'abeyance.visit',
  /** Which try of this visit. */
  attempt: 'abeyance.attempt',
  /** The name a model node calls its model by. */
  model: 'abeyance.model',
  /** `completed`, `interrupted` or `rejected`; missing where the attempt failed. */
  outcome: 'abeyance.outcome',
  /** The ids of the questions the node waits for. */
  questions: 'abeyance.questions',
  /** The ids of the questions whose answers the node was given. */
  answered: 'abeyance.answered',
} as const;

/** Our tools are all of the kind the conventions call so. */
export const TOOL_TYPE = 'function';

/** `error.type` where the conventions leave it to us. */
export const ERROR_TYPE = {
  /** The tool failed, or was called with what it does not take, and the model was told so. */
  tool: 'tool_error',
  cancelled: 'cancelled',
  other: '_OTHER',
} as const;

/** What the conventions call providers that are known by their host. */
const PROVIDERS: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)openai\.com$/, 'openai'],
  [/\.openai\.azure\.com$/, 'azure.ai.openai'],
  [/(^|\.)anthropic\.com$/, 'anthropic'],
  [/(^|\.)cohere\.(ai|com)$/, 'cohere'],
  [/(^|\.)deepseek\.com$/, 'deepseek'],
  [/^generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/(^|[.-])aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(^|\.)groq\.com$/, 'groq'],
  [/(^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(^|\.)moonshot\.(ai|cn)$/, 'moonshot_ai'],
  [/(^|\.)perplexity\.ai$/, 'perplexity'],
  [/(^|\.)x\.ai$/, 'x_ai'],
];

/** The conventions' name of a provider that a model names by its host; any other name stays as it is. */
export function providerName(provider: string): string {
  return PROVIDERS.find(([host]) => host.test(provider.toLowerCase()))?.[1] ?? provider;
}
