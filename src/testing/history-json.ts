import { createRequire } from 'node:module';
import type { History } from '@temporalio/common/lib/proto-utils';

/** The protobuf type of a history, as far as it is used here. */
interface HistoryType {
  fromObject(history: History): object;
}

interface ProtoJson {
  fromJson(type: HistoryType, json: unknown, options: { readonly ignoreUnknownFields: boolean }): History;
  toJson(type: HistoryType, message: object): unknown;
}

/** Writes a history as JSON text, in the form that Temporal's UI and CLI export. */
export function historyToJson(history: History): string {
  const { protoJson, historyType } = temporalProtobuf();
  return JSON.stringify(protoJson.toJson(historyType, historyType.fromObject(history)), null, 2);
}

/** Reads a history from such JSON text; fields of newer servers are passed over. @throws {TypeError} when it is none. */
export function historyFromJson(json: string): History {
  const { protoJson, historyType } = temporalProtobuf();
  const parsed = JSON.parse(json) as { readonly events?: unknown } | null;
  if (!Array.isArray(parsed?.events)) throw new TypeError('Not the JSON of a history: it has no list of events.');
  return protoJson.fromJson(historyType, parsed, { ignoreUnknownFields: true });
}

/**
 * Temporal's own `historyToJSON` and `historyFromJSON` throw `type must be a Type` wherever @temporalio/common and
 * @temporalio/proto have a protobufjs each, as npm leaves them by default. This one is the one the types are made with.
 */
function temporalProtobuf(): { readonly protoJson: ProtoJson; readonly historyType: HistoryType } {
  const requireOfCommon = createRequire(require.resolve('@temporalio/common'));
  const requireOfProto = createRequire(requireOfCommon.resolve('@temporalio/proto'));
  const root = requireOfCommon('@temporalio/proto') as { lookupType(name: string): HistoryType };
  return {
    protoJson: requireOfProto('protobufjs/ext/protojson') as ProtoJson,
    historyType: root.lookupType('temporal.api.history.v1.History'),
  };
}
