import type { Client } from '@temporalio/client';
import type { ModelRecord, NodeResult, ToolRecord } from 'abeyance/activity';

/** Everything a history holds as one text, payloads decoded: where to look for what must not be there. */
export async function historyText(client: Client, threadId: string): Promise<string> {
  return textOf(await client.workflow.getHandle(threadId).fetchHistory());
}

/** Any message of Temporal's as text, payloads decoded. */
export function textOf(message: unknown): string {
  const text = JSON.stringify(message, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
  );
  // What is JSON within JSON has its quotes escaped; undone, a search finds what was written.
  return text.replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}

/** The records that the activities of a thread's newest run left. */
export async function recordsOf(client: Client, threadId: string): Promise<(ModelRecord | ToolRecord)[]> {
  const { events } = await client.workflow.getHandle(threadId).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: completed }) => {
    const data = completed?.result?.payloads?.[0]?.data;
    const record = data && (JSON.parse(Buffer.from(data).toString()) as NodeResult).record;
    return record ? [record] : [];
  });
}

/** The details of the last failed activity of a thread's newest run. */
export async function failureDetailsOf(client: Client, threadId: string): Promise<any[]> {
  const { events } = await client.workflow.getHandle(threadId).fetchHistory();
  const failed = (events ?? []).flatMap((event) => event.activityTaskFailedEventAttributes ?? []).at(-1);
  const payloads = failed?.failure?.applicationFailureInfo?.details?.payloads ?? [];
  return payloads.map(({ data }) => JSON.parse(Buffer.from(data as Uint8Array).toString()));
}
