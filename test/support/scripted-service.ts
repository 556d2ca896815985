import type { Json } from 'abeyance';
import { startOpenAiServer, type OpenAiAnswer, type OpenAiServer } from 'abeyance/testing';

/** A service on a real socket that answers by how a conversation begins; a script's last answer serves ever after. */
export function startScriptedService(
  scripts: Readonly<Record<string, readonly OpenAiAnswer[]>>,
): Promise<OpenAiServer> {
  const asked = new Map<string, number>();
  return startOpenAiServer(({ body }) => {
    const begin = beginOf(body);
    const n = asked.get(begin) ?? 0;
    asked.set(begin, n + 1);
    const script = scripts[begin] ?? [];
    return script[n] ?? script.at(-1);
  });
}

function beginOf(body: Json): string {
  const { messages } = body as { readonly messages: readonly { readonly role: string; readonly content: string }[] };
  return messages.find(({ role }) => role === 'user')?.content ?? '';
}
