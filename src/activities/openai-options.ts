import { GraphDefinitionError } from '../graph/errors';
import type { Exchange } from '../graph/exchange';
import type { Fetch } from './capture-fetch';

/** How much of each exchange with the provider goes on record. */
export type RecordLevel = 'full' | 'headers' | 'none';

/** How a live model is set up; what is left out comes from the environment or is left to the provider. */
export interface OpenAiModelOptions {
  /** Default: the variable `OPENAI_MODEL`. */
  readonly model?: string;
  /** Default: the variable `OPENAI_BASE_URL`, else OpenAI's own. A query in it goes with every request. */
  readonly baseURL?: string;
  /** Default: the variable `OPENAI_API_KEY`. */
  readonly apiKey?: string;
  /** Who answers, as records name it; default the host. */
  readonly provider?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
  readonly stop?: string | readonly string[];
  readonly seed?: number;
  /** `auto`, `none`, `required`, or the one tool it must ask for. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Milliseconds one attempt may take; default five minutes, which is also the longest that Node's own fetch waits. */
  readonly timeout?: number;
  /**
   * Asks for the reply bit by bit, so that whoever streams the run in the mode `messages` sees it being made. A service that
   * answers in one piece all the same is understood. Default false.
   */
  readonly stream?: boolean;
  /** `full` (default), `headers` for no bodies, `none` for no exchanges at all. */
  readonly record?: RecordLevel;
  /** The last to touch an exchange before it leaves the worker. Where it throws, headers and bodies are not recorded. */
  readonly mask?: (exchange: Exchange) => Exchange;
  /** Sent with every request. What looks like a key or a cookie is not recorded. */
  readonly defaultHeaders?: Readonly<Record<string, string>>;
  readonly fetch?: Fetch;
}

/** Options with nothing left open. */
export interface OpenAiSettings extends OpenAiModelOptions {
  readonly model: string;
  readonly baseURL: string;
  /** The parameters of the base URL. */
  readonly query: Readonly<Record<string, string>>;
  readonly host: string;
  readonly apiKey: string;
  readonly timeout: number;
  readonly record: RecordLevel;
}

const OPENAI = 'https://api.openai.com/v1';
const TIMEOUT = 5 * 60 * 1000;
const LEVELS: readonly RecordLevel[] = ['full', 'headers', 'none'];

/**
 * Fills the options from the environment.
 *
 * @throws {GraphDefinitionError} `MODEL_NOT_CONFIGURED` without key or model, `INVALID_OPTION`.
 */
export function settingsOf(options: OpenAiModelOptions, env: NodeJS.ProcessEnv): OpenAiSettings {
  const apiKey = options.apiKey || env.OPENAI_API_KEY;
  const model = options.model || env.OPENAI_MODEL;
  if (!apiKey || !model) {
    throw notConfigured([...(apiKey ? [] : ['key' as const]), ...(model ? [] : ['model' as const])]);
  }
  const { timeout = TIMEOUT, record = 'full' } = options;
  if (!(timeout > 0)) throw invalid('timeout', 'a number of milliseconds above 0');
  if (!LEVELS.includes(record)) throw invalid('record', LEVELS.map((level) => `"${level}"`).join(', '));
  const url = parseBase(options.baseURL || env.OPENAI_BASE_URL || OPENAI);
  const query = Object.fromEntries(url.searchParams);
  const baseURL = `${url.origin}${url.pathname}`;
  return { ...options, apiKey, model, timeout, record, baseURL, query, host: url.host };
}

function parseBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid('baseURL', 'an http or https URL');
  // Fetch refuses it anyway, with a message that repeats the password.
  if (url.username || url.password)
    throw invalid('baseURL', 'without user and password: send an authorization header by defaultHeaders instead');
  return url;
}

function invalid(option: string, must: string): GraphDefinitionError {
  return new GraphDefinitionError('INVALID_OPTION', `The model's option ${option} must be ${must}.`);
}

const HOW_TO_SET = {
  key: 'set the variable OPENAI_API_KEY or pass apiKey (a service that takes no key accepts any text)',
  model: 'set the variable OPENAI_MODEL or pass model',
} as const;

function notConfigured(missing: readonly (keyof typeof HOW_TO_SET)[]): GraphDefinitionError {
  const how = missing.map((what) => HOW_TO_SET[what]).join('; ');
  const message = `A live model has no ${missing.join(' and no ')}: ${how}. Another service than OpenAI's: OPENAI_BASE_URL or baseURL.`;
  return new GraphDefinitionError('MODEL_NOT_CONFIGURED', message);
}
