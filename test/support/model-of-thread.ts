import type { ChatModel, ModelContext, ModelRequest } from 'abeyance/activity';
import type { Exchange } from 'abeyance/activity';
import type { Message } from 'abeyance';

/** A model that asks another by thread, so that one worker serves tests that want different ones. */
export class ModelOfThread implements ChatModel {
  readonly provider = 'many';
  private readonly models = new Map<string, ChatModel>();

  set(threadId: string, model: ChatModel): void {
    this.models.set(threadId, model);
  }

  call(request: ModelRequest, context: ModelContext): ReturnType<ChatModel['call']> {
    const model = this.models.get(context.threadId);
    if (!model) throw new Error(`no model was set for ${context.threadId}`);
    return model.call(request, context);
  }
}

/** A conversation of one message, and the tools of a test. */
export function saying(content: string, tools: ModelRequest['tools'] = []): ModelRequest {
  const message: Message = { id: 'h', role: 'human', content };
  return { messages: [message], tools };
}

/** A first attempt outside of any run; what it keeps is in `kept`. */
export function attempt(more: Partial<ModelContext> = {}): ModelContext & { readonly kept: Exchange[] } {
  const kept: Exchange[] = [];
  return {
    threadId: 'thread',
    task: '1.agent',
    attempt: 1,
    idempotencyKey: 'key',
    signal: new AbortController().signal,
    earlierExchanges: [],
    keepExchange: (exchange) => void kept.push(exchange),
    writeText: () => undefined,
    ...more,
    kept,
  };
}
