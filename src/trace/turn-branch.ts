import type { Json } from '../graph/json';
import {
  attemptBranches,
  jsonBranch,
  jsonText,
  messageBranch,
  statusPieces,
  textLines,
  tokensInShort,
  tokensText,
} from './branch-parts';
import type { Turn } from './item';
import type { Branch } from './text-tree';
import { counted, durationText } from './visible-text';
import type { WireExchange } from './wire-exchange';

/** A model call as a branch: what was sent, declared and replied, and what went over the wire. */
export function turnBranch(turn: Turn): Branch {
  const { number, node, model, span, tokens, askedFor, respondedWith, attempts } = turn;
  const what = [model.name, model.provider && `(${[model.provider, model.model].filter(unique).join(' ')})`];
  return {
    line: [
      [`turn ${number} `, 'strong'],
      [`${node} · ${what.filter(Boolean).join(' ')}`],
      ...statusPieces({ status: turn.status, span }),
      [turn.providerMs === undefined ? '' : ` (provider ${durationText(turn.providerMs)})`, 'dim'],
      [tokens ? ` · ${tokensInShort(tokens)}` : ''],
      [attempts.length > 1 ? ` · ${attempts.length} attempts` : '', 'waits'],
      [askedFor.length > 0 ? ` · asked for ${askedFor.join(', ')}` : ''],
      [respondedWith ? ' · responded: ' : ''],
      [respondedWith ?? ''],
    ],
    below: () => turnBelow(turn),
  };
}

const unique = (value: string | undefined, index: number, all: readonly (string | undefined)[]): boolean =>
  value !== undefined && all.indexOf(value) === index;

function turnBelow({
  context,
  tools,
  scripted,
  exchanges,
  attempts,
  reply,
  record,
  finishReason,
  tokens,
}: Turn): readonly Branch[] {
  const ignored = scripted?.ignored;
  return [
    { line: [['context sent ', 'name'], [counted(context.length, 'message')]] },
    ...context.map(messageBranch),
    ...tools.map(({ name, description, schema }): Branch => ({
      line: [['declared ', 'name'], [`${name} `], [`${description} `, 'dim'], [jsonText(schema), 'dim']],
      below: () => textLines(JSON.stringify(schema, null, 2)),
    })),
    ...(scripted ? [scriptedBranch('told the script of ', scripted.tools.names, scripted.tools.consulted)] : []),
    ...(ignored && ignored.messages > 0
      ? [
          {
            line: [
              ['script ignored ', 'name'],
              [`${counted(ignored.messages, 'message')} (${ignored.roles.join(', ')})`],
            ],
          } as const,
        ]
      : []),
    ...attemptBranches(attempts),
    ...exchanges.map(exchangeBranch),
    ...(reply ? [replyBranch(reply, finishReason)] : []),
    ...(tokens ? [{ line: [['tokens ', 'name'], [tokensText(tokens)]] } as const] : []),
    ...(record === undefined ? [] : [jsonBranch('record', record)]),
  ];
}

function scriptedBranch(label: string, names: readonly string[], consulted: boolean): Branch {
  return {
    line: [[label, 'name'], [names.join(', ') || 'no tools'], [consulted ? ' · consulted' : ' · not consulted', 'dim']],
  };
}

function replyBranch({ content, toolCalls }: NonNullable<Turn['reply']>, finishReason: string | undefined): Branch {
  const branch = messageBranch({ role: 'reply', content, tool_calls: toolCalls });
  return finishReason === undefined ? branch : { ...branch, line: [...branch.line, [` · ${finishReason}`, 'dim']] };
}

function exchangeBranch({ attempt, request, response, ms }: WireExchange): Branch {
  const took = `${durationText(ms.provider)} provider · ${durationText(ms.library)} library`;
  return {
    line: [
      [`wire ${attempt} `, 'name'],
      [`${request.method} ${request.url} → `],
      [response ? String(response.status) : 'no response', response && response.status < 400 ? 'good' : 'bad'],
      [` · ${took}`, 'dim'],
    ],
    below: () => [
      { line: [['left to the provider ', 'name'], [request.defaulted.join(', ') || 'nothing']] },
      sideBranch('request', request.headers, request.body, request.bodyOmitted),
      ...(response ? [sideBranch('response', response.headers, response.body, response.bodyOmitted)] : []),
    ],
  };
}

function sideBranch(
  name: string,
  headers: Readonly<Record<string, string>>,
  body: Json | undefined,
  omitted: string | undefined,
): Branch {
  const all = Object.entries(headers);
  return {
    line: [
      [`${name} `, 'name'],
      [`${counted(all.length, 'header')} `, 'dim'],
      [body === undefined ? none(omitted) : jsonText(body)],
    ],
    below: () => [
      ...all.map(([key, value]): Branch => ({ line: [[`${key}: `, 'name'], [value]] })),
      ...(body === undefined ? [] : textLines(typeof body === 'string' ? body : JSON.stringify(body, null, 2))),
    ],
  };
}

function none(omitted: string | undefined): string {
  return omitted === undefined ? 'no body' : `body not recorded (${omitted})`;
}
