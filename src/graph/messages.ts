import { z } from 'zod';
import { ReducedValue } from './state-schema';

const ROLE_ALIASES = { user: 'human', assistant: 'ai' } as const;

/** A tool call that a model asked for. */
export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  /** As parsed; the text itself where the model wrote no valid JSON. */
  args: z.json(),
});
export type ToolCall = z.output<typeof ToolCall>;

/** One message of a conversation, as the state keeps it. */
export const Message = z.object({
  id: z.string(),
  role: z.enum(['human', 'ai', 'tool', 'system']),
  content: z.string(),
  name: z.string().optional(),
  /** On `ai` messages: what the model asked for. */
  tool_calls: z.array(ToolCall).optional(),
  /** On `tool` messages: the call this answers. */
  tool_call_id: z.string().optional(),
  /** On `tool` messages: `error` where the tool did not do what was asked. */
  status: z.enum(['success', 'error']).optional(),
});
export type Message = z.output<typeof Message>;

const NewMessage = Message.extend({
  id: z.string().optional(),
  role: z.enum(['human', 'ai', 'tool', 'system', 'user', 'assistant']),
});

/** A message as it may be written: without an id it is new, `user` and `assistant` are understood. */
export type NewMessage = z.output<typeof NewMessage>;

const Removal = z.object({ role: z.literal('remove'), id: z.string() });

/** Removes the message of an id, or with `REMOVE_ALL_MESSAGES` all that came before. */
export type Removal = z.output<typeof Removal>;

/** The id that removes every message. */
export const REMOVE_ALL_MESSAGES = '__remove_all__';

/** An update that removes the message of this id. */
export function removeMessage(id: string): Removal {
  return { role: 'remove', id };
}

const OneMessage = z.union([z.string(), Removal, NewMessage]);
const MessageUpdate = z.union([OneMessage, z.array(OneMessage)]);

/** What may be written to a `MessagesValue`: one message or several; a bare string is a human's. */
export type MessageUpdate = z.output<typeof MessageUpdate>;

type Change = Removal | Message;

/**
 * A state key for a conversation: messages are merged by id, new ones appended.
 *
 * A known id replaces the message in place; `removeMessage(id)` takes it out, and an unknown id there is an
 * error. A message without an id gets one made of task and position, the same on every replay.
 *
 * @example const ChatState = new StateSchema({ messages: MessagesValue });
 */
export const MessagesValue = new ReducedValue<readonly Message[], MessageUpdate>(
  z.array(Message).readonly().default([]),
  {
    inputSchema: MessageUpdate,
    prepare: (update, prefix) => listOf(update).map((message, index) => completed(message, `${prefix}/${index}`)),
    reducer: (current, update) => (listOf(update) as Change[]).reduce<readonly Message[]>(merge, current),
  },
);

function listOf(update: MessageUpdate): readonly z.output<typeof OneMessage>[] {
  return Array.isArray(update) ? update : [update];
}

function completed(message: z.output<typeof OneMessage>, id: string): Change {
  if (typeof message === 'string') return { id, role: 'human', content: message };
  if (message.role === 'remove') return message;
  const { id: own, role, ...rest } = message;
  return { id: own ?? id, role: role === 'user' || role === 'assistant' ? ROLE_ALIASES[role] : role, ...rest };
}

function merge(messages: readonly Message[], change: Change): readonly Message[] {
  const at = messages.findIndex(({ id }) => id === change.id);
  if (change.role !== 'remove') return at < 0 ? [...messages, change] : messages.with(at, change);
  if (change.id === REMOVE_ALL_MESSAGES) return [];
  if (at < 0) throw new RangeError(`there is no message with the id "${change.id}" to remove`);
  return messages.filter((_, index) => index !== at);
}
