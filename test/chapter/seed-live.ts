import type { Json } from 'abeyance';
import type { OpenAiAnswer } from 'abeyance/testing';

/** What the original's live variant sent, key by key. */
export const LIVE_REQUEST = {
  messages: [{ content: 'Order 500 widgets.', role: 'user' }],
  model: 'deepseek-flash',
  stream: false,
  tools: [
    {
      type: 'function',
      function: {
        name: 'place_order',
        description: 'Place an order for a quantity of an item.',
        parameters: {
          properties: { item: { type: 'string' }, quantity: { type: 'integer' } },
          required: ['item', 'quantity'],
          type: 'object',
        },
      },
    },
  ],
};

interface Said {
  readonly id: string;
  readonly created: number;
  readonly content: string;
  readonly reasoning: string;
  readonly call: string;
  readonly tokens: readonly [completion: number, total: number, reasoning: number];
  readonly headers: OpenAiAnswer['headers'];
}

function answer({ id, created, content, reasoning, call, tokens, headers }: Said): OpenAiAnswer {
  const [completion_tokens, total_tokens, reasoning_tokens] = tokens;
  const asked = { name: 'place_order', arguments: '{"item": "widgets", "quantity": 500}' };
  const message = {
    role: 'assistant',
    content,
    reasoning_content: reasoning,
    tool_calls: [{ index: 0, id: call, type: 'function', function: asked }],
  };
  const body = {
    id,
    object: 'chat.completion',
    created,
    model: 'deepseek-flash',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }],
    usage: {
      prompt_tokens: 308,
      completion_tokens,
      total_tokens,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens },
      prompt_cache_hit_tokens: 128,
      prompt_cache_miss_tokens: 180,
    },
    system_fingerprint: 'aeb56401ca74e127821c4f9126dcb669',
  } satisfies Json;
  return { gzip: true, after: 5, body, headers: { ...COMMON_HEADERS, ...headers } };
}

const COMMON_HEADERS = {
  'access-control-allow-credentials': 'true',
  server: 'elb',
  'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
  vary: 'origin, access-control-request-method, access-control-request-headers',
  'x-cache': 'Miss from cloudfront',
  'x-content-type-options': 'nosniff',
};

/** What the original's provider answered: the approved thread, then the denied one. */
export const LIVE_ANSWERS: readonly OpenAiAnswer[] = [
  answer({
    id: '8e350547-2dbe-41c9-b3e4-062f3fb77139',
    created: 1789336703,
    content: '',
    reasoning: 'The user wants to order 500 widgets. Simple task \u2014 place the order.',
    call: 'call_00_Mg9Fy1KzPzegpu4Jzj0w3065',
    tokens: [71, 379, 16],
    headers: {
      via: '1.1 5d351175d5947d478733fbecdab866f6.cloudfront.net (CloudFront)',
      'x-amz-cf-id': 'vmS6O1gGGByTk-TQZV_CTSIyBzF4J1kl9RTK2NIZbX4pKkE7sK85_Q==',
      'x-amz-cf-pop': 'DEN52-P2',
      'x-ds-trace-id': 'bd994df396ed16f616b79ec97098cb15',
    },
  }),
  answer({
    id: '2ca6b727-e713-4215-b50c-5ee4aa4babde',
    created: 1789336704,
    content: "I'll place that order for you.",
    reasoning: "The user wants to order 500 widgets. That's a straightforward request. Let me place the order.",
    call: 'call_00_JhK4NmlMPrU6z4whS3or8161',
    tokens: [83, 391, 21],
    headers: {
      via: '1.1 64f15bfbd33a77e4a1cbe7d2b1e398e2.cloudfront.net (CloudFront)',
      'x-amz-cf-id': 'O6HzcLcbJg2HfDEM0XuQi6ey-PR93XXYTFiE3ne88Y_zo92DE_IUFw==',
      'x-amz-cf-pop': 'DEN53-P2',
      'x-ds-trace-id': '6dc4e691133e090712e3f3c322a062a2',
    },
  }),
];
