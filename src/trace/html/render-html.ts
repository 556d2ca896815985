import type { Trace } from '../trace';
import { PAGE_SCRIPT, PAGE_SCRIPT_HASH, PAGE_STYLE, PAGE_STYLE_HASH } from './page-assets';
import type { PageData, Variant } from './page-data';

/** One way a scenario was played: with a scripted model, or over the wire. */
export type VariantToRender = { readonly mode: Variant['mode'] } & (
  { readonly trace: Trace } | { readonly traces: readonly Trace[] }
);

/** Scenarios to show on one page, each in its variants. */
export interface ChapterToRender {
  readonly title: string;
  readonly scenarios: readonly { readonly name: string; readonly variants: readonly VariantToRender[] }[];
}

/**
 * Renders a trace, or a chapter of them, as one HTML file that needs no network and runs nothing of the run's content.
 *
 * The traces are embedded as JSON; the page's own script draws them, and the page forbids any other.
 */
export function renderHtml(input: Trace | ChapterToRender): string {
  const data = pageData(input);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="abeyance">
<title>${escapeText(data.title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<noscript>This page draws a trace with its own script. Turn scripts on to see it; it loads nothing.</noscript>
<div id="app"></div>
<script type="application/json" id="data">${escapeJson(data)}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

const POLICY = [
  "default-src 'none'",
  `script-src '${PAGE_SCRIPT_HASH}'`,
  `style-src '${PAGE_STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function pageData(input: Trace | ChapterToRender): PageData {
  if ('format' in input) {
    const variants: readonly Variant[] = [{ mode: 'live', traces: [input] }];
    return { title: input.thread.id, chapter: false, scenarios: [{ name: input.thread.id, variants }] };
  }
  const scenarios = input.scenarios.map(({ name, variants }) => ({
    name,
    variants: variants.map((one) => ({ mode: one.mode, traces: 'traces' in one ? one.traces : [one.trace] })),
  }));
  return { title: input.title, chapter: true, scenarios };
}

/** JSON that no HTML parser and no JavaScript parser can take for anything else. */
function escapeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
    .replace(/[<>&]/g, (one) => `&#${one.charCodeAt(0)};`);
}
