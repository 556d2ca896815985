import type { StateEdit } from '../graph/edit-state';
import { isJsonObject, type Json } from '../graph/json';
import { messageIn } from './decisions-of';
import type { HistoryEvent } from './history-event';
import { jsonOf } from './payload';

/** The edit of the state that an event brings, if it brings one. */
export function editIn(event: HistoryEvent): StateEdit | undefined {
  const message = messageIn(event);
  if (message?.via !== 'update' || message.name !== 'updateState') return undefined;
  const edit: Json | undefined = message.args[0] && jsonOf(message.args[0]);
  return isJsonObject(edit) && isJsonObject(edit.update) ? (edit as unknown as StateEdit) : undefined;
}
