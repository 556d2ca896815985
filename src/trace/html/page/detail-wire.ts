import type { WireExchange } from '../../wire-exchange';
import { copyButton, h } from './dom';
import { facts, ms, section } from './detail-parts';
import { jsonTree } from './json-tree';
import { bdi, longText } from './text';

type Omitted = WireExchange['request']['bodyOmitted'];

/** One attempt over the wire, as it was sent and received. */
export function exchangeSection(exchange: WireExchange, of: number): HTMLElement {
  const { request, response, error } = exchange;
  const title = of > 1 ? `Wire, attempt ${exchange.attempt}` : 'Wire';
  return section(
    title,
    error && h('p', { class: 'failure-head' }, '✕ ', bdi(`${error.code}: ${error.message}`)),
    h('h4', {}, 'Request'),
    facts(
      ['Attempt', exchange.attempt],
      ['Method', request.method],
      ['URL', bdi(request.url, 'mono')],
      [`Defaulted (${request.defaulted.length})`, request.defaulted.join(', ')],
    ),
    headersTable(request.headers, request.headersFrom === 'asked' ? 'as asked for' : undefined),
    bodyBlock(
      'request body',
      request.body,
      request.bodyOmitted,
      copyButton('as cURL', () => curlOf(exchange), 'Copy as cURL'),
    ),
    h('h4', {}, 'Response'),
    ...responseParts(response),
    facts(
      ['Provider', ms(exchange.ms.provider)],
      ['Library', ms(exchange.ms.library)],
      ['Finish reason', exchange.finishReason],
    ),
  );
}

function responseParts(response: WireExchange['response']): readonly Node[] {
  if (!response) return [h('p', { class: 'dim' }, 'None came.')];
  const cut = response.cut
    ? h('p', { class: 'failure-head' }, '✕ The connection ended before the body did.')
    : undefined;
  return [
    facts(['Status', response.status]),
    headersTable(response.headers),
    ...(cut ? [cut] : []),
    bodyBlock('response body', response.body, response.bodyOmitted),
  ];
}

function headersTable(headers: Readonly<Record<string, string>>, from?: string): HTMLElement {
  const all = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  const summary = h('summary', {}, `Headers (${all.length})${from ? `, ${from}` : ''}`);
  const rows = all.map(([name, value]) => {
    const secret = value === 'not recorded' ? 'dim italic' : '';
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, bdi(name)),
      h('td', {}, value.length > 400 ? longText(value) : bdi(value, secret)),
    );
  });
  return h('details', { class: 'fold headers' }, summary, h('table', {}, h('tbody', {}, ...rows)));
}

const WHY_OMITTED: Readonly<Record<string, string>> = {
  record: 'Left out: the model is set to record less.',
  size: 'Left out: the exchanges of this call were too large together.',
  mask: 'Left out: the mask hook failed.',
};

function bodyBlock(what: string, body: unknown, omitted: Omitted, ...tools: readonly Node[]): HTMLElement {
  if (body === undefined) return h('p', { class: 'dim' }, omitted ? (WHY_OMITTED[omitted] ?? 'Left out.') : 'No body.');
  const text = () => (typeof body === 'string' ? body : JSON.stringify(body, undefined, 2));
  return h(
    'div',
    { class: 'block' },
    h('div', { class: 'tools' }, copyButton(`the ${what}`, text), ...tools),
    typeof body === 'string' ? longText(body, 'mono') : jsonTree(body, 8),
  );
}

/** Set by curl itself, or true only of the bytes that were sent. */
const LEFT_TO_CURL = new Set(['content-length', 'connection', 'host', 'accept-encoding', 'transfer-encoding']);

/** A command line that sends the request again; secrets were never recorded, and are not in it. */
export function curlOf({ request }: WireExchange): string {
  const headers = Object.entries(request.headers)
    .filter(([name]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !LEFT_TO_CURL.has(name.toLowerCase()))
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const { body } = request;
  const data =
    body === undefined ? [] : [`--data-raw ${quoted(typeof body === 'string' ? body : JSON.stringify(body))}`];
  return [`curl -X ${quoted(request.method)} --url ${quoted(request.url)}`, ...headers, ...data].join(' \\\n  ');
}

/** For a POSIX shell. Controls are written out: pasted raw, they would be the terminal’s to obey. */
function quoted(text: string): string {
  if (!/[\u0000-\u001f\u007f-\u009f]/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replace(/['\\\u0000-\u001f\u007f-\u009f]/g, (one) => {
    if (one === "'" || one === '\\') return `\\${one}`;
    return `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
  return `$'${escaped}'`;
}
